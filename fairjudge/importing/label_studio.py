"""Label Studio's tasks: human annotations are labels, models' predictions are judgements.

`as_rows` converts tasks on single summaries to table rows, one per annotation, as in JSON-MIN.

Source: the JSON task format of labelstud.io/guide/task_format. The annotated item is in the task's
``data``: ``eid``, and ``system`` or ``system_a`` and ``system_b``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fairjudge.datasets._source import Row
from fairjudge.domain import Verdict
from fairjudge.importing.records import Entry, RecordedJudgement, Skipped, make_label, parse_order
from fairjudge.importing.sources import Json, Source, first_text, items, mapping, name_in, text
from fairjudge.scales import Position, to_verdict

_SIDES: Mapping[str, Position] = {"left": "first", "right": "second"}


_TIMES = ("lead_time", "created_at", "updated_at")
"""Times of an annotation."""


def recognises(source: Source) -> bool:
    """Return whether the rows are tasks with annotations or predictions."""
    first = source.first
    return isinstance(first.get("data"), dict) and bool({"annotations", "predictions"} & {*first})


def read(source: Source) -> Iterator[Entry]:
    """Yield each result of each annotation and prediction; cancelled ones are skipped."""
    for line, task in source.records():
        with source.locate_errors(line):
            item = _item(mapping(task, "data"))
            has_result = False
            for result_set in items(task, "annotations"):
                has_result = True
                yield from _annotation(result_set, line, item, source)
            for result_set in items(task, "predictions"):
                has_result = True
                yield from _prediction(result_set, line, item, source)
            if not has_result:
                yield Skipped(line=line, why="not annotated")


def _annotation(annotation: Json, line: int, item: Json, source: Source) -> Iterator[Entry]:
    annotator = name_in(annotation, "completed_by", "email", "id") or "label-studio"
    for name, value, _ in _values(annotation, item, source):
        if annotation.get("was_cancelled"):
            yield Skipped(line=line, why="the annotation was cancelled")
        elif value is None:
            yield Skipped(line=line, why=f"{name!r} is neither a number nor a preference")
        else:
            fields = {key: part for key, part in item.items() if key != "order"}
            yield make_label(**{**fields, "aspect": name}, annotator=annotator, value=value)


def _prediction(
    prediction: Json, line: int, item: Json, source: Source
) -> Iterator[RecordedJudgement]:
    for name, value, meta in _values(prediction, item, source):
        fields = {**item, "aspect": name}
        if "order" in item:
            fields["order"] = parse_order(meta.get("order", item["order"]), field="meta.order")
        repeat = meta.get("repeat")
        yield RecordedJudgement(
            line=line,
            **fields,
            repeat=repeat if type(repeat) is int and repeat >= 0 else None,
            judge=first_text(prediction, "model_version") or "label-studio",
            value=value,
            detail="the prediction is neither a number nor a preference",
        )


def _values(
    result_set: Json, item: Json, source: Source
) -> Iterator[tuple[str, float | Verdict | None, Json]]:
    """Yield name, value and ``meta`` of each result; ``meta`` has the order of a pair.

    A set without results yields one name without a value.
    """
    results = list(items(result_set, "result"))
    if not results:
        yield "annotation", None, {}
    for result in results:
        value = mapping(result, "value")
        kind = text(result, "type")
        name = first_text(item, "aspect") or text(result, "from_name")
        yield name, _value(kind, value, item, source), mapping(result, "meta")


def _value(kind: str, value: Json, item: Json, source: Source) -> float | Verdict | None:
    if kind == "pairwise":
        side = _SIDES.get(str(value.get("selected")))
        return None if side is None else to_verdict(side, item.get("order") or "ab")
    content = value.get(kind)
    if kind == "choices":
        content = content[0] if isinstance(content, list) and len(content) == 1 else None
        if content == "tie":
            return "tie"
    return source.score(content)


def _item(data: Json) -> dict[str, Any]:
    names = ("system_a", "system_b") if "system_a" in data else ("system",)
    item: dict[str, Any] = {name: text(data, name) for name in ("eid", *names)}
    item |= {name: value for name in ("unit", "aspect") if (value := first_text(data, name))}
    if len(names) > 1:
        item["order"] = parse_order(data.get("order", "ab"), field="data.order")
    return item


def as_rows(source: Source) -> Source:
    """Return `source` with one row per annotation, if its tasks are on single summaries.

    Tasks on pairs, and tasks with an aspect in their data, are left to `read`.
    """
    data = source.first.get("data")
    if not recognises(source) or {"system_a", "aspect"} & {*(data or ())}:
        return source
    rows = [
        row
        for line, task in source.records()
        for row in _rows(line, task, mapping(task, "data"), source)
    ]
    return replace(source, rows=tuple(rows))


def _rows(line: int, task: Json, data: Json, source: Source) -> Iterator[Row]:
    task_fields = {"id": task.get("id"), **data}
    has_annotation = False
    with source.locate_errors(line):
        for annotation in items(task, "annotations"):
            if annotation.get("was_cancelled"):
                source.skipped.append(Skipped(line=line, why="the annotation was cancelled"))
                continue
            has_annotation = True
            yield Row(line=line, value={**task_fields, **_annotation_fields(annotation)})
        for _ in items(task, "predictions"):
            reason = "a judgement; import it with 'fairjudge data import'"
            source.skipped.append(Skipped(line=line, why=reason))
    if not has_annotation:
        yield Row(line=line, value=task_fields)


def _annotation_fields(annotation: Json) -> dict[str, Any]:
    """Return the values of an annotation by control name, its annotator, id and times."""
    annotator = name_in(annotation, "completed_by", "email", "id")
    values = {
        name: mapping(result, "value").get(str(result.get("type")))
        for result in items(annotation, "result")
        if isinstance(name := result.get("from_name"), str)  # relations have none
    }
    times = {name: annotation.get(name) for name in _TIMES}
    return {**values, "annotator": annotator, "annotation_id": annotation.get("id"), **times}
