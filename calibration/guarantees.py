"""When a judge's answers agree with people as often as promised: selective judging.

Only answers of at least a threshold of confidence are kept. Thresholds of a fixed grid are tested
from the strictest down, until one fails (fixed-sequence testing, from three starts that share
1 - confidence): the laxest that held is used. With the stated confidence over the labelled
documents, the agreement of all kept answers, labelled or not, is at least the promised one. Source:
Jung, Brahman and Choi (2025), "Trust or Escalate", section 2.1; Angelopoulos et al. (2021), "Learn
then test", for the procedure.

Labels must be a random draw of what is judged. Thresholds that keep too few labels to pass are
passed over, by confidences alone; the promise is exact where surer answers are not wrong more
often.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import ceil, log

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    check_level,
    document_codes,
    same_length,
    vector,
)
from fairjudge.stats.bootstrap import divide
from fairjudge.stats.intervals import clustered_wilson
from fairjudge.text.counting import pluralize

GRID: FloatArray = np.linspace(1.0, 0.0, 101)
"""Thresholds of confidence that are tried, from the strictest down."""
_STARTS = (1, 2, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """A confidence threshold for keeping answers, and the guaranteed agreement.

    ``threshold`` is None where no threshold keeps the promise: nothing is kept. ``kept`` is the
    share of all items that are kept, ``agreement`` the kept labelled items' agreement, in [0, 1];
    having been looked at, it is no proof of the promise, which is the test's. ``overall`` is the
    agreement if all were kept.
    """

    agreement_promised: float
    confidence: float
    threshold: float | None
    kept: Estimate | Undefined
    agreement: Estimate | Undefined
    overall: Estimate | Undefined
    n_labelled: int
    n_kept_labelled: int
    test: str


def guarantee(
    confidences: ArrayLike,
    agrees: ArrayLike,
    documents: Sequence[Hashable],
    *,
    agreement: float,
    confidence: float,
    rest: ArrayLike = (),
    rest_documents: Sequence[Hashable] = (),
    rng: np.random.Generator,
) -> Guarantee | Undefined:
    """Find the threshold that keeps most answers under the promise.

    Undefined where even without a single disagreement all labels would be too few.

    Parameters
    ----------
    confidences : array of shape (n,), in [0, 1]
        Of labelled items.
    agrees : array of shape (n,), 0 or 1
        Whether the judge's answer is people's.
    agreement, confidence
        What is promised, and how surely; strictly between 0 and 1.
    rest, rest_documents
        Confidences of items without a label, which count for the share that is kept.

    Notes
    -----
    One item a document: the exact binomial test. Several: documents are the independent draws and
    weigh alike, whatever number of their items is kept; the test is a bet on their shares of
    disagreement, in random order, and valid for any number of documents.
    """
    check_level(agreement)
    check_level(confidence)
    c, y = vector(confidences, name="confidences"), vector(agrees, name="agrees")
    unlabelled = vector(rest, name="rest")
    same_length(confidences=c, agrees=y, documents=documents)
    same_length(rest=unlabelled, rest_documents=rest_documents)
    if not np.all(np.isin(y, (0.0, 1.0))):
        raise StatisticsError("agrees must be 0 or 1")
    all_confidences = np.r_[c, unlabelled]
    if all_confidences.size and (all_confidences.min() < 0.0 or all_confidences.max() > 1.0):
        raise StatisticsError("confidences must lie in [0, 1]")
    coded, n_documents = document_codes(documents, c.size)
    fewest = fewest_labels(agreement, confidence)
    if n_documents < fewest:
        has = pluralize(n_documents, "labelled document")
        return Undefined(why=f"{has}: {fewest} are needed even if all agree")
    single = n_documents == c.size
    order = rng.permutation(n_documents)
    best = np.zeros(n_documents)
    np.maximum.at(best, coded, c)
    n_kept = (best >= GRID[:, None]).sum(axis=1)

    def p_value(place: int) -> float:
        above = c >= GRID[place]
        if single:
            return binomial_p_value(
                int(np.sum(above & (y == 0.0))), int(above.sum()), 1 - agreement
            )
        wrong = _wrong_by_document(above, y, coded, n_documents)[order]
        return betting_p_value(wrong[~np.isnan(wrong)], 1 - agreement)

    threshold = _most_kept(p_value, n_kept, fewest, 1 - confidence)
    bar = np.inf if threshold is None else threshold
    rows_above = np.flatnonzero(c >= bar)
    is_kept = (all_confidences >= bar).astype(np.float64)
    return Guarantee(
        agreement_promised=agreement,
        confidence=confidence,
        threshold=threshold,
        kept=clustered_wilson(is_kept, [*documents, *rest_documents]),
        agreement=clustered_wilson(y[rows_above], [documents[row] for row in rows_above.tolist()]),
        overall=clustered_wilson(y, documents),
        n_labelled=c.size,
        n_kept_labelled=int(rows_above.size),
        test="exact binomial" if single else "betting over documents, each weighing alike",
    )


def fewest_labels(agreement: float, confidence: float) -> int:
    """Return how many labels without one disagreement keep the promise: 39 for 0.9 and 0.95."""
    return ceil(log((1.0 - confidence) / len(_STARTS)) / log(agreement))


def binomial_p_value(n_wrong: int, n: int, most_wrong: float) -> float:
    """Return P(at most `n_wrong` of `n` are wrong) where a share `most_wrong` is: exact."""
    return float(bdtr(n_wrong, n, most_wrong)) if n else 1.0


def betting_p_value(wrong: FloatArray, most_wrong: float) -> float:
    """Return a p-value of ``E[wrong] > most_wrong`` for independent values in [0, 1].

    The capital of a bettor who stakes on the next value's lying below `most_wrong`, by the values
    before it (minus their sum over their sum of squares, at most three quarters of what can be
    lost); 1 over the largest capital reached (Ville's inequality; Waudby-Smith and Ramdas 2024).
    """
    capital = largest = 1.0
    total, square = 0.0, 0.25 * most_wrong * (1.0 - most_wrong)
    for value in (wrong - most_wrong).tolist():
        stake = min(max(-total / square, 0.0), 0.75 / (1.0 - most_wrong))
        capital *= 1.0 - stake * value
        largest = max(largest, capital)
        total, square = total + value, square + value * value
    return 1.0 / largest


def _most_kept(
    p_value: Callable[[int], float], n_kept: IntArray, fewest: int, level: float
) -> float | None:
    """Return the laxest threshold of `GRID` that held; `n_kept` counts the documents of each.

    One sequence begins where enough labels are kept to pass without an error, others at twice and
    four times as many, with an equal part of `level`: one early error would else end everything.
    """
    best = -1
    for times in _STARTS:
        for place in np.flatnonzero(n_kept >= times * fewest).tolist():
            if p_value(place) > level / len(_STARTS):
                break
            best = max(best, place)
    return None if best < 0 else float(GRID[best])


def _wrong_by_document(
    above: BoolArray, agrees: FloatArray, coded: IntArray, n_documents: int
) -> FloatArray:
    """Return the share of each document's kept items that disagree; NaN where none is kept."""
    n = np.bincount(coded[above], minlength=n_documents).astype(np.float64)
    wrong = np.bincount(coded[above], weights=1.0 - agrees[above], minlength=n_documents)
    return divide(wrong.astype(np.float64), n)
