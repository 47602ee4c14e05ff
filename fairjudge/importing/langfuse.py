"""Langfuse's scores, from its API, exported tables, blob storage or exported traces.

Scores with the source ANNOTATION are labels. A category without a configuration has no number
(Langfuse writes 0), so its text is used.

Source: langfuse/langfuse-python, ``langfuse/api/commons/types`` (``base_score.py`` and the kinds);
Langfuse's blob storage export field reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.importing.assessments import assessment_entry, object_in
from fairjudge.importing.records import Entry, Skipped
from fairjudge.importing.sources import Json, Source, first_text, items, judged_item, text


def recognises(source: Source) -> bool:
    """Return whether rows are scores, pages of the API with scores, or traces with scores."""
    return any(map(_is_score, _nested_scores(source.first))) or _is_score(source.first)


def read(source: Source) -> Iterator[Entry]:
    """Yield each score."""
    for line, row in source.records():
        with source.locate_errors(line):
            if _is_score(row):
                yield _entry(row, line, {}, source)
                continue
            scores = _nested_scores(row)
            if not scores:
                yield Skipped(line=line, why="the trace has no score")
            trace = row if "scores" in row else {}
            for score in scores:
                yield _entry(score, line, trace, source)


def _is_score(row: Json) -> bool:
    has_names = {"name", "source"} <= row.keys() and bool({"traceId", "trace_id"} & row.keys())
    return has_names and bool({"dataType", "data_type"} & row.keys()) and "value" in row


def _nested_scores(row: Json) -> list[Json]:
    name = next((name for name in ("scores", "data") if isinstance(row.get(name), list)), None)
    return [] if name is None else list(items(row, name))


def _entry(score: Json, line: int, trace: Json, source: Source) -> Entry:
    trace_fields = trace or object_in(score, "trace")
    metadata = {**object_in(trace_fields, "metadata"), **object_in(score, "metadata")}
    trace_id = first_text(score, "traceId", "trace_id") or first_text(trace_fields, "id")
    text_value = first_text(score, "stringValue", "string_value")
    kind = (first_text(score, "dataType", "data_type") or "").upper()
    is_text = kind in {"CATEGORICAL", "TEXT"} and not first_text(score, "configId", "config_id")
    value = (text_value or score.get("value")) if is_text else score.get("value")
    item = judged_item(
        metadata,
        eid=lambda: trace_id or text(score, "traceId"),
        system=first_text(trace_fields, "name") or "langfuse",
        unit=first_text(score, "observationId", "observation_id"),
    )
    person = first_text(score, "authorUserId", "author_user_id") or "people"
    return assessment_entry(
        source,
        line,
        {**item, "aspect": text(score, "name")},
        value,
        tool="Langfuse",
        person=person if text(score, "source").upper() == "ANNOTATION" else None,
        judge=first_text(metadata, "judge"),
        reason=first_text(score, "comment"),
    )
