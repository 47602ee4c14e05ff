"""Judgements of several files and run folders, with what asking for them took."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairjudge.calibration.grouping import GroupKey, by_group, keyed
from fairjudge.calibration.protocol_table import Asked
from fairjudge.datasets import Loaded, read_judgements
from fairjudge.datasets.recognising import recognise
from fairjudge.domain import Judgement
from fairjudge.errors import InputError
from fairjudge.records.folder import kept_rows
from fairjudge.scores.leaderboards import is_derived
from fairjudge.scores.ratings import n_summaries_scored

_MANIFEST = "manifest.json"
_UNITS = {"article": "article", "qa_pair": "answer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedInputs:
    """All rows, each once, and what each way of judging took, as far as that is known."""

    rows: tuple[Judgement, ...]
    asked: Mapping[GroupKey, Asked]
    bad: tuple[str, ...] = ()


def read_judged(paths: Sequence[Path], *, skip_bad: bool = False) -> JudgedInputs:
    """Read files of judgements, run folders, and what ``judge --json`` wrote.

    The latter two say what was spent. Raises InputError for anything else, and where there is no
    judgement.
    """
    rows: list[Judgement] = []
    identities: set[str] = set()
    runs: dict[GroupKey, Asked] = {}
    reports: list[Mapping[str, Any]] = []
    bad: list[str] = []
    for path in paths:
        if path.is_dir():
            judgements = _of_run(path)
            groups = by_group(judgements)
            if len(groups) == 1:
                runs |= dict.fromkeys(groups, spent_by(kept_rows(path / "spent.jsonl")))
        elif len(paths) > 1 and (report := _report(path)) is not None:
            reports.append(report)
            continue
        else:
            loaded: Loaded[Judgement] = read_judgements(path, skip_bad=skip_bad)
            bad += [f"{loaded.path}:{line.line}: {line.problem}" for line in loaded.bad]
            judgements = list(loaded)
        if len(paths) == 1:
            rows += judgements
            continue
        # A run and its output hold the same rows; of one file each row counts.
        new = [(name, row) for row in judgements if (name := _identity(row)) not in identities]
        identities.update(name for name, _ in new)
        rows += (row for _, row in new)
    requests = with_spent(requests_of(rows), {**_spending_by_group(reports, rows), **runs})
    return JudgedInputs(rows=tuple(rows), asked=requests, bad=tuple(bad))


def requests_of(rows: Iterable[Judgement]) -> dict[GroupKey, Asked]:
    """Count the judgements by a model; their cost is 0 if there are none, else unknown."""
    counts: Counter[GroupKey] = Counter()
    groups: dict[GroupKey, list[Judgement]] = {}
    for key, row in keyed(rows):
        groups.setdefault(key, []).append(row)
        filled = "fallback_for" in (row.model_extra or {})
        local = row.scored_by in {"entailment", "embedding", "code"} and not filled
        counts[key] += not (local or is_derived(row))
    return {
        key: Asked(
            n_requests=n, cost_usd=None if n else 0.0, n_items=n_summaries_scored(groups[key])
        )
        for key, n in counts.items()
    }


def with_spent(
    counted: Mapping[GroupKey, Asked], spent: Mapping[GroupKey, Asked]
) -> dict[GroupKey, Asked]:
    """Replace the `counted` requests by those that runs recorded for the same items."""
    requests_of_runs = {
        key: replace(requests, n_items=counted[key].n_items) for key, requests in spent.items()
    }
    return {**counted, **requests_of_runs}


def _spending_by_group(
    reports: Iterable[Mapping[str, Any]], rows: Sequence[Judgement]
) -> dict[GroupKey, Asked]:
    """Give each report's spending to the one group that it can be of, a jury's to each judge's."""
    groups = list(by_group(rows))
    requests_by_group: dict[GroupKey, Asked] = {}
    for report in reports:
        unit = "sentence" if report["text_unit"] == "sentence" else "summary"
        group = (report["aspect"], report["protocol"], _UNITS.get(report["reference_unit"], unit))
        signature = str(report.get("signature", ""))
        own = [key for key in groups if key[1:] == group]
        costs = report.get("costs") or [report["spent"]]
        if len(costs) > 1:
            requests_by_group |= of_jury(own, costs)
            continue
        own = [key for key in own if len(own) == 1 or f"judge:{key.judge}|" in signature]
        if len(own) == 1 and report.get("spent"):
            requests_by_group[own[0]] = spent_by(costs)
    return requests_by_group


def of_jury(
    groups: Iterable[GroupKey], costs: Sequence[Mapping[str, Any]]
) -> dict[GroupKey, Asked]:
    """Return the requests of each member of a jury, and their sum for the jury."""
    jury = f"({','.join(cost['judge'] for cost in costs)})"
    by_judge = {
        key: [cost for cost in costs if key.judge == cost["judge"] or key.judge.endswith(jury)]
        for key in groups
    }
    return {key: spent_by(own) for key, own in by_judge.items() if own}


def spent_by(rows: Iterable[Mapping[str, Any]]) -> Asked:
    """Add up what starts spent; replies from a cache were asked for, at a price not known here."""
    every = list(rows)
    n_cached = sum(int(row["n_cached"]) for row in every)
    costs = [row["cost_usd"] for row in every]
    is_priced = not n_cached and all(cost is not None for cost in costs)
    n_calls = sum(int(row["n_calls"]) for row in every)
    return Asked(n_requests=n_calls + n_cached, cost_usd=sum(costs) if is_priced else None)


def _of_run(folder: Path) -> list[Judgement]:
    path = folder / "judgements.jsonl"
    if not (folder / _MANIFEST).is_file() or not path.is_file():
        raise InputError("expected judgements, or the folder of a run of judge", path=folder)
    last = {str(row.get("task")): row.get("judgement") for row in kept_rows(path)}
    return [Judgement.model_validate(row) for row in last.values()]


def _report(path: Path) -> Mapping[str, Any] | None:
    """Return what ``judge --json`` wrote; None where the file holds records."""
    if path.suffix != ".json":
        return None
    try:
        content = recognise(path)
    except InputError:
        return None  # the reader of judgements says what is wrong with it
    if content.report is None:
        return None
    if content.kind != "judge":
        raise InputError(f"expected judgements, found what {content.kind} wrote", path=path)
    return content.report


def _identity(row: Judgement) -> str:
    return json.dumps(row.to_json(), sort_keys=True, default=str)
