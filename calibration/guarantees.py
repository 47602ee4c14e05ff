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
_START_FACTORS = (1, 2, 4)


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
    labelled_confidences, is_right = (
        vector(confidences, name="confidences"),
        vector(agrees, name="agrees"),
    )
    rest_confidences = vector(rest, name="rest")
    same_length(confidences=labelled_confidences, agrees=is_right, documents=documents)
    same_length(rest=rest_confidences, rest_documents=rest_documents)
    if not np.all(np.isin(is_right, (0.0, 1.0))):
        raise StatisticsError("agrees must be 0 or 1")
    all_confidences = np.r_[labelled_confidences, rest_confidences]
    if all_confidences.size and (all_confidences.min() < 0.0 or all_confidences.max() > 1.0):
        raise StatisticsError("confidences must lie in [0, 1]")
    row_documents, n_documents = document_codes(documents, labelled_confidences.size)
    min_documents = min_labels(agreement, confidence)
    if n_documents < min_documents:
        documents_text = pluralize(n_documents, "labelled document")
        return Undefined(why=f"{documents_text}: {min_documents} are needed even if all agree")
    one_item_per_document = n_documents == labelled_confidences.size
    document_order = rng.permutation(n_documents)
    max_confidences = np.zeros(n_documents)
    np.maximum.at(max_confidences, row_documents, labelled_confidences)
    n_accepted = (max_confidences >= GRID[:, None]).sum(axis=1)

    def p_value(index: int) -> float:
        is_accepted = labelled_confidences >= GRID[index]
        if one_item_per_document:
            return binomial_p_value(
                int(np.sum(is_accepted & (is_right == 0.0))), int(is_accepted.sum()), 1 - agreement
            )
        error_shares = _error_shares(is_accepted, is_right, row_documents, n_documents)[
            document_order
        ]
        return betting_p_value(error_shares[~np.isnan(error_shares)], 1 - agreement)

    threshold = _lowest_threshold(p_value, n_accepted, min_documents, 1 - confidence)
    lowest_confidence = np.inf if threshold is None else threshold
    accepted_rows = np.flatnonzero(labelled_confidences >= lowest_confidence)
    is_accepted = (all_confidences >= lowest_confidence).astype(np.float64)
    return Guarantee(
        agreement_promised=agreement,
        confidence=confidence,
        threshold=threshold,
        kept=clustered_wilson(is_accepted, [*documents, *rest_documents]),
        agreement=clustered_wilson(
            is_right[accepted_rows], [documents[row] for row in accepted_rows.tolist()]
        ),
        overall=clustered_wilson(is_right, documents),
        n_labelled=labelled_confidences.size,
        n_kept_labelled=int(accepted_rows.size),
        test="exact binomial"
        if one_item_per_document
        else "betting over documents with equal weights",
    )


def min_labels(agreement: float, confidence: float) -> int:
    """Return the minimum number of labels to pass without disagreement: 39 for 0.9 and 0.95."""
    return ceil(log((1.0 - confidence) / len(_START_FACTORS)) / log(agreement))


def binomial_p_value(n_wrong: int, n: int, max_error: float) -> float:
    """Return the exact p-value of the null that the error rate is at least `max_error`."""
    return float(bdtr(n_wrong, n, max_error)) if n else 1.0


def betting_p_value(error_shares: FloatArray, max_error: float) -> float:
    """Return a p-value of the null ``E[wrong] > max_error``, for independent values in [0, 1].

    It is 1 / the maximum capital of a bettor (Ville's inequality; Waudby-Smith and Ramdas 2024).
    Each bet is that the next value is below `max_error`; the stake depends on the previous values
    (minus their sum / their sum of squares, at most three quarters of the stake that can lose all).
    """
    capital = largest = 1.0
    sum_of_values, sum_of_squares = 0.0, 0.25 * max_error * (1.0 - max_error)
    for value in (error_shares - max_error).tolist():
        stake = min(max(-sum_of_values / sum_of_squares, 0.0), 0.75 / (1.0 - max_error))
        capital *= 1.0 - stake * value
        largest = max(largest, capital)
        sum_of_values, sum_of_squares = sum_of_values + value, sum_of_squares + value * value
    return 1.0 / largest


def _lowest_threshold(
    p_value: Callable[[int], float], n_accepted: IntArray, min_documents: int, level: float
) -> float | None:
    """Return the lowest threshold of `GRID` that passes; `n_accepted` counts each one's documents.

    One sequence starts at the first threshold with enough labels to pass without errors, others at
    twice and four times as many, each with an equal part of `level`; otherwise one early error
    would end the procedure.
    """
    best_index = -1
    for factor in _START_FACTORS:
        for index in np.flatnonzero(n_accepted >= factor * min_documents).tolist():
            if p_value(index) > level / len(_START_FACTORS):
                break
            best_index = max(best_index, index)
    return None if best_index < 0 else float(GRID[best_index])


def _error_shares(
    is_accepted: BoolArray, agrees: FloatArray, row_documents: IntArray, n_documents: int
) -> FloatArray:
    """Return the share of each document's accepted items that disagree; NaN without such items."""
    n_accepted = np.bincount(row_documents[is_accepted], minlength=n_documents).astype(np.float64)
    n_wrong = np.bincount(
        row_documents[is_accepted], weights=1.0 - agrees[is_accepted], minlength=n_documents
    )
    return divide(n_wrong.astype(np.float64), n_accepted)
