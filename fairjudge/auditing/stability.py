"""Report the stability of judges, from repeated judgements in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fairjudge.calibration.grouping import group_judgements
from fairjudge.calibration.labels import SIGNS, ItemKey, item_key, order_by_name
from fairjudge.calibration.stability import RepeatedJudgements, stability
from fairjudge.domain import Judgement, Order, ProtocolName, Undefined, Unscored
from fairjudge.errors import InputError
from fairjudge.parsing import read_verdict
from fairjudge.records.results import to_json
from fairjudge.scales import Scale, binary, likert, pairwise, to_verdict

VARIANT = "variant"
"""The default field with the name of a judgement's prompt."""
_SCALES: dict[ProtocolName, Scale] = {
    "binary": binary(),
    "likert": likert(),
    "pairwise": pairwise(),
}


def stability_report(
    rows: Iterable[Judgement], *, variant: str = VARIANT, level: float = 0.95, seed: int = 0
) -> dict[str, Any]:
    """Return stability by judge, aspect, protocol and unit.

    Repeats are several judgements of one item in the file, as written by ``judge --repeats``, or
    the replies saved by ``judge --samples``. Scores of a fallback count as unscored. ``alike`` is
    True if all verdicts of several prompts are equal, which indicates copied records rather than a
    stable judge; judgements with different signatures are not copies.

    Raises
    ------
    InputError
        If no item was judged more than once.
    """
    groups = [
        group._asdict() | _group(members, variant=variant, level=level, seed=seed)
        for group, members in group_judgements(rows).items()
    ]
    if all(group["why"] is not None for group in groups):
        raise InputError(
            "no item was judged more than once: judge with --repeats 3, or import the repeats"
        )
    return {"groups": groups}


def _group(rows: list[Judgement], *, variant: str, level: float, seed: int) -> dict[str, Any]:
    replies = [(value, row) for row in rows for value in _values(row)]
    values = [(value, row) for value, row in replies if value is not None]
    n_unscored = len(replies) - len(values)
    variants = [_variant(row, variant) for _, row in values]
    result = stability(
        RepeatedJudgements(
            values=np.array([value for value, _ in values]),
            items=[_item(row) for _, row in values],
            variants=variants,
            documents=[row.eid for _, row in values],
        ),
        rng=np.random.default_rng(seed),
        level=level,
    )
    if isinstance(result, Undefined):
        return {"n_unscored": n_unscored, "why": result.why}
    between = result.flips_between_variants
    return {
        "n_unscored": n_unscored,
        "why": None,
        "alike": not isinstance(between, Undefined)
        and between.value == 0.0
        and len({row.signature for row in rows}) < len(set(variants)),
        **to_json(result),
    }


def _variant(row: Judgement, field: str) -> str:
    value = row.variant if field == VARIANT else (row.model_extra or {}).get(field)
    return str(value or "")


def _item(row: Judgement) -> tuple[ItemKey, Order | None]:
    """Return the judged item; each order of a pair is a separate item."""
    key, sign = item_key(row)
    return key, order_by_name(row, sign)


def _values(row: Judgement) -> Iterator[float | None]:
    """Yield the values of a judgement's replies, None for one without a score."""
    extra = row.model_extra or {}
    if extra.get("fallback_for"):  # a local scorer's value: always equal, and not the judge's
        yield None
        return
    texts = extra.get("samples")
    scale = _SCALES.get(row.protocol)
    if not isinstance(texts, list | tuple) or scale is None:
        yield _signed_value(row, row.value)
        return
    for text in texts:
        verdict = read_verdict(str(text or ""), scale, aspect=row.aspect)
        if isinstance(verdict, Unscored):
            yield None
        else:
            choice = to_verdict(verdict, row.order or "ab") if isinstance(verdict, str) else verdict
            yield _signed_value(row, choice)


def _signed_value(row: Judgement, value: float | str | None) -> float | None:
    if not isinstance(value, str):
        return value
    return item_key(row)[1] * SIGNS[value]
