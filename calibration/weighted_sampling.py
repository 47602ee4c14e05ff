"""Prediction-powered means where items were drawn for labelling with unequal, known chances.

With chance p_i of item i and all N items judged,

    theta = mean(lambda f) over all + sum(w (Y - lambda f)) / sum(w) over labelled, w = 1 / p

which is active inference's estimator (Zrnic and Candes 2024, "Active statistical inference",
section 3) with Hajek's normalisation: multiplying every chance by one number changes nothing, so
that labelling may stop anywhere in a random order. Influences are linearised (Hajek's ratio) and
summed within documents; lambda is PPI++'s.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairjudge.calibration.ppi import Influences, PpiMean
from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray, IntArray, codes, same_length, totals
from fairjudge.text.printable import counted

DRAWN_NOTE = (
    "items were drawn for labelling with unequal chances: means, differences and win rates weigh "
    "by them; all other figures describe the labelled items as they are"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSample:
    """Labelled items with their chances in (0, 1], and the judge's scores of all the others.

    ``human``, ``judged``, ``chances`` and ``documents`` are in step, as are ``rest`` and
    ``rest_documents``.
    """

    human: FloatArray
    judged: FloatArray
    chances: FloatArray
    documents: Sequence[Hashable]
    rest: FloatArray
    rest_documents: Sequence[Hashable]

    def __post_init__(self) -> None:
        same_length(
            human=self.human, judged=self.judged, chances=self.chances, documents=self.documents
        )
        same_length(rest=self.rest, rest_documents=self.rest_documents)
        if self.chances.size and not (self.chances.min() > 0.0 and self.chances.max() <= 1.0):
            raise StatisticsError("chances of being drawn lie above 0 and up to 1")


def chances_of(
    items: Sequence[Hashable], said: Mapping[Any, frozenset[float | None]]
) -> FloatArray | Undefined | None:
    """Return each item's chance, shape (n,), from what its labels say.

    None where no label names a chance; Undefined where only some do, or an item's labels differ.
    """
    if all(chance is None for some in said.values() for chance in some):
        return None
    per_item = [said.get(item, frozenset()) for item in items]
    known = [c for some in per_item if len(some) == 1 for c in some if c is not None]
    if len(known) < len(items):
        return Undefined(why="not every labelled item has one chance of having been drawn")
    return np.array(known)


def drawn_mean(
    sample: DrawnSample, *, tuning: float | None = None, level: float = 0.95
) -> PpiMean | Undefined:
    """Estimate a mean; as `fairjudge.calibration.ppi.ppi_mean`, with every item weighed.

    Student's t on the labelled documents less one. Undefined below 2 labelled items or documents.
    """
    return _estimates((sample,), tuning=tuning, level=level)


def drawn_difference(
    first: DrawnSample, second: DrawnSample, *, tuning: float | None = None, level: float = 0.95
) -> PpiMean | Undefined:
    """Estimate mean(first) - mean(second); documents that both have count as one.

    One lambda serves both sides. Undefined where either side has fewer than 2 labelled items, or
    both together fewer than 2 labelled documents.
    """
    return _estimates((first, second), tuning=tuning, level=level)


def _estimates(
    samples: tuple[DrawnSample, ...], *, tuning: float | None, level: float
) -> PpiMean | Undefined:
    few = [sample.human.size for sample in samples if sample.human.size < 2]
    if few:
        return Undefined(why=f"{counted(few[0], 'labelled item')}: at least 2 are needed")
    coded, distinct = codes(
        [name for one in samples for name in (*one.documents, *one.rest_documents)]
    )
    parts, labelled, start = [], [], 0
    for sign, one in zip((1.0, -1.0), samples, strict=False):
        n, size = one.human.size, one.human.size + one.rest.size
        where = coded[start : start + size]
        parts.append(_influences(one, where, len(distinct), sign))
        labelled.append(where[:n])
        start += size
    together = [np.sum([part[k] for part in parts], axis=0) for k in range(4)]
    frame = Influences(
        means=(float(together[0][0]), float(together[0][1]), float(together[0][2])),
        judge_mean=float(together[0][2]),
        of_labels=together[1],
        of_correction=together[2],
        of_judge=together[3],
        n=sum(one.human.size for one in samples),
        m=sum(one.rest.size for one in samples),
        n_labelled_documents=np.unique(np.concatenate(labelled)).size,
        clustered=True,
        level=level,
    )
    return frame.estimates(tuning)


def _influences(
    one: DrawnSample, where: IntArray, n_documents: int, sign: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the three means, and the documents' influences of labels, correction and judge."""
    weights = 1.0 / one.chances
    weights = weights / weights.sum()
    y, f = float(weights @ one.human), float(weights @ one.judged)
    every = np.r_[one.judged, one.rest]
    u = float(every.mean())
    here = where[: one.human.size]

    def summed(rows: FloatArray, place: IntArray) -> FloatArray:
        return sign * totals(rows[:, None], place, n_documents)[:, 0]

    of_judge = summed((every - u) / every.size, where)
    return (
        sign * np.array([y, f, u]),
        summed(weights * (one.human - y), here),
        of_judge - summed(weights * (one.judged - f), here),
        of_judge,
    )
