"""Label Studio's tasks: people's annotations are labels, models' predictions judgements.

Source: the JSON task format of labelstud.io/guide/task_format. What was annotated stands in the
task's ``data``: ``eid``, and ``system`` or ``system_a`` and ``system_b``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairjudge.domain import Verdict
from fairjudge.importing.records import Entry, Recorded, Skipped, make_label, order_of
from fairjudge.importing.sources import Source, given, items, mapping, text
from fairjudge.scales import Position, to_verdict

_SIDES: Mapping[str, Position] = {"left": "first", "right": "second"}


def recognises(source: Source) -> bool:
    """Say whether the rows are tasks with annotations or predictions."""
    first = source.first
    return isinstance(first.get("data"), dict) and bool({"annotations", "predictions"} & {*first})


def read(source: Source) -> Iterator[Entry]:
    """Yield each result of each annotation and prediction that was not cancelled."""
    for line, task in source.records():
        with source.at(line):
            item = _item(mapping(task, "data"))
            found = False
            for one in items(task, "annotations"):
                found = True
                yield from _annotation(one, line, item, source)
            for one in items(task, "predictions"):
                found = True
                yield from _prediction(one, line, item, source)
            if not found:
                yield Skipped(line=line, why="nobody has annotated it")


def _annotation(
    one: Mapping[str, Any], line: int, item: Mapping[str, Any], source: Source
) -> Iterator[Entry]:
    annotator = one.get("completed_by")
    if isinstance(annotator, dict):
        annotator = given(annotator, "email", "id")
    for name, value, _ in _values(one, item, source):
        if one.get("was_cancelled"):
            yield Skipped(line=line, why="the annotation was cancelled")
        elif value is None:
            yield Skipped(line=line, why=f"{name!r} is no number and no preference")
        else:
            who = "label-studio" if annotator is None else str(annotator)
            fields = {key: found for key, found in item.items() if key != "order"}
            yield make_label(**{**fields, "aspect": name}, annotator=who, value=value)


def _prediction(
    one: Mapping[str, Any], line: int, item: Mapping[str, Any], source: Source
) -> Iterator[Recorded]:
    for name, value, meta in _values(one, item, source):
        fields = {**item, "aspect": name}
        if "order" in item:
            fields["order"] = order_of(meta.get("order", item["order"]), field="meta.order")
        repeat = meta.get("repeat")
        yield Recorded(
            line=line,
            **fields,
            repeat=repeat if type(repeat) is int and repeat >= 0 else None,
            judge=given(one, "model_version") or "label-studio",
            value=value,
            detail="the prediction is no number and no preference",
        )


def _values(
    one: Mapping[str, Any], item: Mapping[str, Any], source: Source
) -> Iterator[tuple[str, float | Verdict | None, Mapping[str, Any]]]:
    """Yield name, value and ``meta`` of each result, which says how a judge was shown a pair.

    What has no result gives one without a value.
    """
    results = list(items(one, "result"))
    if not results:
        yield "annotation", None, {}
    for result in results:
        value = mapping(result, "value")
        kind = text(result, "type")
        name = given(item, "aspect") or text(result, "from_name")
        yield name, _value(kind, value, item, source), mapping(result, "meta")


def _value(
    kind: str, value: Mapping[str, Any], item: Mapping[str, Any], source: Source
) -> float | Verdict | None:
    if kind == "pairwise":
        side = _SIDES.get(str(value.get("selected")))
        return None if side is None else to_verdict(side, item.get("order") or "ab")
    found = value.get(kind)
    return _chosen(found, source) if kind == "choices" else source.score(found)


def _chosen(chosen: object, source: Source) -> float | Verdict | None:
    if not isinstance(chosen, list) or len(chosen) != 1:
        return None
    if chosen[0] == "tie":
        return "tie"
    return source.score(chosen[0])


def _item(data: Mapping[str, Any]) -> dict[str, Any]:
    names = ("system_a", "system_b") if "system_a" in data else ("system",)
    item: dict[str, Any] = {name: text(data, name) for name in ("eid", *names)}
    item |= {name: found for name in ("unit", "aspect") if (found := given(data, name))}
    if len(names) > 1:
        item["order"] = order_of(data.get("order", "ab"), field="data.order")
    return item
