"""LangSmith's feedback, as listed by its client or in a table of an experiment's results.

Feedback from the app is by people and becomes labels. A row of an experiment's results
(``evaluate(...).to_pandas()``) has a column ``feedback.KEY`` for each evaluator.

Source: langchain-ai/langsmith-sdk, ``langsmith/schemas.py`` (``FeedbackBase``) and
``evaluation/_runner.py`` (``_flatten_experiment_results``).
"""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.importing.assessments import assessment_entry, object_in
from fairjudge.importing.records import Entry, Skipped
from fairjudge.importing.sources import Json, Source, first_text, judged_item, text

_COLUMN = "feedback."
_METADATA = ("inputs.", "outputs.", "reference.", "")


def recognises(source: Source) -> bool:
    """Return whether rows are feedback, or results with columns of evaluators."""
    row = source.first
    return _is_feedback(row) or ("example_id" in row and any(map(_is_column, row)))


def read(source: Source) -> Iterator[Entry]:
    """Yield each feedback."""
    for line, row in source.records():
        with source.locate_errors(line):
            if _is_feedback(row):
                yield _feedback(row, line, source)
                continue
            columns = [name for name in row if _is_column(name)]
            if not columns:
                yield Skipped(line=line, why="the run has no feedback")
            for name in columns:
                yield _column(row, name, line, source)


def _is_feedback(row: Json) -> bool:
    return {"key", "score", "run_id"} <= row.keys()


def _is_column(name: str) -> bool:
    return name.startswith(_COLUMN)


def _feedback(row: Json, line: int, source: Source) -> Entry:
    origin = object_in(row, "feedback_source")
    metadata = {**object_in(origin, "metadata"), **object_in(row, "extra")}
    value = row["score"] if row["score"] not in (None, "") else row.get("value") or None
    annotator = first_text(origin, "user_name", "user_id")
    item = judged_item(
        metadata,
        eid=lambda: first_text(row, "run_id", "trace_id") or text(row, "run_id"),
        system="langsmith",
    )
    return assessment_entry(
        source,
        line,
        {**item, "aspect": text(row, "key")},
        value,
        tool="LangSmith",
        person=(annotator or "people") if origin.get("type") == "app" else None,
        judge=first_text(metadata, "judge", "model"),
        reason=first_text(row, "comment"),
    )


def _column(row: Json, name: str, line: int, source: Source) -> Entry:
    metadata = {
        field: first_text(row, *(f"{prefix}{field}" for prefix in _METADATA))
        for field in ("eid", "system", "unit", "judge")
    }
    item = judged_item(metadata, eid=lambda: text(row, "example_id"), system="langsmith")
    return assessment_entry(
        source,
        line,
        {**item, "aspect": name.removeprefix(_COLUMN)},
        None if row[name] == "" else row[name],
        tool="LangSmith",
        person=None,
        judge=metadata["judge"],
        error=first_text(row, "error"),
    )
