"""Recognize the kind of a file by its first record or its keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fairjudge.datasets._json import JsonError, parse
from fairjudge.datasets._rows import read_rows
from fairjudge.datasets._source import file_extension, read_bytes
from fairjudge.errors import InputError
from fairjudge.records.schema import without_schema

RecordKind: TypeAlias = Literal["judgements", "references", "clusters", "summaries", "labels"]
_EXPECTED_KINDS = (
    "judgements, references, clusters, summaries, labels, a run's folder, or the --json of judge, "
    "build, summarize, study, calibrate, audit, rank, compare, check, cascade, align, fairness or "
    "bias"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedFile:
    """A file's content and its kind: that of its records, or the command that wrote the JSON.

    ``kind`` is a `RecordKind`, or a key of ``_REPORTS`` such as ``"audit position"``.
    """

    kind: str
    report: Mapping[str, Any] | None = None


def recognise(path: Path) -> RecognisedFile:
    """Return the kind of `path`; raise `InputError` if it is unreadable or unknown."""
    content = _single_object(path)
    if content is not None:
        if record_kind(content) is None:
            content = without_schema(content, path)
        if (command := report_kind(content)) is not None:
            return RecognisedFile(kind=command, report=content)
    first_record = content if content is not None else _first_row(path)
    kind = record_kind(first_record)
    if kind is None:
        raise InputError(f"unknown kind of file; expected {_EXPECTED_KINDS}", path=path)
    return RecognisedFile(kind=kind)


def record_kind(row: Mapping[str, Any]) -> RecordKind | None:
    """Return the kind of a record by its keys, or None if it is unknown."""
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
    """Return the command that wrote `report`, or None if it is unknown."""
    return next((kind for kind, matches in _REPORTS.items() if matches(report)), None)


def aspect_reports(report: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the parts of the JSON of ``judge``, one per aspect."""
    parts = report.get("together")
    return parts if isinstance(parts, list) and parts else (report,)


def _single_object(path: Path) -> Mapping[str, Any] | None:
    """Return the file's single object, or None if it is a list, lines or a table."""
    data = read_bytes(path)
    if file_extension(path) == ".csv" or not data.lstrip().startswith(b"{"):
        return None
    try:
        value = parse(data.decode("utf-8"))
    except (JsonError, UnicodeDecodeError):
        return None
    return value if isinstance(value, dict) else None


def _first_row(path: Path) -> Mapping[str, Any]:
    """Return the first valid row, or an empty one."""
    rows = read_rows(path, csv_allowed=True)
    return next((row.value for row in rows if isinstance(row.value, dict)), {})


def _group_keys(report: Mapping[str, Any]) -> frozenset[str]:
    """Return the union of the keys of all groups (groups without results have fewer)."""
    groups = report.get("groups")
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        return frozenset()
    return frozenset(name for group in groups for name in group)


def _system_keys(report: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys of the first system."""
    systems = report.get("systems")
    first = next(iter(systems.values()), None) if isinstance(systems, dict) else None
    return frozenset(first) if isinstance(first, dict) else frozenset()


def _is_fairness_report(report: Mapping[str, Any], measure: str) -> bool:
    """Whether a fairness command wrote `report`; its measures depend on the version."""
    return report.get("measure") == measure and {"attribute", "systems"} <= report.keys()


_JUDGE_KEYS = frozenset({"aspect", "protocol", "n_judgements", "systems"})
_REPORTS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "calibrate": lambda report: {"groups", "comparisons", "settings"} <= report.keys(),
    "audit position": lambda report: {"first", "second", "consistency"} <= _group_keys(report),
    "audit verbosity": lambda report: {"probe", "original", "extended"} <= _group_keys(report),
    "audit parse": lambda report: {"unscored", "scored_by", "n_judgements"} <= _group_keys(report),
    "audit covered": lambda report: {"slices", "uncovered"} <= _group_keys(report),
    "audit statements": lambda report: {"n_statements", "errors"} <= _group_keys(report),
    "audit citations": lambda report: {"borne_out", "swapped"} <= _group_keys(report),
    "audit length": lambda report: "win_rates" in _group_keys(report),
    "audit order": lambda report: {"by_place", "first_minus_last"} <= report.keys(),
    "audit checks": lambda report: {"checks", "judge"} <= report.keys(),
    "audit stability": lambda report: {"flips", "unanimous"} <= _group_keys(report),
    "check": lambda report: {"outcome", "margin", "groups"} <= report.keys(),
    "compare": lambda report: {"first", "second", "shift"} <= _group_keys(report),
    "rank": lambda report: {"judge", "systems", "why"} <= _group_keys(report),
    "cascade": lambda report: {"saved", "error_added"} <= report.keys(),
    "cascade --guarantee": lambda report: {"agreement_promised", "threshold"} <= report.keys(),
    "align": lambda report: {"candidates", "opened", "kept"} <= report.keys(),
    "fairness chunk-size": lambda report: {"identified", "best"} <= report.keys(),
    "fairness oracle": lambda report: {"measures", "documents", "notes"} <= report.keys(),
    "fairness compare": lambda report: {"baseline", "systems", "signatures"} <= report.keys(),
    "fairness coverage": lambda report: _is_fairness_report(report, "coverage"),
    "fairness proportional": lambda report: _is_fairness_report(report, "proportional"),
    "fairness overall": lambda report: {"measure", "systems"} <= report.keys(),
    "fairness agreement": lambda report: any(
        isinstance(part, Mapping) and "n_unmatched" in part for part in report.values()
    ),
    "fairness people": lambda report: {"leanings", "groups"} <= _system_keys(report),
    "fairness temperature": lambda report: {"temperatures", "best"} <= report.keys(),
    "bias quality": lambda report: "quality" in _group_keys(report),
    "bias words": lambda report: {"inclusion", "against_source"} <= _system_keys(report),
    "bias entities": lambda report: {"inclusion", "hallucination"} <= _system_keys(report),
    "bias distinguishability": lambda report: {"counts", "dense"} <= _system_keys(report),
    "bias inputs": lambda report: {"words", "identifiers"} <= report.keys(),
    "judge": lambda report: all(
        isinstance(part, Mapping) and part.keys() >= _JUDGE_KEYS for part in aspect_reports(report)
    ),
    "study": lambda report: "cost_by_step" in report,
    "build": lambda report: {"clusters", "signature", "spent"} <= report.keys(),
    "summarize": lambda report: {"n_summaries", "failed", "spent"} <= report.keys(),
}
"""Commands with a test of whether they wrote a JSON report; tried in this order."""
