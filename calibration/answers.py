"""One answer an item, with how sure the judge is of it.

The judge's distributions over its answers (or its answers, each surely its own) are averaged over
repeats and, for pairs, over both orders; the answer is the likeliest, and confidence is 1 minus the
entropy over its largest value, in [0, 1]. For pairs this is the bidirectional entropy of SCOPE
(arXiv:2602.13110): a judge that prefers a position names each side once, and is not sure of either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import floor, log
from typing import TypeAlias

from fairjudge.calibration.labels import SIGNS, ItemKey, item_key, order_by_name
from fairjudge.domain import Judgement, Order

_DistributionsByItem: TypeAlias = dict[ItemKey, list[tuple[Order | None, Mapping[float, float]]]]
"""Order and distribution of each judgement of an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """``value`` is a number, or for pairs 1 (the first by name), -1, or 0 for a tie.

    ``one_order`` says that a pair was asked in one order alone.
    """

    value: float
    confidence: float
    n_judgements: int
    one_order: bool = False


def answers(
    judgements: Iterable[Judgement], *, n_answers: int | None = None
) -> dict[ItemKey, Answer]:
    """Return the answers of one judge, aspect and protocol; unscored judgements are excluded.

    Entropy is over its largest value for `n_answers` answers, by default the most that one item
    has (`max_answers`).
    """
    distributions = _distributions(judgements)
    largest = n_answers or _largest(distributions)
    return {
        item: _answer(answers_of_item, largest, pair=bool(item[2]))
        for item, answers_of_item in distributions.items()
    }


def max_answers(judgements: Iterable[Judgement]) -> int:
    """Return how many different answers the judge gives to one item at most."""
    return _largest(_distributions(judgements))


def _distributions(judgements: Iterable[Judgement]) -> _DistributionsByItem:
    distributions: _DistributionsByItem = defaultdict(list)
    for row in judgements:
        if row.value is not None:
            item, sign = item_key(row)
            distributions[item].append((order_by_name(row, sign), _distribution(row, sign)))
    return distributions


def _largest(distributions: _DistributionsByItem) -> int:
    supports = (
        {value for _, shares in answers_of_item for value in shares}
        for answers_of_item in distributions.values()
    )
    return max(map(len, supports), default=1)


def _distribution(row: Judgement, sign: float) -> dict[float, float]:
    if isinstance(row.value, str):
        shares_by_side = {name: p for name, p in (row.probabilities or {}).items() if name in SIGNS}
        total = sum(shares_by_side.values())
        shares = (
            {name: p / total for name, p in shares_by_side.items()} if total else {row.value: 1.0}
        )
        return {sign * SIGNS[name]: p for name, p in shares.items()}
    numbers = {_number(name): p for name, p in (row.probabilities or {}).items()}
    shares_by_value = {value: p for value, p in numbers.items() if value is not None}
    total = sum(shares_by_value.values())
    if total and len(shares_by_value) == len(numbers):
        return {value: p / total for value, p in shares_by_value.items()}
    return _between_levels(float(row.value or 0.0))


def _number(text: str) -> float | None:
    word = {"yes": "1", "no": "0", "true": "1", "false": "0"}.get(text.strip().lower(), text)
    try:
        return float(word)
    except ValueError:
        return None


def _between_levels(value: float) -> dict[float, float]:
    """Share a value between two levels, as a score of 0.9 is a yes nine times of ten."""
    low = float(floor(value))
    share = value - low
    return {low: 1.0 - share, low + 1.0: share} if share else {low: 1.0}


def _answer(
    answers_of_item: list[tuple[Order | None, Mapping[float, float]]], largest: int, *, pair: bool
) -> Answer:
    by_order: dict[Order | None, list[Mapping[float, float]]] = defaultdict(list)
    for order, shares in answers_of_item:
        by_order[order].append(shares)
    mean: dict[float, float] = defaultdict(float)
    for rows in by_order.values():
        for shares in rows:
            for value, p in shares.items():
                mean[value] += p / len(rows) / len(by_order)
    entropy = -sum(p * log(p) for p in mean.values() if p > 0.0)
    best = max(mean.values())
    likely = [value for value, p in mean.items() if p >= best - 1e-12]
    likeliest = 0.0 if pair and len(likely) > 1 else min(likely)
    confidence = 1.0 - entropy / log(max(largest, 2))
    return Answer(
        value=likeliest,
        confidence=min(max(confidence, 0.0), 1.0),
        n_judgements=len(answers_of_item),
        one_order=pair and len(by_order) < 2,
    )
