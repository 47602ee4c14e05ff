"""Convert recorded replies of any judge to judgements, with the parser of live runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.domain import Judgement, Order, ProtocolName
from fairjudge.errors import InputError, error_location
from fairjudge.importing.records import (
    NumberedJudgements,
    Repeats,
    item_of,
    make_judgement,
    outcome_fields,
    parse_order,
    resolve_repeats,
)
from fairjudge.importing.scale_options import check_fits
from fairjudge.parsing import read_verdict
from fairjudge.protocols import PROTOCOLS
from fairjudge.scales import Scale, to_verdict

FIELDS = (
    "eid",
    "system",
    "system_a",
    "system_b",
    "aspect",
    "unit",
    "judge",
    "response",
    "swapped",
    "order",
)
"""The fields of ``--map field=column``."""

_OUR_FIELDS = {
    *FIELDS,
    "raw",
    "protocol",
    "value",
    "unscored",
    "scored_by",
    "probabilities",
    "signature",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """An item with several judgements: the last on ``line``, the earlier ones on ``former``."""

    item: Mapping[str, str]
    line: int
    former: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedReplies(NumberedJudgements):
    """The judgements of recorded replies; ``repeated`` lists items with several judgements."""

    repeated: tuple[Repeat, ...]
    n_replies: int


def import_replies(
    rows: Iterable[Mapping[str, Any]],
    *,
    scale: Scale,
    protocol: ProtocolName | None = None,
    mapping: Mapping[str, str] | None = None,
    judge: str | None = None,
    lines: Sequence[int] | None = None,
    path: str | Path | None = None,
    repeats: Repeats = "keep",
) -> ImportedReplies:
    """Convert recorded replies to judgements.

    Parameters
    ----------
    rows : iterable of mappings
        Each has ``eid``, ``system`` (or ``system_a`` and ``system_b``), ``aspect``, the reply
        under ``response`` or ``raw``, and for pairs ``order``, or ``swapped`` (true: system_b was
        shown first). Other fields are carried through.
    scale : Scale
        The scale of the judge's prompt.
    protocol : str, optional
        By default that of `scale`.
    mapping : mapping, optional
        Maps fields to their names in `rows`.
    judge : str, optional
        Name of the judge; by default the rows' own ``judge``.
    lines, path : optional
        Line numbers and file of the rows, for messages; by default lines count from 1.
    repeats : {"keep", "last"}
        For an item that was judged several times: keep all judgements, numbered by ``repeat`` from
        0 (or by the rows' own ``repeat``), or the last one only.

    Returns
    -------
    ImportedReplies
        In the order of the rows; with ``"last"`` in the order of each item's first judgement.

    Raises
    ------
    InputError
        If a field is missing or invalid (with line and field), or `scale` does not fit `protocol`.
    """
    protocol = protocol or scale.protocol
    check_fits(scale, protocol)
    columns = _columns(mapping or {})
    all_lines: list[int] = []
    all_judgements: list[Judgement] = []
    for number, row in enumerate(rows):
        line = number + 1 if lines is None else lines[number]
        with error_location(path=path, line=line):
            judgement = _judgement(
                row, scale=scale, protocol=protocol, columns=columns, judge=judge
            )
        all_lines.append(line)
        all_judgements.append(judgement)
    kept_indices, judgements = resolve_repeats(all_judgements, repeats)
    return ImportedReplies(
        judgements=judgements,
        lines=tuple(all_lines[index] for index in kept_indices),
        repeated=_repeated_items(all_lines, all_judgements),
        n_replies=len(all_judgements),
    )


def _repeated_items(lines: Sequence[int], judgements: Sequence[Judgement]) -> tuple[Repeat, ...]:
    lines_by_item: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for line, judgement in zip(lines, judgements, strict=True):
        lines_by_item.setdefault(item_of(judgement), []).append(line)
    return tuple(
        Repeat(item=dict(key), line=item_lines[-1], former=tuple(item_lines[:-1]))
        for key, item_lines in lines_by_item.items()
        if len(item_lines) > 1
    )


def _columns(mapping: Mapping[str, str]) -> dict[str, str]:
    for field in mapping:
        if field not in FIELDS:
            raise InputError(f"cannot map {field!r}; fields are {', '.join(FIELDS)}", field=field)
    return {field: mapping.get(field, field) for field in FIELDS}


def _judgement(
    row: Mapping[str, Any],
    *,
    scale: Scale,
    protocol: ProtocolName,
    columns: Mapping[str, str],
    judge: str | None,
) -> Judgement:
    values = {field: row[column] for field, column in columns.items() if column in row}
    judge_name = judge if judge is not None else values.get("judge")
    if judge_name is None:
        raise InputError("missing; specify the judge with --judge", field="judge")
    pair = PROTOCOLS[protocol].paired
    order: Order = _order(values) if pair else "ab"
    reply = _reply(row, values, columns)
    outcome = read_verdict(reply or "", scale, aspect=str(values.get("aspect") or ""))
    systems = ("system_a", "system_b") if pair else ("system",)
    fields = {
        **{
            name: item
            for name, item in row.items()
            if name not in {*_OUR_FIELDS, *columns.values()}
        },
        **{
            name: values[name]
            for name in ("eid", *systems, "aspect", "unit")
            if values.get(name) is not None
        },
        **({"order": order} if pair else {}),
        "protocol": protocol,
        "judge": judge_name,
        **outcome_fields(to_verdict(outcome, order) if isinstance(outcome, str) else outcome),
        "raw": reply,
        "scored_by": "llm",
        "probabilities": None,
    }
    for field in ("eid", *systems, "aspect"):
        if fields.get(field) is None:
            column = columns[field]
            hint = f"missing; specify its column with --map {field}=COLUMN"
            raise InputError(hint if column == field else f"no column {column!r}", field=field)
    return make_judgement(fields, source="import", scale=scale)


def _reply(
    row: Mapping[str, Any], values: Mapping[str, Any], columns: Mapping[str, str]
) -> str | None:
    """Return the reply as text; one stored as parsed JSON is serialised again."""
    if "response" not in values and (columns["response"] != "response" or "raw" not in row):
        column = columns["response"]
        raise InputError(
            f"no reply in column {column!r}; specify its column with --map response=COLUMN",
            field="response",
        )
    reply = values["response"] if "response" in values else row["raw"]
    if reply is None or isinstance(reply, str):
        return reply
    return json.dumps(reply, ensure_ascii=False)


_TRUE, _FALSE = {"true", "1", "yes"}, {"false", "0", "no", ""}


def _order(values: Mapping[str, Any]) -> Order:
    swap_text = (
        str(values["swapped"]).strip().lower() if values.get("swapped") is not None else None
    )
    if swap_text is not None and swap_text not in _TRUE | _FALSE:
        raise InputError(f"expected true or false, not {values['swapped']!r}", field="swapped")
    swap_order: Order | None = None if swap_text is None else "ba" if swap_text in _TRUE else "ab"
    order = values.get("order")
    if order is None:
        return swap_order or "ab"
    row_order = parse_order(order, field="order")
    if swap_order is not None and swap_order != order:
        raise InputError(f"'order' {order!r} contradicts 'swapped' {swap_text!r}", field="order")
    return row_order
