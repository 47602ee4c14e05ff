"""Selective judging: a guaranteed agreement of confident answers with human labels.

Only answers whose confidence reaches a threshold are accepted. Thresholds of a fixed grid are
tested from the strictest down, until one fails (fixed-sequence testing, from three starting points
that share the error 1 - confidence); the lowest threshold that passes is used. With the given
confidence over the labelled documents, the agreement of all accepted answers, labelled or not, is
at least the guaranteed one. Source: Jung, Brahman and Choi (2025), "Trust or Escalate", section
2.1; Angelopoulos et al. (2021), "Learn then test", for the procedure.

Labels must be of a random sample of the judged items. Thresholds with too few accepted labels to
pass are skipped, depending only on confidences. The guarantee is exact if more confident answers
are not wrong more often.
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
"""Candidate confidence thresholds, from the strictest down."""
_STARTS = (1, 2, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """A confidence threshold for accepting answers, and the guaranteed agreement.

    ``threshold`` is None if no threshold passes; then no answer is accepted. ``kept`` is the share
    of all items that are accepted, and ``agreement`` that of the accepted labelled items, in
    [0, 1]. Since the threshold was chosen on the same labels, the guarantee follows from the test,
    not from the interval of ``agreement``. ``overall`` is the agreement of all labelled items.
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
    """Find the threshold that accepts the most answers with the guaranteed agreement.

    Undefined if there are too few labels to pass even without any disagreement.

    Parameters
    ----------
    confidences : array of shape (n,), in [0, 1]
        Confidences of labelled items.
    agrees : array of shape (n,), 0 or 1
        Whether the judge's answer agrees with the label.
    agreement, confidence
        The guaranteed agreement, and the confidence of the guarantee; strictly between 0 and 1.
    rest, rest_documents
        Confidences and documents of unlabelled items, which count for the share accepted.

    Notes
    -----
    With one item per document, the test is the exact binomial test. With several, documents are
    independent and have equal weight, regardless of how many of their items are accepted; the test
    bets on their shares of disagreement, in random order, and is valid for any number of documents.
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
    fewest = min_labels(agreement, confidence)
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

    threshold = _lowest_threshold(p_value, n_kept, fewest, 1 - confidence)
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


def min_labels(agreement: float, confidence: float) -> int:
    """Return the minimum number of labels to pass without disagreement: 39 for 0.9 and 0.95."""
    return ceil(log((1.0 - confidence) / len(_STARTS)) / log(agreement))


def binomial_p_value(n_wrong: int, n: int, max_error: float) -> float:
    """Return the exact p-value of the null that the error rate is at least `max_error`."""
    return float(bdtr(n_wrong, n, max_error)) if n else 1.0


def betting_p_value(wrong: FloatArray, max_error: float) -> float:
    """Return a p-value of the null ``E[wrong] > max_error``, for independent values in [0, 1].

    It is 1 / the maximum capital of a bettor (Ville's inequality; Waudby-Smith and Ramdas 2024).
    Each bet is that the next value is below `max_error`; the stake depends on the previous values
    (minus their sum / their sum of squares, at most three quarters of the stake that can lose all).
    """
    capital = largest = 1.0
    total, square = 0.0, 0.25 * max_error * (1.0 - max_error)
    for value in (wrong - max_error).tolist():
        stake = min(max(-total / square, 0.0), 0.75 / (1.0 - max_error))
        capital *= 1.0 - stake * value
        largest = max(largest, capital)
        total, square = total + value, square + value * value
    return 1.0 / largest


def _lowest_threshold(
    p_value: Callable[[int], float], n_kept: IntArray, fewest: int, level: float
) -> float | None:
    """Return the lowest threshold of `GRID` that passes; `n_kept` counts each one's documents.

    One sequence starts at the first threshold with enough labels to pass without errors, others at
    twice and four times as many, each with an equal part of `level`; otherwise one early error
    would end the procedure.
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
    """Return the share of each document's accepted items that disagree; NaN without such items."""
    n = np.bincount(coded[above], minlength=n_documents).astype(np.float64)
    wrong = np.bincount(coded[above], weights=1.0 - agrees[above], minlength=n_documents)
    return divide(wrong.astype(np.float64), n)
