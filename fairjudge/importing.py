"""Recorded replies of any judge, turned to judgements with the parser that live runs use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fairjudge.domain import Judgement, Order, ProtocolName, Unscored
from fairjudge.errors import InputError
from fairjudge.parsing import PARSER_VERSION, read_verdict
from fairjudge.scales import (
    Level,
    Scale,
    binary,
    likert,
    load_scale,
    options,
    pairwise,
    stars,
    to_verdict,
)
from fairjudge.signature import signature

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
    """An item that was judged more than once: the reply on ``line`` counts, ``former`` do not."""

    item: Mapping[str, str]
    line: int
    former: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The judgements in the order of the file, and the line that each was read from."""

    judgements: tuple[Judgement, ...]
    lines: tuple[int, ...]
    repeated: tuple[Repeat, ...]
    n_replies: int

    @property
    def unscored(self) -> tuple[tuple[int, Judgement], ...]:
        """The judgements without a score, each with its line."""
        pairs = zip(self.lines, self.judgements, strict=True)
        return tuple((line, found) for line, found in pairs if found.unscored is not None)


def import_replies(
    rows: Iterable[Mapping[str, Any]],
    *,
    scale: Scale,
    protocol: ProtocolName | None = None,
    mapping: Mapping[str, str] | None = None,
    judge: str | None = None,
    lines: Sequence[int] | None = None,
    path: str | Path | None = None,
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

    Returns
    -------
    Imported
        One judgement an item. Of an item that was judged again the last reply counts.

    Raises
    ------
    InputError
        A field is missing or wrong, or `protocol` and `scale` do not fit; line and field are named.
    """
    protocol = protocol or scale.protocol
    if (protocol == "pairwise") != (scale.kind == "pair"):
        raise InputError(f"scale {scale.name!r} does not fit protocol {protocol!r}")
    columns = _columns(mapping or {})
    kept: dict[tuple[Any, ...], tuple[int, Judgement]] = {}
    seen: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows):
        line = number + 1 if lines is None else lines[number]
        try:
            found = _judgement(row, scale=scale, protocol=protocol, columns=columns, judge=judge)
        except InputError as error:
            problem, field = error.problem, error.field
            raise InputError(problem, path=path, line=line, field=field) from error
        key = tuple(_item(found).items())
        kept[key] = (line, found)
        seen.setdefault(key, []).append(line)
    return Imported(
        judgements=tuple(found for _, found in kept.values()),
        lines=tuple(line for line, _ in kept.values()),
        repeated=tuple(
            Repeat(item=dict(key), line=at[-1], former=tuple(at[:-1]))
            for key, at in seen.items()
            if len(at) > 1
        ),
        n_replies=sum(map(len, seen.values())),
    )


def _columns(mapping: Mapping[str, str]) -> dict[str, str]:
    for field in mapping:
        if field not in FIELDS:
            raise InputError(f"cannot map {field!r}; fields are {', '.join(FIELDS)}", field=field)
    return {field: mapping.get(field, field) for field in FIELDS}


def _item(found: Judgement) -> dict[str, str]:
    names = ("eid", "system", "system_a", "system_b", "order", "aspect", "unit", "judge")
    return {name: getattr(found, name) for name in names if getattr(found, name) is not None}


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
    pair = protocol == "pairwise"
    order: Order = _order(given) if pair else "ab"
    reply = _reply(row, given, columns)
    outcome = read_verdict(reply or "", scale)
    value: dict[str, Any] = (
        {"value": None, "unscored": outcome.reason, "detail": outcome.detail}
        if isinstance(outcome, Unscored)
        else {"value": to_verdict(outcome, order) if isinstance(outcome, str) else outcome}
    )
    systems = ("system_a", "system_b") if pair else ("system",)
    record = {
        **{name: item for name, item in row.items() if name not in {*_OURS, *columns.values()}},
        **{
            name: given[name]
            for name in ("eid", *systems, "aspect", "unit")
            if given.get(name) is not None
        },
        **({"order": order} if pair else {}),
        "protocol": protocol,
        "judge": named,
        "unscored": None,
        **value,
        "raw": reply,
        "scored_by": "llm",
        "probabilities": None,
        "signature": _signature(str(named), scale),
    }
    return _validated(record, ("eid", *systems, "aspect"), columns)


def _validated(
    record: dict[str, Any], needed: Sequence[str], columns: Mapping[str, str]
) -> Judgement:
    for field in needed:
        if record.get(field) is None:
            column = columns[field]
            hint = f"missing; name its column with --map {field}=COLUMN"
            raise InputError(hint if column == field else f"no column {column!r}", field=field)
    try:
        return Judgement.model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or None
        raise InputError(first["msg"], field=where) from error


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
    if order not in {"ab", "ba"}:
        raise InputError(f'expected "ab" or "ba", not {order!r}', field="order")
    if by_swap is not None and by_swap != order:
        raise InputError(f"'order' {order!r} contradicts 'swapped' {swapped!r}", field="order")
    return "ba" if order == "ba" else "ab"


def _signature(judge: str, scale: Scale) -> str:
    return signature(
        {"judge": judge, "source": "import", "scale": scale.label, "parser": PARSER_VERSION}
    )


def scale_from_options(
    protocol: ProtocolName,
    *,
    scale: str | None = None,
    answers: str | None = None,
    with_stars: bool = False,
) -> Scale:
    """Return the scale that ``--scale``, ``--options`` or ``--stars`` describes.

    Parameters
    ----------
    scale : str, optional
        A range such as ``"1-5"``, or the path of a scale file (``.toml``).
    answers : str, optional
        Answers separated by commas: worth 1 to n in the order given; for ``"pairwise"`` first,
        second, tie; for ``"binary"`` 0 and 1, but yes/no and true/false by their meaning.
    with_stars : bool
        One to five stars.

    Raises
    ------
    InputError
        More than one of them is given, or it does not fit `protocol`.
    """
    if sum((scale is not None, answers is not None, with_stars)) > 1:
        raise InputError("give one of --scale, --options and --stars, not several")
    if answers is not None:
        return _from_answers(protocol, [part.strip() for part in answers.split(",")])
    if scale is not None and scale.endswith(".toml"):
        made = load_scale(scale)
    elif scale is not None or with_stars:
        made = stars() if scale is None else _from_range(scale)
    else:
        made = _usual(protocol)
    if (protocol == "pairwise") != (made.kind == "pair"):
        raise InputError(f"scale {made.name!r} does not fit --protocol {protocol}")
    return made


def _usual(protocol: ProtocolName) -> Scale:
    if protocol == "likert":
        return likert()
    return binary() if protocol == "binary" else pairwise()


def _from_range(text: str) -> Scale:
    match = re.fullmatch(r"\s*(\d{1,3})\s*-\s*(\d{1,3})\s*", text, re.ASCII)
    low, high = (int(match[1]), int(match[2])) if match else (0, 0)
    if not low < high <= low + 100:
        raise InputError(f"expected a range such as 1-5, not {text!r}", field="--scale")
    return likert([""] * (high - low + 1), low=low)


def _from_answers(protocol: ProtocolName, answers: list[str]) -> Scale:
    most = {"likert": 100, "binary": 2, "pairwise": 3}[protocol]
    if not 2 <= len(answers) <= most:
        raise InputError(
            f"--protocol {protocol} takes 2 to {most} answers, found {len(answers)}",
            field="--options",
        )
    if protocol == "pairwise":
        return pairwise(answers)
    if protocol == "likert":
        return options(answers)
    no, yes = answers
    if {no.lower(), yes.lower()} in ({"yes", "no"}, {"true", "false"}):
        return binary()
    levels = (Level(answer=no, value=0.0), Level(answer=yes, value=1.0))
    return Scale(name=f"binary-{no}-{yes}", kind="choice", levels=levels)
