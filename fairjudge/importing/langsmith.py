"""LangSmith's feedback: as its client lists it, or an experiment's results as a table.

Feedback given in the app is people's and gives labels. A row of an experiment's results
(``evaluate(...).to_pandas()``) has a column ``feedback.KEY`` for each evaluator.

Source: langchain-ai/langsmith-sdk, ``langsmith/schemas.py`` (``FeedbackBase``) and
``evaluation/_runner.py`` (``_flatten_experiment_results``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairjudge.importing.assessments import Assessment, object_in
from fairjudge.importing.records import Entry, Skipped
from fairjudge.importing.sources import Source, first_text, text

_COLUMN = "feedback."
_METADATA = ("inputs.", "outputs.", "reference.", "")


def recognises(source: Source) -> bool:
    """Say whether rows are feedback, or results with the columns of evaluators."""
    row = source.first
    return _is_feedback(row) or ("example_id" in row and any(map(_is_column, row)))


def read(source: Source) -> Iterator[Entry]:
    """Yield each feedback."""
    for line, row in source.records():
        with source.at(line):
            if _is_feedback(row):
                yield _feedback(row, line, source)
                continue
            columns = [name for name in row if _is_column(name)]
            if not columns:
                yield Skipped(line=line, why="the run has no feedback")
            for name in columns:
                yield _column(row, name, line, source)


def _is_feedback(row: Mapping[str, Any]) -> bool:
    return {"key", "score", "run_id"} <= row.keys()


def _is_column(name: str) -> bool:
    return name.startswith(_COLUMN)


def _feedback(row: Mapping[str, Any], line: int, source: Source) -> Entry:
    origin = object_in(row, "feedback_source")
    metadata = {**object_in(origin, "metadata"), **object_in(row, "extra")}
    value = row["score"] if row["score"] not in (None, "") else row.get("value") or None
    aspect = text(row, "key")
    annotator = first_text(origin, "user_name", "user_id")
    return Assessment(
        line=line,
        item={
            "eid": first_text(metadata, "eid")
            or first_text(row, "run_id", "trace_id")
            or text(row, "run_id"),
            "system": first_text(metadata, "system") or "langsmith",
            "unit": first_text(metadata, "unit") or "summary",
            "aspect": aspect,
        },
        value=value,
        number=source.score(value),
        person=(annotator or "people") if origin.get("type") == "app" else None,
        judge=first_text(metadata, "judge", "model") or f"langsmith/{aspect}",
        tool="LangSmith",
        reason=first_text(row, "comment"),
    ).entry()


def _column(row: Mapping[str, Any], name: str, line: int, source: Source) -> Entry:
    aspect, value = name.removeprefix(_COLUMN), row[name]
    return Assessment(
        line=line,
        item={
            "eid": _named(row, "eid") or text(row, "example_id"),
            "system": _named(row, "system") or "langsmith",
            "unit": _named(row, "unit") or "summary",
            "aspect": aspect,
        },
        value=None if value == "" else value,
        number=source.score(value),
        person=None,
        judge=_named(row, "judge") or f"langsmith/{aspect}",
        tool="LangSmith",
        error=first_text(row, "error"),
    ).entry()


def _named(row: Mapping[str, Any], name: str) -> str | None:
    return first_text(row, *(f"{prefix}{name}" for prefix in _METADATA))
