"""Phoenix's annotations of spans and traces, from its API or its client's data frame.

Annotations by HUMAN are labels. Without a ``score``, ``label`` is the value.

Source: Arize-ai/phoenix, ``phoenix/client/resources/spans`` (``get_span_annotations`` and
``get_span_annotations_dataframe``).
"""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.importing.assessments import assessment_entry, object_in
from fairjudge.importing.records import Entry
from fairjudge.importing.sources import Json, Source, first_text, items, judged_item, text

_IDS = ("span_id", "trace_id", "session_id")


def recognises(source: Source) -> bool:
    """Return whether rows are annotations, or pages of the API with annotations."""
    rows = _page(source.first) or [source.first]
    return "annotator_kind" in rows[0] and any(name in rows[0] for name in _IDS)


def read(source: Source) -> Iterator[Entry]:
    """Yield each annotation."""
    for line, row in source.records():
        with source.locate_errors(line):
            for annotation in _page(row) or [row]:
                yield _entry(annotation, line, source)


def _page(row: Json) -> list[Json]:
    return list(items(row, "data")) if isinstance(row.get("data"), list) else []


def _entry(row: Json, line: int, source: Source) -> Entry:
    result = object_in(row, "result") or {
        name: row.get(f"result.{name}", row.get(name)) for name in ("label", "score", "explanation")
    }
    has_score = result.get("score") is not None and result.get("score") != ""
    value = result.get("score" if has_score else "label")
    metadata = object_in(row, "metadata")
    kind, annotator = text(row, "annotator_kind").upper(), first_text(row, "identifier", "user_id")
    aspect = first_text(row, "annotation_name", "name") or text(row, "name")
    item = judged_item(
        metadata, eid=lambda: first_text(row, *_IDS) or text(row, "span_id"), system="phoenix"
    )
    return assessment_entry(
        source,
        line,
        {**item, "aspect": aspect},
        value or None if isinstance(value, str) else value,
        tool="Phoenix",
        person=(annotator or "people") if kind == "HUMAN" else None,
        judge=first_text(metadata, "judge", "model") or annotator,
        by_code=kind == "CODE",
        reason=first_text(result, "explanation"),
    )
