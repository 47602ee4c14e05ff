"""Judgements of several files and run folders, with their cost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from fairjudge.calibration.grouping import GroupKey, group_judgements, with_group_keys
from fairjudge.calibration.protocol_table import JudgingCost
from fairjudge.datasets import Loaded, read_judgements
from fairjudge.datasets.recognising import aspect_reports, recognise
from fairjudge.domain import Judgement, Record
from fairjudge.errors import InputError
from fairjudge.files import check_regular
from fairjudge.records.folder import run_rows
from fairjudge.scores.leaderboards import is_derived
from fairjudge.scores.ratings import n_summaries_scored

R = TypeVar("R", bound=Record)
_MANIFEST = "manifest.json"
_SPENT = "spent.jsonl"
_UNITS = {"article": "article", "qa_pair": "answer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedInputs:
    """All distinct judgements, and the known cost of each group of judgements."""

    rows: tuple[Judgement, ...]
    requests: Mapping[GroupKey, JudgingCost]
    bad: tuple[str, ...] = ()


def read_judged(paths: Sequence[Path], *, skip_bad: bool = False) -> JudgedInputs:
    """Read files of judgements, run folders, and the JSON of ``judge``.

    The latter two have the cost. Raises InputError for other files, and if there is no judgement.
    """
    rows: list[Judgement] = []
    identities: set[str] = set()
    runs: list[tuple[Path, list[GroupKey]]] = []
    reports: list[Mapping[str, Any]] = []
    bad: list[str] = []
    for path in paths:
        if path.is_dir():
            judgements = _run_judgements(path)
            runs.append((path, list(group_judgements(judgements))))
        elif (report := _report(path)) is not None:
            reports.append(report)
            continue
        else:
            file: Loaded[Judgement] = read_judgements(path, skip_bad=skip_bad)
            bad += [f"{file.path}:{line.line}: {line.problem}" for line in file.bad]
            judgements = list(file)
        if len(paths) == 1:
            rows += judgements
            continue
        # A run and its output have the same rows; within a single file every row counts.
        new_rows = [(name, row) for row in judgements if (name := _identity(row)) not in identities]
        identities.update(name for name, _ in new_rows)
        rows += (row for _, row in new_rows)
    if reports and not rows:
        raise InputError(
            "has the cost and results of a run, not its judgements: also pass their file",
            path=paths[0],
        )
    requests = requests_by_group(rows, runs=runs, reports=reports)
    return JudgedInputs(rows=tuple(rows), requests=requests, bad=tuple(bad))


def requests_by_group(
    rows: Sequence[Judgement],
    *,
    runs: Iterable[tuple[Path, Collection[GroupKey]]],
    reports: Iterable[Mapping[str, Any]],
) -> dict[GroupKey, JudgingCost]:
    """Count requests, and add the cost in run folders and in `reports` of ``judge --json``.

    `runs` has each folder with its groups.
    """
    requests = requests_of(rows)
    costs = spent_by_reports(reports, rows)
    for folder, groups in runs:
        costs |= spent_by_run(folder, groups, requests)
    return with_spent(requests, costs)


def requests_of(rows: Iterable[Judgement]) -> dict[GroupKey, JudgingCost]:
    """Count the judgements by a model; the cost is 0 if there are none, else unknown."""
    counts: Counter[GroupKey] = Counter()
    groups: dict[GroupKey, list[Judgement]] = {}
    for key, row in with_group_keys(rows):
        groups.setdefault(key, []).append(row)
        is_fallback = "fallback_for" in (row.model_extra or {})
        is_local = row.scored_by in {"entailment", "embedding", "code"} and not is_fallback
        counts[key] += not (is_local or is_derived(row))
    return {
        key: JudgingCost(
            n_requests=n, cost_usd=None if n else 0.0, n_items=n_summaries_scored(groups[key])
        )
        for key, n in counts.items()
    }


def with_spent(
    requests: Mapping[GroupKey, JudgingCost], costs: Mapping[GroupKey, JudgingCost]
) -> dict[GroupKey, JudgingCost]:
    """Replace counted `requests` by the recorded `costs` of the same groups."""
    return {
        key: replace(costs[key], n_items=counted.n_items) if key in costs else counted
        for key, counted in requests.items()
    }


def spent_by_run(
    folder: Path, own: Collection[GroupKey], groups: Iterable[GroupKey]
) -> dict[GroupKey, JudgingCost]:
    """Return the recorded cost of the run in `folder`, by group.

    The folder of a jury contains one folder per member. The sum of their costs is the cost of the
    jury's group, which is in `groups` if the run's output was read.
    """
    names = _members(folder)
    if not names:
        spent = judging_cost(run_rows(folder / _SPENT))
        return _without_shared_costs(dict.fromkeys(own, spent))
    judged = {key[1:] for key in own}
    costs = [
        {"judge": name, **row}
        for place, name in enumerate(names, 1)
        for row in run_rows(folder / f"member-{place}" / _SPENT)
    ]
    members = jury_costs((key for key in groups if key[1:] in judged), costs)
    return _without_shared_costs(members) if costs else {}


def _without_shared_costs(spent: Mapping[GroupKey, JudgingCost]) -> dict[GroupKey, JudgingCost]:
    """Remove costs that cannot be attributed to one aspect, as requests judged several."""
    aspects = sorted({key.aspect for key in spent})
    if len(aspects) < 2:
        return dict(spent)
    why = f"the same requests judged {', '.join(aspects[:-1])} and {aspects[-1]}"
    return {key: replace(cost, cost_usd=None, why=why) for key, cost in spent.items()}


def _members(folder: Path) -> list[str]:
    """Return the names of a jury's members from the manifest of its run."""
    members = identity_of_run(folder).get("members", ())
    return [str(name) for name in members] if isinstance(members, list | tuple) else []


