"""Langfuse's scores: of its API, its tables' export, its blob storage, or within exported traces.

Scores with the source ANNOTATION are labels. A category without a configuration has no number of
its own (Langfuse writes 0), so that its word counts.

Source: langfuse/langfuse-python, ``langfuse/api/commons/types`` (``base_score.py`` and the kinds);
Langfuse's blob storage export field reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.importing.assessments import assessed, object_in
from fairjudge.importing.records import Entry, Skipped
from fairjudge.importing.sources import Json, Source, first_text, items, judged_item, text


def recognises(source: Source) -> bool:
    """Say whether rows are scores, a page of the API with them, or traces that have them."""
    return any(map(_is_score, _within(source.first))) or _is_score(source.first)


def read(source: Source) -> Iterator[Entry]:
    """Yield each score."""
    for line, row in source.records():
        with source.at(line):
            if _is_score(row):
                yield _entry(row, line, {}, source)
                continue
            scores = _within(row)
            if not scores:
                yield Skipped(line=line, why="the trace has no score")
            trace = row if "scores" in row else {}
            for score in scores:
                yield _entry(score, line, trace, source)


def _is_score(row: Json) -> bool:
    names = {"name", "source"} <= row.keys() and bool({"traceId", "trace_id"} & row.keys())
    return names and bool({"dataType", "data_type"} & row.keys()) and "value" in row


def _within(row: Json) -> list[Json]:
    name = next((name for name in ("scores", "data") if isinstance(row.get(name), list)), None)
    return [] if name is None else list(items(row, name))


def _entry(score: Json, line: int, trace: Json, source: Source) -> Entry:
    about = trace or object_in(score, "trace")
    metadata = {**object_in(about, "metadata"), **object_in(score, "metadata")}
    trace_id = first_text(score, "traceId", "trace_id") or first_text(about, "id")
    word = first_text(score, "stringValue", "string_value")
    kind = (first_text(score, "dataType", "data_type") or "").upper()
    by_word = kind in {"CATEGORICAL", "TEXT"} and not first_text(score, "configId", "config_id")
    value = (word or score.get("value")) if by_word else score.get("value")
    item = judged_item(
        metadata,
        eid=lambda: trace_id or text(score, "traceId"),
        system=first_text(about, "name") or "langfuse",
        unit=first_text(score, "observationId", "observation_id"),
    )
    person = first_text(score, "authorUserId", "author_user_id") or "people"
    return assessed(
        source,
        line,
        {**item, "aspect": text(score, "name")},
        value,
        tool="Langfuse",
        person=person if text(score, "source").upper() == "ANNOTATION" else None,
        judge=first_text(metadata, "judge"),
        reason=first_text(score, "comment"),
    )
