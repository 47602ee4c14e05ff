"""Whether a judge's new prompt agrees with people better: choosing and deciding on other documents.

Documents are split once, by a seed: *examples* give candidates their words, *development* chooses
one candidate and fits calibrators, the *test* decides. The test is read for one candidate alone, so
that its intervals hold however many candidates were tried.
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
"""Labelled documents below which nothing is split: 5 examples, 10 development, 10 test."""
MAX_MORE_UNSCORED = 0.05
"""How much larger a share of the test a new prompt may leave unscored than the old one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedScores:
    """Labelled items that the old and the new prompt both scored, in step.

    ``old``, ``new`` and ``human`` are arrays of shape (n,). ``n_labelled`` counts all labelled
    items, ``n_without_old`` and ``n_without_new`` those that either left without a score: they are
    in no array. Of pairs all three are preferences for the first, from -1 to 1, under the measure
    `PAIRS`.
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
    """Agreement with people by the measure, of the old and the new prompt, on the same items.

    ``difference`` is new less old; None where either has none.
    """

    n_items: int
    n_without_old: int
    n_without_new: int
    old: float | None
    new: float | None
    difference: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the test says of one candidate; ``why_not`` names each condition that it misses.

    ``agreement`` is the change of the agreement (Kendall's tau-b; of pairs `pair_agreement`), new
    less old, neither calibrated. ``error`` is how much smaller the mean squared error with people
    is, (old, calibrated) less (new, calibrated), in squared points of the labels, of pairs the
    Brier score: above 0 the new prompt is better than calibration alone. ``errors`` are the two
    errors themselves.
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
    """Split `documents` by a hash of seed and name; their order in the file has no effect.

    Returns the documents of each part; none is in two.

    Raises
    ------
    InputError
        Below `MIN_DOCUMENTS` documents.
    """

    def place(name: str) -> str:
        return hashlib.sha256(f"{seed}\n{name}".encode("utf-8", "replace")).hexdigest()

    names = sorted(set(documents), key=place)
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
    """Return both agreements with people and their difference, without an interval."""
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
    """Return why, by development, the test could not keep a candidate; None if it could.

    Barred candidates are not chosen, so that no test is opened in vain.
    """
    calibrators = fit_both(development)
    if isinstance(calibrators, Undefined):
        return calibrators.why
    return _too_many_unscored(development, "development")


def choose(gains: Mapping[str, Gain]) -> str | None:
    """Return the candidate with the largest gain on development, None where none has any."""
    differences = {
        name: gain.difference for name, gain in gains.items() if gain.difference is not None
    }
    best = max(differences, key=lambda name: differences[name], default=None)
    return best if best is not None and differences[best] > 0.0 else None


def fit_both(development: PairedScores) -> tuple[Calibrator, Calibrator] | Undefined:
    """Fit a calibrator to the old and to the new prompt, on the same labelled items."""
    fitted = []
    for name, side in (("old", development.old), ("new", development.new)):
        calibrator = development.measure.fit(side, development.human)
        if isinstance(calibrator, Undefined):
            return Undefined(why=f"the {name} prompt cannot be calibrated: {calibrator.why}")
        fitted.append(calibrator)
    return fitted[0], fitted[1]


def decide(
    development: PairedScores, test: PairedScores, *, rng: np.random.Generator, level: float = 0.95
) -> Decision:
    """Decide on one candidate: `development` fits the calibrators, `test` is resampled whole.

    It is kept where both intervals lie above 0, and it leaves no more of the test unscored than
    the old prompt does, `MAX_MORE_UNSCORED` aside. Documents are resampled, the same for both
    figures. A prompt no better than the old one is kept with a probability of about
    ``(1 - level) / 2`` at most, whatever number of candidates it was chosen from (measured by
    benchmarks/align.py).

    Raises
    ------
    StatisticsError
        If a document is in both.
    """
    if set(development.documents) & set(test.documents):
        raise StatisticsError("a document is in development and in the test")
    gain = gain_of(test)
    figures = _figures(development, test, gain, rng=rng, level=level)
    agreement, error, errors = (
        (figures, figures, None) if isinstance(figures, Undefined) else figures
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


def _figures(
    development: PairedScores,
    test: PairedScores,
    gain: Gain,
    *,
    rng: np.random.Generator,
    level: float,
) -> tuple[Estimate | Undefined, Estimate | Undefined, tuple[float, float]] | Undefined:
    """Return the change of agreement, by how much the error is smaller, and both errors."""
    coded, n_documents = document_codes(test.documents, len(test.human))
    if n_documents < 2:
        return Undefined(why="fewer than 2 documents of the test were scored by both prompts")
    if gain.difference is None:
        return Undefined(why="on the test one prompt, or people, gave every item the same value")
    calibrators = fit_both(development)
    if isinstance(calibrators, Undefined):
        return calibrators
    sides = test.old, test.new
    target = test.measure.target(test.human)
    of_old, of_new = (
        (calibrator(side) - target) ** 2
        for calibrator, side in zip(calibrators, sides, strict=True)
    )
    old, new = (test.measure.weighted(side, test.human, test.documents) for side in sides)
    less_error = weighted_mean(of_old - of_new, coded, n_documents)
    agreement, error = bootstrap_many(
        lambda counts: np.column_stack([new(counts) - old(counts), less_error(counts)]),
        n_documents=n_documents,
        rng=rng,
        level=level,
        method="expanded",
        n=len(test.human),
        null=0.0,
    )
    return agreement, error, (float(of_old.mean()), float(of_new.mean()))


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
    """Reject a development part on which no calibrator could be fitted.

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


def spread_over(values: ArrayLike, n: int, *, preferred: Sequence[bool]) -> tuple[int, ...]:
    """Return up to `n` places of `values`, shape (m,), spread from the lowest to the highest.

    For each of `n` evenly spaced values the nearest place that is left is taken, a preferred one
    among equals, then the first. In order of value.
    """
    array = np.asarray(values, dtype=np.float64)
    if not array.size or n < 1:
        return ()
    targets = np.linspace(array.min(), array.max(), n) if n > 1 else [float(np.median(array))]
    remaining = set(range(array.size))
    chosen: list[int] = []
    for target in targets[: array.size]:
        best = min(remaining, key=lambda row: (abs(array[row] - target), not preferred[row], row))
        remaining.discard(best)
        chosen.append(best)
    return tuple(sorted(chosen, key=lambda row: (array[row], row)))