def identity_of_run(folder: Path) -> Mapping[str, Any]:
    """Return the command and the arguments of a run from its manifest.

    Raises
    ------
    InputError
        The folder has no readable manifest.
    """
    path = folder / _MANIFEST
    check_regular(path)
    try:
        identity = json.loads(path.read_text("utf-8"))["identity"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        identity = None
    if not isinstance(identity, dict):
        raise InputError("not a run's manifest", path=path)
    return identity


def spent_by_reports(
    reports: Iterable[Mapping[str, Any]], rows: Sequence[Judgement]
) -> dict[GroupKey, JudgingCost]:
    """Return the costs in reports by group of their judges; for a jury, by group of its members."""
    groups = list(group_judgements(rows))
    requests_by_group: dict[GroupKey, JudgingCost] = {}
    for report in reports:
        costs: dict[GroupKey, JudgingCost] = {}
        for part in aspect_reports(report):
            costs |= _spent_on_aspect({**report, **part}, groups)
        requests_by_group |= _without_shared_costs(costs)
    return requests_by_group


def _spent_on_aspect(
    report: Mapping[str, Any], groups: Sequence[GroupKey]
) -> dict[GroupKey, JudgingCost]:
    """Return the cost of the groups of the aspect in `report`."""
    unit = "sentence" if report["text_unit"] == "sentence" else "summary"
    group = (report["aspect"], report["protocol"], _UNITS.get(report["reference_unit"], unit))
    signature = str(report.get("signature", ""))
    aspect_groups = [key for key in groups if key[1:] == group]
    costs = report.get("costs") or [report["spent"]]
    if len(costs) > 1:
        return jury_costs(aspect_groups, costs)
    if len({key.judge for key in aspect_groups}) > 1:
        aspect_groups = [key for key in aspect_groups if f"judge:{key.judge}|" in signature]
    return (
        dict.fromkeys(aspect_groups, judging_cost(costs))
        if aspect_groups and report.get("spent")
        else {}
    )


def jury_costs(
    groups: Iterable[GroupKey], costs: Sequence[Mapping[str, Any]]
) -> dict[GroupKey, JudgingCost]:
    """Return the cost of each member of a jury, and their sum for the jury."""
    jury = f"({','.join(cost['judge'] for cost in costs)})"
    by_judge = {
        key: [cost for cost in costs if key.judge == cost["judge"] or key.judge.endswith(jury)]
        for key in groups
    }
    return {key: judging_cost(judge_costs) for key, judge_costs in by_judge.items() if judge_costs}


def judging_cost(rows: Iterable[Mapping[str, Any]]) -> JudgingCost:
    """Add up the costs of runs; the price of cached replies is unknown."""
    all_rows = list(rows)
    n_cached = sum(int(row["n_cached"]) for row in all_rows)
    costs = [row["cost_usd"] for row in all_rows]
    is_priced = not n_cached and all(cost is not None for cost in costs)
    n_calls = sum(int(row["n_calls"]) for row in all_rows)
    return JudgingCost(
        n_requests=n_calls + n_cached,
        cost_usd=sum(costs) if is_priced else None,
        why=""
        if is_priced
        else "replies came from the cache, whose price is not recorded"
        if n_cached
        else "the model has no known price (judge --price-input, --price-output or --prices)",
    )


def _run_judgements(folder: Path) -> list[Judgement]:
    files = files_of_run(folder)
    if not (folder / _MANIFEST).is_file() or not files:
        raise InputError("expected judgements, or the folder of a run of judge", path=folder)
    return [row for path in files for row in recorded_judgements(path)]


def recorded_judgements(path: Path) -> list[Judgement]:
    """Return the last judgement of each task in a file of a run."""
    last = {str(row.get("task")): row.get("judgement") for row in run_rows(path)}
    return checked_rows(last.values(), Judgement, path)


def checked_rows(rows: Iterable[object], model: type[R], path: Path) -> list[R]:
    """Return `rows` of a run's file at `path` as records of `model`.

    Raises
    ------
    InputError
        A row is no such record.
    """
    try:
        return [model.model_validate(row) for row in rows]
    except (ValidationError, AttributeError, KeyError, TypeError):
        raise InputError(
            f"not what a run records of a {model.__name__.lower()}", path=path
        ) from None


def files_of_run(folder: Path) -> list[Path]:
    """Return the files of a run's judgements: one file, or one per member of a jury."""
    path = folder / "judgements.jsonl"
    return [path] if path.is_file() else sorted(folder.glob(f"member-*/{path.name}"))


def _report(path: Path) -> Mapping[str, Any] | None:
    """Return the content if it is the JSON of ``judge``, or None if the file has records."""
    if path.suffix != ".json":
        return None
    try:
        content = recognise(path)
    except InputError:
        return None  # the reader of judgements raises the error
    if content.report is None:
        return None
    if content.kind != "judge":
        raise InputError(f"expected judgements, found the JSON of {content.kind}", path=path)
    return content.report


def _identity(row: Judgement) -> str:
    return json.dumps(row.to_json(), sort_keys=True, default=str)
