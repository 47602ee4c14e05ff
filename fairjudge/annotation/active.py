"""Draw the items whose labels narrow the interval most, with known probabilities.

The variance of the prediction-powered mean falls fastest when an item is drawn with probability
proportional to the root of the expected squared residual of the judge (Zrnic and Candes 2024,
"Active statistical inference", section 3; Neyman's allocation). That residual is not known before
the label, so the judge's own uncertainty is used in its place, mixed with a uniform share (their
section 3.1) that keeps weights bounded where the judge is wrongly certain. Items are drawn
independently (Poisson sampling) by a random number of each item, so that a larger budget keeps all
items of a smaller one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairjudge.annotation.items import Item
from fairjudge.annotation.planning import ItemKey, item_key, own_number
from fairjudge.calibration.grouping import GroupKey, with_group_keys
from fairjudge.calibration.scales import infer_scale
from fairjudge.domain import Judgement
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS

Floats = NDArray[np.float64]
RowsByItem: TypeAlias = Mapping[ItemKey, Sequence[Judgement]]
Target: TypeAlias = Literal["mean", "correlation"]
"""The estimate whose interval labels narrow: each system's mean, or the correlation with humans."""
PLANNED_CORRELATION = 0.5
"""The correlation for which items are drawn; others get valid but wider intervals."""
_SIGNS = {"a": 1.0, "b": 0.0, "tie": 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """The items drawn and the probability of each item, drawn or not, in (0, 1].

    ``n_judged`` items have a judgement; ``informative`` is false where the judge's uncertainty is
    the same for all, so that the draw is uniform.
    """

    drawn: tuple[int, ...]
    probabilities: tuple[float, ...]
    n_judged: int
    informative: bool


def draw(
    items: Sequence[Item],
    judgements: Iterable[Judgement],
    *,
    budget: int,
    random_share: float = 0.25,
    target: Target = "mean",
    seed: int = 0,
    leave_out: Iterable[int] = (),
) -> Draw:
    """Draw about `budget` of `items`, without those whose numbers are in `leave_out`.

    Each system (or pair of systems) gets a proportional part of the budget, since each has an
    interval of its own. Items without a judgement count with average uncertainty. `random_share`,
    in (0, 1], is the part of the budget that is drawn uniformly. Raises InputError if no
    judgement matches an item.
    """
    excluded_numbers = set(leave_out)
    numbers = [n for n in range(len(items)) if n not in excluded_numbers]
    rows = tuple(judgements)
    candidates = [items[n] for n in numbers]
    uncertainties = uncertainty(candidates, rows)
    if not uncertainties:
        raise InputError(
            "no judgement matches an item: judge the same files and aspect with the unit of the "
            f"items, such as {candidates[0].unit!r}"
        )
    mean = float(np.mean(list(uncertainties.values())))
    scores = _mean_of_judges(candidates, rows, _standard_scores) if target == "correlation" else {}
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number in numbers:
        groups[() if scores else items[number].systems].append(number)
    probabilities = [0.0] * len(items)
    for group in groups.values():
        keys = [item_key(items[n])[0] for n in group]
        variances = np.array([uncertainties.get(key, mean) for key in keys])
        sizes = (
            correlation_sizes(variances, np.array([scores.get(key, 0.0) for key in keys]))
            if scores
            else np.sqrt(variances)
        )
        part = budget * len(group) / len(numbers)
        for number, p in zip(group, inclusion(sizes, part, random_share), strict=True):
            probabilities[number] = float(p)
    return Draw(
        drawn=tuple(
            n for n in numbers if own_number(items[n].id, f"draw {seed}") < probabilities[n]
        ),
        probabilities=tuple(probabilities),
        n_judged=len(uncertainties),
        informative=len({round(v, 12) for v in (*uncertainties.values(), *scores.values())}) > 1,
    )


def correlation_sizes(variances: Floats, scores: Floats) -> Floats:
    """Return the sampling weights of items for estimating the correlation r, shape (n,).

    A label moves r by (1 - r^2) z e - (r / 2)(e^2 - its mean), with z the judge's standard score
    and e the residual of the human score, with variance 1 - r^2 times the judge's relative variance
    (`variances`). The weight is the root mean square of this change, for normal residuals (as arXiv
    2606.15029 chooses labels).
    """
    r = PLANNED_CORRELATION
    sizes: Floats = np.sqrt((1.0 - r**2) * variances * scores**2 + r**2 / 2.0 * variances**2)
    return sizes


def _standard_scores(rows: RowsByItem) -> dict[ItemKey, float]:
    """Return the standardised judged score of each item; 0 for all if the judge is constant."""
    means = {
        key: float(np.mean([_number(row) for row in members])) for key, members in rows.items()
    }
    spread = float(np.std(list(means.values())))
    center = float(np.mean(list(means.values())))
    return {key: (value - center) / spread if spread else 0.0 for key, value in means.items()}


def inclusion(sizes: Floats, budget: float, random_share: float) -> Floats:
    """Return inclusion probabilities, shape (n,), that sum to `budget` (or to n, if that is less).

    Each is ``min(1, c (random_share / n + (1 - random_share) size / sum(sizes)))``; c is found by
    fixing the largest at 1 until the remaining ones are at most 1.
    """
    n = len(sizes)
    if budget >= n:
        return np.ones(n)
    total = float(sizes.sum())
    even = np.full(n, 1.0 / n)
    z = even if total == 0.0 else random_share * even + (1.0 - random_share) * sizes / total
    order = np.argsort(-z)
    tail_sums = np.cumsum(z[order][::-1])[::-1]
    for n_fixed in range(n):
        c = (budget - n_fixed) / tail_sums[n_fixed]
        if c * z[order[n_fixed]] <= 1.0:
            break
    probabilities: Floats = np.minimum(1.0, c * z)
    return probabilities


def uncertainty(items: Sequence[Item], judgements: Iterable[Judgement]) -> dict[ItemKey, float]:
    """Return the judges' uncertainty about each item, at least 0 and with a mean of 1.

    It is the variance of the judge's distribution over its answers, if any; otherwise p (1 - p),
    with p in [0, 1] the mean score mapped from the range of the scale, or the support of a local
    judge's yes or no. A pair whose two orders disagree has p = 1/2. Several judges are averaged.
    """
    return _mean_of_judges(items, judgements, _judge_uncertainty)


def _mean_of_judges(
    items: Sequence[Item],
    judgements: Iterable[Judgement],
    value_by_item: Callable[[RowsByItem], Mapping[ItemKey, float]],
) -> dict[ItemKey, float]:
    """Return, per item, the mean over judges of a value of a judge's scored judgements."""
    keys = {item_key(item)[0] for item in items}
    aspect = items[0].aspect if items else ""
    by_judge: dict[GroupKey, dict[ItemKey, list[Judgement]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for group, row in with_group_keys(judgements):
        key, _ = item_key(row)
        if key in keys and row.aspect == aspect and row.value is not None:
            by_judge[group][key].append(row)
    by_item: dict[ItemKey, list[float]] = defaultdict(list)
    for rows in by_judge.values():
        for key, value in value_by_item(rows).items():
            by_item[key].append(value)
    return {key: sum(values) / len(values) for key, values in by_item.items()}


def _judge_uncertainty(rows: RowsByItem) -> dict[ItemKey, float]:
    values = {key: [_number(row) for row in judgements] for key, judgements in rows.items()}
    protocol = next(iter(rows.values()))[0].protocol
    all_values = np.array([value for numbers in values.values() for value in numbers])
    low, high = (0.0, 1.0) if PROTOCOLS[protocol].paired else infer_scale(all_values, protocol)
    high = high if high > low else low + 1.0
    uncertainties = {}
    for key, judgements in rows.items():
        variances = [
            _answer_variance(row.probabilities, low, high)
            for row in judgements
            if row.probabilities
        ]
        p = min(1.0, max(0.0, (sum(values[key]) / len(judgements) - low) / (high - low)))
        uncertainties[key] = sum(variances) / len(variances) if variances else p * (1.0 - p)
    mean = sum(uncertainties.values()) / len(uncertainties)
    return {key: value / mean if mean else 1.0 for key, value in uncertainties.items()}


def _number(row: Judgement) -> float:
    """Return the score; for a pair 1, 1/2 or 0, where 1 prefers the alphabetically first system."""
    if not isinstance(row.value, str):
        support = (row.model_extra or {}).get("support")
        if PROTOCOLS[row.protocol].yes_no and isinstance(support, list) and support:
            return float(np.mean(support))
        return float(row.value or 0.0)
    value = _SIGNS[row.value]
    return 1.0 - value if item_key(row)[1] else value


def _answer_variance(probabilities: Mapping[str, float], low: float, high: float) -> float:
    """Return the variance on the scale mapped to [0, 1]; for text labels half the Gini impurity."""
    try:
        positions = [(float(answer) - low) / (high - low) for answer in probabilities]
    except ValueError:
        return 0.5 * (1.0 - sum(p * p for p in probabilities.values()))
    mean = sum(x * p for x, p in zip(positions, probabilities.values(), strict=True))
    return sum(p * (x - mean) ** 2 for x, p in zip(positions, probabilities.values(), strict=True))
