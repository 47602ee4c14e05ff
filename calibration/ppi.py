"""Prediction-powered inference: few human labels and many judge scores make one honest interval.

Source: Angelopoulos et al. (2023), "Prediction-powered inference" (PPI), and Angelopoulos, Duchi
and Zrnic (2023), "PPI++" (power tuning). A rate is the mean of 0/1 values; a difference of two
systems the mean of paired differences; a win rate the mean of 1, 0.5 and 0.

Where items were drawn for labelling with unequal, known chances p_i, and all N items judged,

    theta = mean(lambda f) over all + sum(w (Y - lambda f)) / sum(w) over labelled, w = 1 / p

which is active inference's estimator (Zrnic and Candes 2024, "Active statistical inference",
section 3) with Hajek's normalisation: multiplying every chance by one number changes nothing, so
that labelling may stop anywhere in a random order. Influences are linearised (Hajek's ratio) and
summed within documents; lambda is PPI++'s.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import (
    FloatArray,
    IntArray,
    document_codes,
    same_length,
    totals,
    vector,
)
from fairjudge.stats.clustered import t_estimate
from fairjudge.stats.intervals import normal
from fairjudge.text.counting import pluralize

DRAWN_NOTE = (
    "items were drawn for labelling with unequal chances: means, differences and win rates weigh "
    "by them; all other figures describe the labelled items as they are"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartlyLabelled:
    """Labelled items, and the judge's values of the unlabelled ones.

    ``human``, ``judged`` and ``documents`` are in step, as are ``rest`` and ``rest_documents``.
    ``chances`` of being drawn for labelling lie in (0, 1], and are as `chances_of` gives them.
    """

    human: FloatArray
    judged: FloatArray
    documents: Sequence[Hashable]
    rest: FloatArray
    rest_documents: Sequence[Hashable]
    chances: FloatArray | Undefined | None = None

    def __post_init__(self) -> None:
        same_length(human=self.human, judged=self.judged, documents=self.documents)
        same_length(rest=self.rest, rest_documents=self.rest_documents)
        if isinstance(self.chances, np.ndarray):
            same_length(human=self.human, chances=self.chances)
            if self.chances.size and not (self.chances.min() > 0.0 and self.chances.max() <= 1.0):
                raise StatisticsError("chances of being drawn lie above 0 and up to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class PpiMean:
    """A mean human score, estimated in four ways.

    ``classical`` uses the labels alone; ``naive`` the judge alone, as if it were right; ``ppi`` and
    ``ppi_plus`` correct the judge by the labels. ``tuning`` is the lambda of ``ppi_plus``, in
    [0, 1]: 0 is classical, 1 is PPI. ``effective_labels`` is how many labels the classical interval
    would need to be as narrow as ``ppi_plus``.
    """

    classical: Estimate
    naive: Estimate
    ppi: Estimate
    ppi_plus: Estimate
    tuning: float
    n_labelled: int
    n_unlabelled: int
    effective_labels: float


def ppi_mean(
    labels: ArrayLike,
    judged_labelled: ArrayLike,
    judged_unlabelled: ArrayLike,
    *,
    documents: Sequence[Hashable] | None = None,
    documents_unlabelled: Sequence[Hashable] | None = None,
    tuning: float | None = None,
    level: float = 0.95,
) -> PpiMean | Undefined:
    """Estimate the mean human score of a population that the judge saw whole and people in part.

    theta = mean(Y - lambda f) over labelled items + lambda mean(f) over unlabelled items. Undefined
    below 2 labelled items or documents, or without unlabelled items.

    Parameters
    ----------
    labels, judged_labelled : arrays of shape (n,)
        Human value and judge's score of the labelled items, a random part of all items.
    judged_unlabelled : array of shape (m,)
        The judge's score of the other items.
    documents, documents_unlabelled
        The document of each row; the two sets may share documents. With them, influences are
        summed within documents, and Student's t takes the labelled documents less one as its
        degrees of freedom. Without, rows are independent: population variances and the normal
        quantile, as in ppi_py.
    tuning
        lambda; where None, the value in [0, 1] that minimises the estimated variance
        (PPI++, section 6). ppi_py plugs the pooled variance of f into that minimiser; we use each
        sample's own, so that clustered data are covered too; the two agree for large samples.
    """
    y = vector(labels, name="labels")
    f = vector(judged_labelled, name="judged_labelled")
    u = vector(judged_unlabelled, name="judged_unlabelled")
    same_length(labels=y, judged_labelled=f)
    if y.size < 2:
        return Undefined(why=f"{pluralize(y.size, 'labelled item')}: at least 2 are needed")
    if not u.size:
        return Undefined(why="every judged item is labelled: nothing for the judge to add")
    n, m = y.size, u.size
    names = _rows(documents, n, "labelled") + _rows(documents_unlabelled, m, "unlabelled")
    coded, d = document_codes(names, n + m)
    here, there = coded[:n], coded[n:]
    everything = np.r_[f, u]
    frame = _Influences(
        means=(float(y.mean()), float(f.mean()), float(u.mean())),
        judge_mean=(n * float(f.mean()) + m * float(u.mean())) / (n + m),
        of_labels=_summed((y - y.mean()) / n, here, d),
        of_correction=_summed((u - u.mean()) / m, there, d) - _summed((f - f.mean()) / n, here, d),
        of_judge=_summed((everything - everything.mean()) / (n + m), coded, d),
        n=n,
        m=m,
        n_labelled_documents=np.unique(here).size,
        clustered=documents is not None,
        level=level,
    )
    return frame.estimates(tuning)


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


def sample_mean(sample: PartlyLabelled, *, level: float = 0.95) -> PpiMean | Undefined:
    """Estimate a mean by `ppi_mean`, or by `drawn_mean` where items had chances to be drawn."""
    if sample.chances is not None:
        return drawn_mean(sample, level=level)
    return ppi_mean(
        sample.human,
        sample.judged,
        sample.rest,
        documents=sample.documents,
        documents_unlabelled=sample.rest_documents,
        level=level,
    )


def drawn_mean(
    sample: PartlyLabelled, *, tuning: float | None = None, level: float = 0.95
) -> PpiMean | Undefined:
    """Estimate a mean; as `ppi_mean`, with every item weighed by its chance.

    Student's t on the labelled documents less one. Undefined below 2 labelled items or documents,
    or where the chances are.
    """
    return _drawn((sample,), tuning=tuning, level=level)


def drawn_difference(
    first: PartlyLabelled,
    second: PartlyLabelled,
    *,
    tuning: float | None = None,
    level: float = 0.95,
) -> PpiMean | Undefined:
    """Estimate mean(first) - mean(second); documents that both have count as one.

    One lambda serves both sides. Undefined where either side has fewer than 2 labelled items or
    no chances, or both together fewer than 2 labelled documents.
    """
    return _drawn((first, second), tuning=tuning, level=level)


def _drawn(
    samples: tuple[PartlyLabelled, ...], *, tuning: float | None, level: float
) -> PpiMean | Undefined:
    names = [name for one in samples for name in (*one.documents, *one.rest_documents)]
    coded, d = document_codes(names, len(names))
    parts, labelled, start = [], [], 0
    for sign, one in zip((1.0, -1.0), samples, strict=False):
        n, size = one.human.size, one.human.size + one.rest.size
        if not isinstance(one.chances, np.ndarray):
            return one.chances or Undefined(why="no chances of being drawn")
        if n < 2:
            return Undefined(why=f"{pluralize(n, 'labelled item')}: at least 2 are needed")
        where = coded[start : start + size]
        parts.append(_drawn_influences(one, one.chances, where, d, sign))
        labelled.append(where[:n])
        start += size
    means, of_labels, of_correction, of_judge = (
        np.sum([part[k] for part in parts], axis=0) for k in range(4)
    )
    frame = _Influences(
        means=(float(means[0]), float(means[1]), float(means[2])),
        judge_mean=float(means[2]),
        of_labels=of_labels,
        of_correction=of_correction,
        of_judge=of_judge,
        n=sum(one.human.size for one in samples),
        m=sum(one.rest.size for one in samples),
        n_labelled_documents=np.unique(np.concatenate(labelled)).size,
        clustered=True,
        level=level,
    )
    return frame.estimates(tuning)


def _drawn_influences(
    partly_labelled: PartlyLabelled,
    chances: FloatArray,
    where: IntArray,
    n_documents: int,
    sign: float,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the three means, and the documents' influences of labels, correction and judge."""
    weights = 1.0 / chances
    weights = weights / weights.sum()
    y, f = float(weights @ partly_labelled.human), float(weights @ partly_labelled.judged)
    every = np.r_[partly_labelled.judged, partly_labelled.rest]
    u = float(every.mean())
    here = where[: partly_labelled.human.size]
    of_judge = sign * _summed((every - u) / every.size, where, n_documents)
    return (
        sign * np.array([y, f, u]),
        sign * _summed(weights * (partly_labelled.human - y), here, n_documents),
        of_judge - sign * _summed(weights * (partly_labelled.judged - f), here, n_documents),
        of_judge,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Influences:
    """The influences of each document: of the labels, and of the judge's correction to them.

    ``means`` are those of the labels, of the judge where there are labels, and of the judge where
    it stands in for them; ``judge_mean`` is the judge's over all.
    """

    means: tuple[float, float, float]
    judge_mean: float
    of_labels: FloatArray
    of_correction: FloatArray
    of_judge: FloatArray
    n: int
    m: int
    n_labelled_documents: int
    clustered: bool
    level: float

    def estimates(self, tuning: float | None) -> PpiMean | Undefined:
        """Return all four estimates; Undefined below 2 labelled documents."""
        if self.n_labelled_documents < 2:
            return Undefined(why="fewer than 2 labelled documents")
        chosen = self.best_tuning() if tuning is None else tuning
        d = self.n_labelled_documents
        classical, tuned = (self.variance(self.influence(one), d) for one in (0.0, chosen))
        return PpiMean(
            classical=self.estimate(0.0),
            naive=self.around(
                self.judge_mean, self.of_judge, self.of_judge.size, n=self.n + self.m
            ),
            ppi=self.estimate(1.0),
            ppi_plus=self.estimate(chosen),
            tuning=chosen,
            n_labelled=self.n,
            n_unlabelled=self.m,
            effective_labels=self.n * classical / tuned if tuned else float(self.n),
        )

    def best_tuning(self) -> float:
        spread = float(self.of_correction @ self.of_correction)
        if spread == 0.0:
            return 0.0
        return min(1.0, max(0.0, -float(self.of_labels @ self.of_correction) / spread))

    def influence(self, tuning: float) -> FloatArray:
        return self.of_labels + tuning * self.of_correction

    def variance(self, influence: FloatArray, n_documents: int) -> float:
        """Return the variance with the small-sample factor of one over documents."""
        factor = n_documents / (n_documents - 1) if self.clustered and n_documents > 1 else 1.0
        return float(influence @ influence) * factor

    def estimate(self, tuning: float) -> Estimate:
        y, f, u = self.means
        d = self.n_labelled_documents
        return self.around(y + tuning * (u - f), self.influence(tuning), d, n=self.n)

    def around(self, value: float, influence: FloatArray, n_documents: int, *, n: int) -> Estimate:
        variance = self.variance(influence, n_documents)
        if self.clustered:
            return t_estimate(value, variance, n=n, freedom=n_documents - 1, level=self.level)
        return normal(value, sqrt(variance), n=n, level=self.level)


def _summed(rows: FloatArray, documents: IntArray, n_documents: int) -> FloatArray:
    return totals(rows[:, None], documents, n_documents)[:, 0]


def _rows(
    documents: Sequence[Hashable] | None, size: int, side: str
) -> tuple[tuple[str, Hashable], ...]:
    """Name each row's document; rows without one stand alone."""
    if documents is None:
        return tuple((side, row) for row in range(size))
    same_length(rows=range(size), documents=documents)
    return tuple(("document", document) for document in documents)
