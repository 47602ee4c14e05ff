"""The alternative annotator test: whether the judge may replace an annotator.

Source: Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge",
section 3.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray, document_codes, vector
from fairjudge.stats.clustered import influence_variance
from fairjudge.stats.multiplicity import benjamini_yekutieli
from fairjudge.text.counting import pluralize

Alignment: TypeAlias = Literal["rmse", "accuracy"]
Expertise: TypeAlias = Literal["expert", "skilled", "crowd"]
COST_MARGINS: dict[Expertise, float] = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}

FEWEST_ANNOTATORS = 3
FEWEST_ITEMS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorComparison:
    """The judge compared with one annotator, by agreement with the remaining annotators.

    ``judge_advantage`` is the share of the annotator's items on which the judge agrees with
    the rest at least as well as the annotator does, ``annotator_advantage`` the reverse; ties count
    in both. ``p_value`` is one-sided for judge_advantage > annotator_advantage - epsilon.
    """

    annotator: str
    n_items: int
    judge_advantage: float
    annotator_advantage: float
    p_value: float
    adjusted_p_value: float
    beaten: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeAnnotatorTest:
    """The result: ``winning_rate`` (omega) and ``advantage_probability`` (rho), both in [0, 1].

    ``passes`` is true if omega is at least 0.5: the judge may replace an annotator. ``left_out``
    are annotators with too few items, with their numbers of items.
    """

    winning_rate: float
    advantage_probability: float
    passes: bool
    epsilon: float
    alignment: Alignment
    annotators: tuple[AnnotatorComparison, ...]
    left_out: tuple[tuple[str, int], ...]


def alternative_annotator_test(
    judged: ArrayLike,
    ratings: FloatArray,
    present: BoolArray,
    *,
    annotators: Sequence[str],
    epsilon: float,
    alignment: Alignment = "rmse",
    documents: Sequence[Hashable] | None = None,
    alpha: float = 0.05,
) -> AlternativeAnnotatorTest | Undefined:
    """Run the alternative annotator test.

    Undefined with fewer than `FEWEST_ANNOTATORS` annotators who share `FEWEST_ITEMS` items with
    others.

    Parameters
    ----------
    judged : array of shape (n,)
        The judge's score of each item.
    ratings, present : arrays of shape (n, m)
        Labels of m annotators; `present` is False for missing labels.
    epsilon
        Cost margin, such as one of `COST_MARGINS`: the discount for the judge's lower cost.
    alignment
        ``"rmse"`` for ordered scales, ``"accuracy"`` for categories.
    documents
        The document of each item, for a paired t-test with the variance between documents; by
        default items are independent, as in the paper.
    """
    scores = vector(judged, name="judged")
    n = scores.size
    if ratings.shape != present.shape or ratings.shape != (n, len(annotators)):
        raise StatisticsError(
            f"expected shape {(n, len(annotators))!r}, got {ratings.shape!r}, {present.shape!r}"
        )
    vector(ratings[present], name="ratings")
    shared = present & (present.sum(axis=1, keepdims=True) >= 2)
    sizes = shared.sum(axis=0)
    enough = np.flatnonzero(sizes >= FEWEST_ITEMS)
    if enough.size < FEWEST_ANNOTATORS:
        return Undefined(
            why=f"{pluralize(enough.size, 'annotator')} with {FEWEST_ITEMS} or more shared items: "
            f"the test needs {FEWEST_ANNOTATORS}"
        )
    chosen = {int(j): np.flatnonzero(shared[:, j]) for j in enough}
    wins = {
        j: _advantages(scores, ratings, present, annotator=j, rows=rows, alignment=alignment)
        for j, rows in chosen.items()
    }
    p_values = [_one_sided_p(wins[j], epsilon, documents, rows) for j, rows in chosen.items()]
    names = [annotators[j] for j in chosen]
    compared = _comparisons(names, list(wins.values()), p_values, alpha)
    omega = sum(comparison.beaten for comparison in compared) / len(compared)
    return AlternativeAnnotatorTest(
        winning_rate=omega,
        advantage_probability=float(np.mean([judge.mean() for judge, _ in wins.values()])),
        passes=omega >= 0.5,
        epsilon=epsilon,
        alignment=alignment,
        annotators=compared,
        left_out=tuple(
            (name, int(size))
            for name, size in zip(annotators, sizes, strict=True)
            if size < FEWEST_ITEMS
        ),
    )


def _comparisons(
    annotators: Sequence[str],
    wins: Sequence[tuple[FloatArray, FloatArray]],
    p_values: Sequence[float],
    alpha: float,
) -> tuple[AnnotatorComparison, ...]:
    """Compare the judge with each annotator, by p-values adjusted for their number."""
    adjusted = benjamini_yekutieli(p_values).tolist()
    return tuple(
        AnnotatorComparison(
            annotator=annotator,
            n_items=judge.size,
            judge_advantage=float(judge.mean()),
            annotator_advantage=float(person.mean()),
            p_value=p_value,
            adjusted_p_value=q_value,
            beaten=q_value < alpha,
        )
        for annotator, (judge, person), p_value, q_value in zip(
            annotators, wins, p_values, adjusted, strict=True
        )
    )


def _advantages(
    scores: FloatArray,
    ratings: FloatArray,
    present: BoolArray,
    *,
    annotator: int,
    rows: IntArray,
    alignment: Alignment,
) -> tuple[FloatArray, FloatArray]:
    """Return, item by item, whether the judge, and whether the annotator, does as well."""
    others = np.ix_(rows, np.delete(np.arange(ratings.shape[1]), annotator))
    other_ratings, other_present = ratings[others], present[others]
    judge = _disagreement(scores[rows], other_ratings, other_present, alignment)
    person = _disagreement(ratings[rows, annotator], other_ratings, other_present, alignment)
    # Distances that differ by rounding alone are ties, which both sides win.
    near = np.isclose(judge, person, rtol=1e-12, atol=1e-12)
    judge_wins, person_wins = near | (judge < person), near | (person < judge)
    return judge_wins.astype(np.float64), person_wins.astype(np.float64)


def _disagreement(
    values: FloatArray, other_ratings: FloatArray, other_present: BoolArray, alignment: Alignment
) -> FloatArray:
    """Return each value's disagreement with the other annotators, shape (n,)."""
    gap = np.where(other_present, values[:, None] - other_ratings, 0.0)
    if alignment == "accuracy":
        return np.asarray((gap != 0.0).sum(axis=1) / other_present.sum(axis=1))
    return np.asarray(np.sqrt((gap**2).sum(axis=1) / other_present.sum(axis=1)))


def _one_sided_p(
    wins: tuple[FloatArray, FloatArray],
    epsilon: float,
    documents: Sequence[Hashable] | None,
    rows: IntArray,
) -> float:
    """Return the p-value of the null: the annotator's advantage exceeds the judge's by epsilon."""
    difference = wins[1] - wins[0]
    names = None if documents is None else [documents[row] for row in rows]
    coded, d = document_codes(names, difference.size)
    mean = float(difference.mean())
    error = influence_variance((difference - mean) / difference.size, coded, d) ** 0.5
    if error == 0.0 or d < 2:
        return 0.0 if mean < epsilon and d >= 2 else 1.0
    return float(stdtr(d - 1, (mean - epsilon) / error))
