"""Recorded replies of any judge, turned to judgements with the parser that live runs use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.domain import Judgement, Order, ProtocolName
from fairjudge.errors import InputError
from fairjudge.importing.records import (
    Placed,
    Repeats,
    item_of,
    make_judgement,
    order_of,
    scored,
    settle_repeats,
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
"""The fields that ``--map field=column`` can name."""

_OURS = {*FIELDS, "raw", "protocol", "value", "unscored", "scored_by", "probabilities", "signature"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """An item that was judged more than once: last on ``line``, before that on ``former``."""

    item: Mapping[str, str]
    line: int
    former: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported(Placed):
    """What recorded replies became: an item that was judged again is named in ``repeated``."""

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
) -> Imported:
    """Turn recorded replies to judgements.

    Parameters
    ----------
    rows : iterable of mappings
        Each holds ``eid``, ``system`` (or ``system_a`` and ``system_b``), ``aspect``, the reply
        under ``response`` or ``raw``, and for pairs ``order``, or ``swapped`` (true: system_b was
        shown first). Other fields are carried through.
    scale : Scale
        The answers that the judge was offered.
    protocol : str, optional
        By default what `scale` is made for.
    mapping : mapping, optional
        Field to the name it has in `rows`.
    judge : str, optional
        Who judged; by default the rows' own ``judge``.
    lines, path : optional
        Where the rows stand, for messages; by default they count from 1.
    repeats : {"keep", "last"}
        What becomes of an item that was judged again: all its judgements, numbered by ``repeat``
        from 0 (or by the rows' own ``repeat``), or the last one alone.

    Returns
    -------
    Imported
        In the order of the rows; with ``"last"`` an item stands where it was judged first.

    Raises
    ------
    InputError
        A field is missing or wrong, or `protocol` and `scale` do not fit; line and field are named.
    """
    protocol = protocol or scale.protocol
    check_fits(scale, protocol)
    columns = _columns(mapping or {})
    places: list[int] = []
    found: list[Judgement] = []
    for number, row in enumerate(rows):
        line = number + 1 if lines is None else lines[number]
        try:
            judgement = _judgement(
                row, scale=scale, protocol=protocol, columns=columns, judge=judge
            )
        except InputError as error:
            problem, field = error.problem, error.field
            raise InputError(problem, path=path, line=line, field=field) from error
        places.append(line)
        found.append(judgement)
    kept, judgements = settle_repeats(found, repeats)
    return Imported(
        judgements=judgements,
        lines=tuple(places[at] for at in kept),
        repeated=_judged_again(places, found),
        n_replies=len(found),
    )


def _judged_again(lines: Sequence[int], judgements: Sequence[Judgement]) -> tuple[Repeat, ...]:
    seen: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for line, judgement in zip(lines, judgements, strict=True):
        seen.setdefault(item_of(judgement), []).append(line)
    return tuple(
        Repeat(item=dict(key), line=at[-1], former=tuple(at[:-1]))
        for key, at in seen.items()
        if len(at) > 1
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
    given = {field: row[column] for field, column in columns.items() if column in row}
    named = judge if judge is not None else given.get("judge")
    if named is None:
        raise InputError("missing; name the judge with --judge", field="judge")
    pair = PROTOCOLS[protocol].paired
    order: Order = _order(given) if pair else "ab"
    reply = _reply(row, given, columns)
    read = read_verdict(reply or "", scale, aspect=str(given.get("aspect") or ""))
    systems = ("system_a", "system_b") if pair else ("system",)
    fields = {
        **{name: item for name, item in row.items() if name not in {*_OURS, *columns.values()}},
        **{
            name: given[name]
            for name in ("eid", *systems, "aspect", "unit")
            if given.get(name) is not None
        },
        **({"order": order} if pair else {}),
        "protocol": protocol,
        "judge": named,
        **scored(to_verdict(read, order) if isinstance(read, str) else read),
        "raw": reply,
        "scored_by": "llm",
        "probabilities": None,
    }
    for field in ("eid", *systems, "aspect"):
        if fields.get(field) is None:
            column = columns[field]
            hint = f"missing; name its column with --map {field}=COLUMN"
            raise InputError(hint if column == field else f"no column {column!r}", field=field)
    return make_judgement(fields, source="import", scale=scale)


def _reply(
    row: Mapping[str, Any], given: Mapping[str, Any], columns: Mapping[str, str]
) -> str | None:
    """Return the reply as text; one that was stored as parsed JSON is written out again."""
    if "response" not in given and (columns["response"] != "response" or "raw" not in row):
        column = columns["response"]
        raise InputError(
            f"no reply in column {column!r}; name its column with --map response=COLUMN",
            field="response",
        )
    reply = given["response"] if "response" in given else row["raw"]
    if reply is None or isinstance(reply, str):
        return reply
    return json.dumps(reply, ensure_ascii=False)


_TRUE, _FALSE = {"true", "1", "yes"}, {"false", "0", "no", ""}


def _order(given: Mapping[str, Any]) -> Order:
    swapped = str(given["swapped"]).strip().lower() if given.get("swapped") is not None else None
    if swapped is not None and swapped not in _TRUE | _FALSE:
        raise InputError(f"expected true or false, not {given['swapped']!r}", field="swapped")
    by_swap: Order | None = None if swapped is None else "ba" if swapped in _TRUE else "ab"
    order = given.get("order")
    if order is None:
        return by_swap or "ab"
    stated = order_of(order, field="order")
    if by_swap is not None and by_swap != order:
        raise InputError(f"'order' {order!r} contradicts 'swapped' {swapped!r}", field="order")
    return stated
