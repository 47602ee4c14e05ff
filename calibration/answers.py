"""One answer per item, with the judge's confidence.

The judge's answer distributions (a judge without probabilities has probability 1 for its answer)
are averaged over repeats and, for pairs, over both orders. The answer is the most probable one;
confidence is 1 minus the normalised entropy, in [0, 1]. For pairs this is the bidirectional entropy
of SCOPE (arXiv:2602.13110): a judge that prefers a position picks each side once, so its confidence
is low.
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
    """The judge's answer for one item.

    ``value`` is a number; for pairs 1 (the first by name), -1 (the second), or 0 for a tie.
    ``one_order`` is true if a pair was judged in one order only.
    """

    value: float
    confidence: float
    n_judgements: int
    one_order: bool = False


def answers(
    judgements: Iterable[Judgement], *, n_answers: int | None = None
) -> dict[ItemKey, Answer]:
    """Return the answers of one judge, aspect and protocol; unscored judgements are excluded.

    Entropy is divided by its maximum for `n_answers` answers, by default `max_answers`.
    """
    distributions = _distributions(judgements)
    largest_support = n_answers or _max_support(distributions)
    return {
        item: _answer(answers_of_item, largest_support, pair=bool(item[2]))
        for item, answers_of_item in distributions.items()
    }


def max_answers(judgements: Iterable[Judgement]) -> int:
    """Return the judge's maximum number of distinct answers to one item."""
    return _max_support(_distributions(judgements))


def _distributions(judgements: Iterable[Judgement]) -> _DistributionsByItem:
    distributions: _DistributionsByItem = defaultdict(list)
    for row in judgements:
        if row.value is not None:
            item, sign = item_key(row)
            distributions[item].append((order_by_name(row, sign), _distribution(row, sign)))
    return distributions


def _max_support(distributions: _DistributionsByItem) -> int:
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
    probability_by_value = {_number(name): p for name, p in (row.probabilities or {}).items()}
    shares_by_value = {value: p for value, p in probability_by_value.items() if value is not None}
    total = sum(shares_by_value.values())
    if total and len(shares_by_value) == len(probability_by_value):
        return {value: p / total for value, p in shares_by_value.items()}
    return _split_between_levels(float(row.value or 0.0))


def _number(text: str) -> float | None:
    word = {"yes": "1", "no": "0", "true": "1", "false": "0"}.get(text.strip().lower(), text)
    try:
        return float(word)
    except ValueError:
        return None


def _split_between_levels(value: float) -> dict[float, float]:
    """Split the probability between the two adjacent levels: 0.9 is a yes with probability 0.9."""
    low = float(floor(value))
    upper_share = value - low
    return {low: 1.0 - upper_share, low + 1.0: upper_share} if upper_share else {low: 1.0}


def _answer(
    answers_of_item: list[tuple[Order | None, Mapping[float, float]]], largest: int, *, pair: bool
) -> Answer:
    by_order: dict[Order | None, list[Mapping[float, float]]] = defaultdict(list)
    for order, shares in answers_of_item:
        by_order[order].append(shares)
    mean_distribution: dict[float, float] = defaultdict(float)
    for rows in by_order.values():
        for shares in rows:
            for value, p in shares.items():
                mean_distribution[value] += p / len(rows) / len(by_order)
    entropy = -sum(p * log(p) for p in mean_distribution.values() if p > 0.0)
    max_probability = max(mean_distribution.values())
    likeliest_values = [
        value for value, p in mean_distribution.items() if p >= max_probability - 1e-12
    ]
    value = 0.0 if pair and len(likeliest_values) > 1 else min(likeliest_values)
    confidence = 1.0 - entropy / log(max(largest, 2))
    return Answer(
        value=value,
        confidence=min(max(confidence, 0.0), 1.0),
        n_judgements=len(answers_of_item),
        one_order=pair and len(by_order) < 2,
    )
