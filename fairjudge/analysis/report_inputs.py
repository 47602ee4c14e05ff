"""Read the inputs of a report: run folders, records, and the JSON of other commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from fairjudge.analysis.judged_inputs import (
    checked_rows,
    files_of_run,
    identity_of_run,
    recorded_judgements,
)
from fairjudge.calibration.grouping import GroupKey, group_judgements
from fairjudge.datasets import (
    Loaded,
    read_clusters,
    read_judgements,
    read_labels,
    read_references,
    read_summaries,
)
from fairjudge.datasets.recognising import RecognisedFile, recognise
from fairjudge.domain import Cluster, Judgement, Label, Reference, Summary
from fairjudge.errors import InputError
from fairjudge.records.folder import run_rows
from fairjudge.records.spending import FILE, read_spending
from fairjudge.reports.content import Cost, Panel, Run, Source
from fairjudge.text.counting import pluralize

_MANIFEST = "manifest.json"
_READABLE = (".json", ".jsonl", ".csv", ".json.gz", ".jsonl.gz", ".csv.gz")


@dataclass(slots=True, kw_only=True)
class Inputs:
    """All inputs, joined by id; the first record with an id is used."""

    skip_bad: bool = False
    annotators: Sequence[str] = ("*",)
    label_scale: tuple[float, float] | None = None
    judgements: list[Judgement] = field(default_factory=list)
    addresses: Sequence[str] = ()
    """`fairjudge.analysis.browsing.addresses` of the judgements, before judges are renamed."""
    clusters: dict[str, Cluster] = field(default_factory=dict)
    summaries: dict[tuple[str, str], Summary] = field(default_factory=dict)
    labels: list[Label] = field(default_factory=list)
    label_files: list[Loaded[Label]] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    judging_runs: list[tuple[Path, list[GroupKey]]] = field(default_factory=list)
    """Folders of runs of judge, each with its groups."""
    _judged: set[tuple[object, ...]] = field(default_factory=set)

    def add(self, path: Path, *expected: str) -> None:
        """Read a folder or a file, whose kind must be one of `expected`, if given.

        Raises InputError if it cannot be read, or its kind is unknown or not expected.
        """
        if path.is_dir() and not expected:
            self._add_folder(path)
            return
        file = recognise(path)
        if expected and file.kind not in expected:
            raise InputError(f"expected {' or '.join(expected)}, found {file.kind}", path=path)
        self._add_file(path, file)

    def _add_folder(self, folder: Path) -> None:
        if (folder / _MANIFEST).is_file():
            self._add_run(folder)
            return
        run_folders = sorted(path.parent for path in folder.glob(f"*/{_MANIFEST}"))
        files = sorted(path for path in folder.iterdir() if path.name.endswith(_READABLE))
        files = [path for path in files if path.name != FILE]
        recognised_files = []
        for path in files:
            try:
                recognised_files.append((path, recognise(path)))
            except InputError as error:
                self.sources.append(
                    Source(
                        name=path.name, kind="not read", note=error.problem, modified=_date(path)
                    )
                )
        if not recognised_files and not run_folders:
            raise InputError("the folder has neither a run nor a file of a known kind", path=folder)
        for run in run_folders:
            self._add_run(run)
        # References before clusters, since they contain more.
        for path, content in sorted(
            recognised_files, key=lambda entry: entry[1].kind != "references"
        ):
            self._add_file(path, content)

    def _add_file(self, path: Path, content: RecognisedFile) -> None:
        if content.report is not None:
            self.panels.append(Panel(kind=content.kind, source=path.name, report=content.report))
            self._note_cost(path.name, content.report.get("spent"))
            by_step = content.report.get("cost_by_step")
            for step, cost in by_step.items() if isinstance(by_step, Mapping) else ():
                self._note_cost(f"step {step}", cost)
            name = f"fairjudge {content.kind} --json"
            self.sources.append(Source(name=path.name, kind=name, modified=_date(path)))
            return
        reader, take = self._readers()[content.kind]
        loaded = reader(path, skip_bad=self.skip_bad)
        note = take(loaded)
        notes = [note] if note else []
        notes += [f"{pluralize(len(loaded.bad), 'bad line')} skipped"] if loaded.bad else []
        self.sources.append(
            Source(
                name=path.name,
                kind=content.kind,
                n=len(loaded),
                note="; ".join(notes),
                modified=_date(path),
            )
        )

    def _readers(self) -> dict[str, tuple[Callable[..., Loaded[Any]], Callable[[Any], str]]]:
        return {
            "judgements": (read_judgements, self.take_judgements),
            "references": (read_references, self.take_clusters),
            "clusters": (read_clusters, self.take_clusters),
            "summaries": (read_summaries, self.take_summaries),
            "labels": (read_labels, self.take_labels),
        }

    def take_judgements(self, rows: Iterable[Judgement]) -> str:
        """Add the judgements that are not in an earlier file, such as in a run and its output."""
        rows = list(rows)
        new_rows = [row for row in rows if _identity(row) not in self._judged]
        self._judged.update(map(_identity, new_rows))
        self.judgements += new_rows
        return _repeated(len(rows) - len(new_rows))

    def take_clusters(self, rows: Iterable[Cluster]) -> str:
        """Add clusters; a reference replaces the plain cluster with its id."""
        n_repeated = 0
        for row in rows:
            cluster = self.clusters.get(row.eid)
            if cluster is None or (
                isinstance(row, Reference) and not isinstance(cluster, Reference)
            ):
                self.clusters[row.eid] = row
            else:
                n_repeated += 1
        return _repeated(n_repeated)

    def take_summaries(self, rows: Iterable[Summary]) -> str:
        """Add the summaries that are not in an earlier file."""
        rows = list(rows)
        new_summaries = {
            (row.eid, row.system): row
            for row in rows
            if (row.eid, row.system) not in self.summaries
        }
        self.summaries |= new_summaries
        return _repeated(len(rows) - len(new_summaries))

    def take_labels(self, rows: Loaded[Label]) -> str:
        """Add the labels of the chosen annotators."""
        self.label_files.append(rows)
        selected_labels = [
            row
            for row in rows
            if any(fnmatchcase(row.annotator, pattern) for pattern in self.annotators)
        ]
        self.labels += selected_labels
        n_excluded = len(rows) - len(selected_labels)
        return f"{n_excluded} of other annotators excluded" if n_excluded else ""

    def _note_cost(self, name: str, spent: object, *, when: str = "") -> None:
        if not isinstance(spent, Mapping):
            return
        n_calls, n_cached = spent.get("n_calls"), spent.get("n_cached")
        cost = spent.get("cost_usd")
        if not (
            isinstance(n_calls, int)
            and isinstance(n_cached, int)
            and isinstance(cost, int | float | None)
        ):
            raise InputError("expected numbers of calls and their cost", path=name, field="spent")
        self.costs.append(
            Cost(
                source=name,
                n_calls=n_calls,
                n_cached=n_cached,
                cost_usd=cost,
                when=when,
                tokens=spent.get("tokens") or {},
            )
        )

    def _add_run(self, folder: Path) -> None:
        identity = identity_of_run(folder)
        command = str(identity.get("command", "run"))
        note, n, rows = "", 0, folder / "judgements.jsonl"
        if files := files_of_run(folder):
            rows = files[-1]
            records = [record for path in files for record in recorded_judgements(path)]
            note, n = self.take_judgements(records), len(records)
            self.judging_runs.append((folder, list(group_judgements(records))))
        elif (rows := folder / "summaries.jsonl").is_file():
            summaries = checked_rows(run_rows(rows), Summary, rows)
            note, n = self.take_summaries(summaries), len(summaries)
        elif (rows := folder / "references.jsonl").is_file():
            references = checked_rows(map(_reference, run_rows(rows)), Reference, rows)
            # A file that contains the articles has priority over a run with only their ids.
            note, n = (
                self.take_clusters(r for r in references if r.eid not in self.clusters),
                len(references),
            )
        else:
            note = "nothing recorded yet"
        self.sources.append(
            Source(name=folder.name, kind=f"run of {command}", n=n, note=note, modified=_date(rows))
        )
        self.runs.append(
            Run(
                name=folder.name,
                command=command,
                arguments=dict(_flat(identity)),
                began=_date(folder / _MANIFEST),
                ended=_date(rows),
            )
        )
        for row in run_rows(folder / "spent.jsonl"):
            self._note_cost(folder.name, row, when=str(row.get("when", "")))
        unrecorded_cost = read_spending(folder / FILE)
        if unrecorded_cost is not None:  # a killed run, whose cost is not in spent.jsonl
            cost = unrecorded_cost.known_cost_usd
            spending = {"n_calls": unrecorded_cost.n_calls, "n_cached": 0, "cost_usd": cost}
            self._note_cost(folder.name, spending, when=_date(folder / FILE))


def _identity(row: Judgement) -> tuple[object, ...]:
    systems = (row.system, row.system_a, row.system_b, row.order)
    item = (row.eid, *systems, row.aspect, row.protocol, row.unit)
    return (*item, row.judge, row.signature, row.value, row.unscored, row.raw)


def _repeated(n: int) -> str:
    return f"{n} also in an earlier file (counted once)" if n else ""


def _reference(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference built by a run, which only records the articles' ids."""
    questions = row.get("question_answers") or []
    answer_aids = (
        answer["aid"]
        for question in questions
        for group in question["answer_groups"]
        for answer in group
    )
    aids = dict.fromkeys([*row.get("kept_aids", []), *answer_aids]) or {"": None}
    return {
        "eid": row.get("eid"),
        "articles": [{"aid": aid or "unknown", "content": ""} for aid in aids],
        "question_answers": questions,
    }


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the recorded settings of a run, with nested names joined by dots, without None."""
    for name, item in value.items():
        if isinstance(item, Mapping):
            yield from _flat(item, f"{prefix}{name}.")
        elif item is not None and name != "command":
            yield f"{prefix}{name}", item if isinstance(item, str) else json.dumps(item)


def _date(path: Path) -> str:
    """Return the modification time of `path`, or "" if it does not exist."""
    try:
        seconds = path.stat().st_mtime
    except OSError:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
