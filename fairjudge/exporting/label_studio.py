"""Label Studio tasks: one per item, with judgements as predictions.

``data import`` reads the annotations back: ``data`` of a task identifies the item, and each control
is named after its aspect. Source: the JSON task format of labelstud.io/guide/task_format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fairjudge.datasets.writers import json_line
from fairjudge.domain import Judgement, Order
from fairjudge.errors import InputError
from fairjudge.exporting.targets import ExportResult, Request
from fairjudge.protocols import PROTOCOLS


def write(request: Request) -> tuple[Iterator[bytes], ExportResult]:
    """Return the tasks as one JSON list."""
    items: dict[str, list[Judgement]] = {}
    for judgement in request.judgements:
        items.setdefault(json.dumps(_item(judgement), sort_keys=True), []).append(judgement)
    tasks = [_task(rows, request.texts) for rows in items.values()]
    return _json_list(tasks), ExportResult(n_rows=len(tasks))


def _json_list(tasks: list[dict[str, Any]]) -> Iterator[bytes]:
    yield b"[\n"
    for number, task in enumerate(tasks):
        yield (b"," if number else b"") + json_line(task)
    yield b"]\n"


def _item(judgement: Judgement) -> dict[str, str]:
    """Return the judged item; both orders of a pair are one item, in the first order."""
    return _fields(judgement, "eid", "system", "system_a", "system_b", "unit")


def _fields(judgement: Judgement, *names: str) -> dict[str, Any]:
    """Return those of a judgement's fields `names` that are not None."""
    values = {name: getattr(judgement, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _task(rows: list[Judgement], texts: dict[tuple[str, str], str]) -> dict[str, Any]:
    item = _item(rows[0])
    order: Order = rows[0].order or "ab"
    data: dict[str, Any] = item
    if "system_a" in item:
        sides = ("system_a", "system_b") if order == "ab" else ("system_b", "system_a")
        systems_by_pane = {"left": item[sides[0]], "right": item[sides[1]]}
        data = {**item, "order": order}
    else:
        order, systems_by_pane = "ab", {"text": item["system"]}
    if texts:
        data |= {
            name: _text(texts, item["eid"], system) for name, system in systems_by_pane.items()
        }
    runs: dict[tuple[str, int], list[Judgement]] = {}
    for row in rows:
        # the other order of a pair is a separate prediction
        key = (row.judge, 2 * (row.repeat or 0) + (row.order not in {None, order}))
        runs.setdefault(key, []).append(row)
    predictions = [
        {"model_version": judge, "result": [_result(row, order) for row in scored_rows]}
        for (judge, _), run in runs.items()
        if (scored_rows := [row for row in run if row.value is not None])
    ]
    return {"data": data, "predictions": predictions}


def _text(texts: dict[tuple[str, str], str], eid: str, system: str) -> str:
    if (eid, system) not in texts:
        raise InputError(f"no summary of {eid!r} by {system!r} to show")
    return texts[eid, system]


def _result(judgement: Judgement, order: Order) -> dict[str, Any]:
    kind, value = _value(judgement, order)
    to_name = "text" if judgement.system is not None else "pair"
    meta = _fields(judgement, "order", "repeat")
    return {
        "from_name": judgement.aspect,
        "to_name": to_name,
        "type": kind,
        "value": {("selected" if kind == "pairwise" else kind): value},
        **({"meta": meta} if meta else {}),
    }


def _value(judgement: Judgement, order: Order) -> tuple[str, Any]:
    """Return a control's type and value; a tie is a choice, since Pairwise has only two sides."""
    if judgement.value == "tie":
        return "choices", ["tie"]
    if isinstance(judgement.value, str):
        return "pairwise", "left" if (judgement.value == "a") == (order == "ab") else "right"
    if PROTOCOLS[judgement.protocol].yes_no and judgement.value in {0, 1}:
        return "choices", ["yes" if judgement.value else "no"]
    return "number", judgement.value
