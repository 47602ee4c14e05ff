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

MIN_ANNOTATORS = 3
MIN_ITEMS = 30


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

    Undefined with fewer than `MIN_ANNOTATORS` annotators who share `MIN_ITEMS` items with
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
    is_shared = present & (present.sum(axis=1, keepdims=True) >= 2)
    n_shared = is_shared.sum(axis=0)
    eligible = np.flatnonzero(n_shared >= MIN_ITEMS)
    if eligible.size < MIN_ANNOTATORS:
        return Undefined(
            why=f"{pluralize(eligible.size, 'annotator')} with {MIN_ITEMS} or more shared items: "
            f"the test needs {MIN_ANNOTATORS}"
        )
    rows_by_annotator = {int(j): np.flatnonzero(is_shared[:, j]) for j in eligible}
    wins = {
        j: _wins(scores, ratings, present, annotator=j, rows=rows, alignment=alignment)
        for j, rows in rows_by_annotator.items()
    }
    p_values = [
        _one_sided_p_value(wins[j], epsilon, documents, rows)
        for j, rows in rows_by_annotator.items()
    ]
    names = [annotators[j] for j in rows_by_annotator]
    comparisons = _compare_annotators(names, list(wins.values()), p_values, alpha)
    winning_rate = sum(comparison.beaten for comparison in comparisons) / len(comparisons)
    return AlternativeAnnotatorTest(
        winning_rate=winning_rate,
        advantage_probability=float(np.mean([judge.mean() for judge, _ in wins.values()])),
        passes=winning_rate >= 0.5,
        epsilon=epsilon,
        alignment=alignment,
        annotators=comparisons,
        left_out=tuple(
            (name, int(n)) for name, n in zip(annotators, n_shared, strict=True) if n < MIN_ITEMS
        ),
    )


def _compare_annotators(
    annotators: Sequence[str],
    wins: Sequence[tuple[FloatArray, FloatArray]],
    p_values: Sequence[float],
    alpha: float,
) -> tuple[AnnotatorComparison, ...]:
    """Return the comparison with each annotator, with p-values adjusted for all of them."""
    adjusted_p_values = benjamini_yekutieli(p_values).tolist()
    return tuple(
        AnnotatorComparison(
            annotator=annotator,
            n_items=judge_wins.size,
            judge_advantage=float(judge_wins.mean()),
            annotator_advantage=float(annotator_wins.mean()),
            p_value=p_value,
            adjusted_p_value=adjusted_p_value,
            beaten=adjusted_p_value < alpha,
        )
        for annotator, (judge_wins, annotator_wins), p_value, adjusted_p_value in zip(
            annotators, wins, p_values, adjusted_p_values, strict=True
        )
    )


def _wins(
    scores: FloatArray,
    ratings: FloatArray,
    present: BoolArray,
    *,
    annotator: int,
    rows: IntArray,
    alignment: Alignment,
) -> tuple[FloatArray, FloatArray]:
    """Return masks of the items that the judge wins and that the annotator wins (both for ties)."""
    other_annotators = np.ix_(rows, np.delete(np.arange(ratings.shape[1]), annotator))
    other_ratings, other_present = ratings[other_annotators], present[other_annotators]
    judge_disagreement = _disagreement(scores[rows], other_ratings, other_present, alignment)
    annotator_disagreement = _disagreement(
        ratings[rows, annotator], other_ratings, other_present, alignment
    )
    # Disagreements that differ only by rounding errors are ties, which both sides win.
    is_tie = np.isclose(judge_disagreement, annotator_disagreement, rtol=1e-12, atol=1e-12)
    judge_wins, annotator_wins = (
        is_tie | (judge_disagreement < annotator_disagreement),
        is_tie | (annotator_disagreement < judge_disagreement),
    )
    return judge_wins.astype(np.float64), annotator_wins.astype(np.float64)


def _disagreement(
    values: FloatArray, other_ratings: FloatArray, other_present: BoolArray, alignment: Alignment
) -> FloatArray:
    """Return each value's disagreement with the other annotators, shape (n,)."""
    differences = np.where(other_present, values[:, None] - other_ratings, 0.0)
    if alignment == "accuracy":
        return np.asarray((differences != 0.0).sum(axis=1) / other_present.sum(axis=1))
    return np.asarray(np.sqrt((differences**2).sum(axis=1) / other_present.sum(axis=1)))


def _one_sided_p_value(
    wins: tuple[FloatArray, FloatArray],
    epsilon: float,
    documents: Sequence[Hashable] | None,
    rows: IntArray,
) -> float:
    """Return the p-value of the null: the annotator's advantage exceeds the judge's by epsilon."""
    difference = wins[1] - wins[0]
    row_document_names = None if documents is None else [documents[row] for row in rows]
    row_documents, n_documents = document_codes(row_document_names, difference.size)
    mean = float(difference.mean())
    standard_error = (
        influence_variance((difference - mean) / difference.size, row_documents, n_documents) ** 0.5
    )
    if standard_error == 0.0 or n_documents < 2:
        return 0.0 if mean < epsilon and n_documents >= 2 else 1.0
    return float(stdtr(n_documents - 1, (mean - epsilon) / standard_error))
