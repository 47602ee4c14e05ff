"""Recognize the kind of a file by its first record or its keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fairjudge.datasets._json import JsonError, parse
from fairjudge.datasets._rows import read_rows
from fairjudge.datasets._source import kind_of, read_bytes
from fairjudge.errors import InputError
from fairjudge.records.schema import without_schema

RecordKind: TypeAlias = Literal["judgements", "references", "clusters", "summaries", "labels"]
_KNOWN = (
    "judgements, references, clusters, summaries, labels, a run's folder, or the --json of judge, "
    "build, summarize, study, calibrate, audit, rank, compare, check, cascade, align, fairness or "
    "bias"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedFile:
    """A file's kind: that of its records, or the command whose ``--json`` it is, with its content.

    ``kind`` is a `RecordKind`, or a key of ``_REPORTS`` such as ``"audit position"``.
    """

    kind: str
    report: Mapping[str, Any] | None = None


def recognise(path: Path) -> RecognisedFile:
    """Return the kind of `path`; raise `InputError` if it is unreadable or unknown."""
    whole = _whole_object(path)
    if whole is not None:
        if record_kind(whole) is None:
            whole = without_schema(whole, path)
        if (command := report_kind(whole)) is not None:
            return RecognisedFile(kind=command, report=whole)
    first = whole if whole is not None else _first_row(path)
    kind = record_kind(first)
    if kind is None:
        raise InputError(f"not known what this file is; expected {_KNOWN}", path=path)
    return RecognisedFile(kind=kind)


def record_kind(row: Mapping[str, Any]) -> RecordKind | None:
    """Return the kind of a record by its keys, None where it has none that tell."""
    keys = row.keys()
    if "question_answers" in keys:
        return "references"
    if "articles" in keys:
        return "clusters"
    if "annotator" in keys:
        return "labels"
    if "protocol" in keys and {"eid", "judge", "aspect"} <= keys:
        return "judgements"
    return "summaries" if {"eid", "system", "text"} <= keys else None


def report_kind(report: Mapping[str, Any]) -> str | None:
    """Return which command wrote `report`, None where none is known to write such a thing."""
    return next((kind for kind, holds in _REPORTS.items() if holds(report)), None)


def parts_of_judge(report: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return what ``judge --json`` wrote of each aspect: of one, or of several judged together."""
    together = report.get("together")
    return together if isinstance(together, list) and together else (report,)


def _whole_object(path: Path) -> Mapping[str, Any] | None:
    """Return the one object that the file holds, None where it holds a list, lines or a table."""
    data = read_bytes(path)
    if kind_of(path) == ".csv" or not data.lstrip().startswith(b"{"):
        return None
    try:
        value = parse(data.decode("utf-8"))
    except (JsonError, UnicodeDecodeError):
        return None
    return value if isinstance(value, dict) else None


def _first_row(path: Path) -> Mapping[str, Any]:
    """Return the first good row; where there is none, an empty one."""
    rows = read_rows(path, csv_allowed=True)
    return next((row.value for row in rows if isinstance(row.value, dict)), {})


def _group(report: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys of the groups; one without results has few."""
    groups = report.get("groups")
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        return frozenset()
    return frozenset(name for group in groups for name in group)


def _system(report: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys of the first system."""
    systems = report.get("systems")
    first = next(iter(systems.values()), None) if isinstance(systems, dict) else None
    return frozenset(first) if isinstance(first, dict) else frozenset()


def _measured(report: Mapping[str, Any], measure: str) -> bool:
    """Whether a fairness command wrote it; its measures differ from version to version."""
    return report.get("measure") == measure and {"attribute", "systems"} <= report.keys()


_JUDGED = frozenset({"aspect", "protocol", "n_judgements", "systems"})
_REPORTS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "calibrate": lambda report: {"groups", "comparisons", "settings"} <= report.keys(),
    "audit position": lambda report: {"first", "second", "consistency"} <= _group(report),
    "audit verbosity": lambda report: {"probe", "original", "extended"} <= _group(report),
    "audit parse": lambda report: {"unscored", "scored_by", "n_judgements"} <= _group(report),
    "audit covered": lambda report: {"slices", "uncovered"} <= _group(report),
    "audit statements": lambda report: {"n_statements", "errors"} <= _group(report),
    "audit citations": lambda report: {"borne_out", "swapped"} <= _group(report),
    "audit length": lambda report: "win_rates" in _group(report),
    "audit order": lambda report: {"by_place", "first_minus_last"} <= report.keys(),
    "audit checks": lambda report: {"checks", "judge"} <= report.keys(),
    "audit stability": lambda report: {"flips", "unanimous"} <= _group(report),
    "check": lambda report: {"outcome", "margin", "groups"} <= report.keys(),
    "compare": lambda report: {"first", "second", "shift"} <= _group(report),
    "rank": lambda report: {"judge", "systems", "why"} <= _group(report),
    "cascade": lambda report: {"saved", "error_added"} <= report.keys(),
    "cascade --guarantee": lambda report: {"agreement_promised", "threshold"} <= report.keys(),
    "align": lambda report: {"candidates", "opened", "kept"} <= report.keys(),
    "fairness chunk-size": lambda report: {"identified", "best"} <= report.keys(),
    "fairness oracle": lambda report: {"measures", "documents", "notes"} <= report.keys(),
    "fairness compare": lambda report: {"baseline", "systems", "signatures"} <= report.keys(),
    "fairness coverage": lambda report: _measured(report, "coverage"),
    "fairness proportional": lambda report: _measured(report, "proportional"),
    "fairness overall": lambda report: {"measure", "systems"} <= report.keys(),
    "fairness agreement": lambda report: any(
        isinstance(part, Mapping) and "n_unmatched" in part for part in report.values()
    ),
    "fairness people": lambda report: {"leanings", "groups"} <= _system(report),
    "fairness temperature": lambda report: {"temperatures", "best"} <= report.keys(),
    "bias quality": lambda report: "quality" in _group(report),
    "bias words": lambda report: {"inclusion", "against_source"} <= _system(report),
    "bias entities": lambda report: {"inclusion", "hallucination"} <= _system(report),
    "bias distinguishability": lambda report: {"counts", "dense"} <= _system(report),
    "bias inputs": lambda report: {"words", "identifiers"} <= report.keys(),
    "judge": lambda report: all(
        isinstance(part, Mapping) and part.keys() >= _JUDGED for part in parts_of_judge(report)
    ),
    "study": lambda report: "cost_by_step" in report,
    "build": lambda report: {"clusters", "signature", "spent"} <= report.keys(),
    "summarize": lambda report: {"n_summaries", "failed", "spent"} <= report.keys(),
}
"""The commands whose ``--json`` is known, each with what tells its JSON; tried in this order."""
