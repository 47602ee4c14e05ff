"""Decide whether a judge's new prompt agrees better with humans, on held-out documents.

Documents are split once, by a seed: *examples* are used to write candidates, *development* to
select one candidate and fit calibrators, the *test* to decide. The test is used for only one
candidate, so that its intervals are valid regardless of the number of candidates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.aligning.measures import RATINGS, Measure
from fairjudge.calibration.calibrators import MIN_LABELS, Calibrator
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import InputError, StatisticsError
from fairjudge.stats._arrays import FloatArray, document_codes, same_length
from fairjudge.stats.bootstrap import bootstrap_many, weighted_mean
from fairjudge.text.counting import percentage, pluralize

PartName: TypeAlias = Literal["examples", "development", "test"]
SHARES = (0.2, 0.4)
"""Shares of the documents that are examples and development; the rest is the test."""
MIN_DOCUMENTS = 25
"""Minimum number of labelled documents: 5 examples, 10 development, 10 test."""
MAX_MORE_UNSCORED = 0.05
"""Maximum increase, by the new prompt, of the share of unscored items of the test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedScores:
    """Labelled items that both the old and the new prompt scored.

    ``old``, ``new`` and ``human`` are arrays of shape (n,). ``n_labelled`` counts all labelled
    items, ``n_without_old`` and ``n_without_new`` the items that a prompt left unscored, which are
    not in the arrays. For pairs (measure `PAIRS`) all three are preferences for the first, from -1
    to 1.
    """

    old: FloatArray
    new: FloatArray
    human: FloatArray
    documents: Sequence[Hashable]
    n_labelled: int
    n_without_old: int
    n_without_new: int
    measure: Measure = RATINGS

    def __post_init__(self) -> None:
        same_length(old=self.old, new=self.new, human=self.human, documents=self.documents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Agreement of the old and the new prompt with human labels, on the same items.

    ``difference`` is new minus old; None if either is undefined.
    """

    n_items: int
    n_without_old: int
    n_without_new: int
    old: float | None
    new: float | None
    difference: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision on one candidate; ``why_not`` lists the conditions that it fails.

    ``agreement`` is the change of the agreement (Kendall's tau-b; for pairs `pair_agreement`), new
    minus old, without calibration. ``error`` is the reduction of the mean squared error, (old,
    calibrated) minus (new, calibrated), in squared points of the labels (for pairs the Brier
    score): above 0 the new prompt is better than calibration alone. ``errors`` are the two errors.
    """

    kept: bool
    why_not: tuple[str, ...]
    gain: Gain
    agreement: Estimate | Undefined
    error: Estimate | Undefined
    errors: tuple[float, float] | None
    n_documents: int
    n_labelled: int


def split_documents(documents: Iterable[str], *, seed: int) -> dict[PartName, tuple[str, ...]]:
    """Split `documents` by a hash of seed and name, regardless of their order.

    Returns the documents of each part; parts are disjoint.

    Raises
    ------
    InputError
        Below `MIN_DOCUMENTS` documents.
    """

    def sort_key(name: str) -> str:
        return hashlib.sha256(f"{seed}\n{name}".encode("utf-8", "replace")).hexdigest()

    names = sorted(set(documents), key=sort_key)
    if len(names) < MIN_DOCUMENTS:
        raise InputError(
            f"{pluralize(len(names), 'labelled document')}: align needs {MIN_DOCUMENTS} or "
            "more, to have examples, development and a test apart from each other"
        )
    first, second = (round(share * len(names)) for share in np.cumsum(SHARES).tolist())
    return {
        "examples": tuple(names[:first]),
        "development": tuple(names[first:second]),
        "test": tuple(names[second:]),
    }


def gain_of(paired: PairedScores) -> Gain:
    """Return the agreement of both prompts with human labels, and the difference."""
    sides = paired.old, paired.new
    agreements = [paired.measure.agreement(side, paired.human) for side in sides]
    old, new = (None if isinstance(agreement, Undefined) else agreement for agreement in agreements)
    return Gain(
        n_items=len(paired.human),
        n_without_old=paired.n_without_old,
        n_without_new=paired.n_without_new,
        old=old,
        new=new,
        difference=None if old is None or new is None else new - old,
    )


def why_barred(development: PairedScores) -> str | None:
    """Return the reason why a candidate would fail the test, by development, or None.

    Such candidates are not selected, so that the test is not used in vain.
    """
    calibrators = fit_both(development)
    if isinstance(calibrators, Undefined):
        return calibrators.why
    return _too_many_unscored(development, "development")


def choose(gains: Mapping[str, Gain]) -> str | None:
    """Return the candidate with the largest gain on development, or None if none improves."""
    differences = {
        name: gain.difference for name, gain in gains.items() if gain.difference is not None
    }
    best = max(differences, key=lambda name: differences[name], default=None)
    return best if best is not None and differences[best] > 0.0 else None


def fit_both(development: PairedScores) -> tuple[Calibrator, Calibrator] | Undefined:
    """Fit a calibrator to the old and to the new prompt, on the same labelled items."""
    calibrators = []
    for name, side in (("old", development.old), ("new", development.new)):
        calibrator = development.measure.fit(side, development.human)
        if isinstance(calibrator, Undefined):
            return Undefined(why=f"the {name} prompt cannot be calibrated: {calibrator.why}")
        calibrators.append(calibrator)
    return calibrators[0], calibrators[1]


def decide(
    development: PairedScores, test: PairedScores, *, rng: np.random.Generator, level: float = 0.95
) -> Decision:
    """Decide on one candidate: fit calibrators on `development`, bootstrap over `test`.

    It is kept if both intervals are above 0 and its share of unscored items is at most
    `MAX_MORE_UNSCORED` above the old prompt's. Both estimates use the same bootstrap over
    documents. A prompt that is no better than the old one is kept with a probability of at most
    about ``(1 - level) / 2``, regardless of the number of candidates (measured by
    benchmarks/align.py).

    Raises
    ------
    StatisticsError
        If a document is in both parts.
    """
    if set(development.documents) & set(test.documents):
        raise StatisticsError("a document is in development and in the test")
    gain = gain_of(test)
    estimates = _estimates(development, test, gain, rng=rng, level=level)
    agreement, error, errors = (
        (estimates, estimates, None) if isinstance(estimates, Undefined) else estimates
    )
    why_not = tuple(_why_not(test, agreement, error))
    return Decision(
        kept=not why_not,
        why_not=why_not,
        gain=gain,
        agreement=agreement,
        error=error,
        errors=errors,
        n_documents=len(set(test.documents)),
        n_labelled=test.n_labelled,
    )


def _estimates(
    development: PairedScores,
    test: PairedScores,
    gain: Gain,
    *,
    rng: np.random.Generator,
    level: float,
) -> tuple[Estimate | Undefined, Estimate | Undefined, tuple[float, float]] | Undefined:
    """Return the change of agreement, the reduction of the error, and both errors."""
    document_indices, n_documents = document_codes(test.documents, len(test.human))
    if n_documents < 2:
        return Undefined(why="fewer than 2 documents of the test were scored by both prompts")
    if gain.difference is None:
        return Undefined(why="on the test, the scores of one prompt or the labels are constant")
    calibrators = fit_both(development)
    if isinstance(calibrators, Undefined):
        return calibrators
    sides = test.old, test.new
    target = test.measure.target(test.human)
    old_errors, new_errors = (
        (calibrator(side) - target) ** 2
        for calibrator, side in zip(calibrators, sides, strict=True)
    )
    old_agreement, new_agreement = (
        test.measure.weighted(side, test.human, test.documents) for side in sides
    )
    error_reduction = weighted_mean(old_errors - new_errors, document_indices, n_documents)
    agreement, error = bootstrap_many(
        lambda counts: np.column_stack(
            [new_agreement(counts) - old_agreement(counts), error_reduction(counts)]
        ),
        n_documents=n_documents,
        rng=rng,
        level=level,
        method="expanded",
        n=len(test.human),
        null=0.0,
    )
    return agreement, error, (float(old_errors.mean()), float(new_errors.mean()))


def _why_not(
    test: PairedScores, agreement: Estimate | Undefined, error: Estimate | Undefined
) -> Iterable[str]:
    if isinstance(agreement, Undefined):
        yield agreement.why
        return
    if not _above_zero(agreement):
        yield "its agreement with the human labels is not significantly above the old prompt's"
    if not _above_zero(error):
        yield "calibrated, its error is not significantly below that of the old prompt calibrated"
    if (unscored := _too_many_unscored(test, "the test")) is not None:
        yield unscored


def _too_many_unscored(paired: PairedScores, part: str) -> str | None:
    extra_share = (paired.n_without_new - paired.n_without_old) / max(1, paired.n_labelled)
    return (
        f"it leaves {percentage(extra_share)} more of {part} unscored"
        if extra_share > MAX_MORE_UNSCORED
        else None
    )


def _above_zero(estimate: Estimate | Undefined) -> bool:
    return isinstance(estimate, Estimate) and estimate.low is not None and estimate.low > 0.0


def check_enough(n_development: int) -> None:
    """Raise an error for a development part that is too small to fit calibrators.

    Raises
    ------
    InputError
        Below `MIN_LABELS` labelled items.
    """
    if n_development < MIN_LABELS:
        raise InputError(
            f"development has {pluralize(n_development, 'labelled item')}: align needs "
            f"{MIN_LABELS} or more there; label more summaries or more documents"
        )


def spread_over(values: ArrayLike, n: int, *, is_preferred: Sequence[bool]) -> tuple[int, ...]:
    """Return up to `n` indices of `values`, shape (m,), spread from the lowest to the highest.

    For each of `n` evenly spaced targets, the nearest remaining value is selected; ties are broken
    by preference, then by index. Indices are in order of value.
    """
    array = np.asarray(values, dtype=np.float64)
    if not array.size or n < 1:
        return ()
    targets = np.linspace(array.min(), array.max(), n) if n > 1 else [float(np.median(array))]
    remaining_indices = set(range(array.size))
    indices: list[int] = []
    for target in targets[: array.size]:
        best = min(
            remaining_indices,
            key=lambda row: (abs(array[row] - target), not is_preferred[row], row),
        )
        remaining_indices.discard(best)
        indices.append(best)
    return tuple(sorted(indices, key=lambda row: (array[row], row)))
