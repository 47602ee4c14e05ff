"""Prediction-powered means where labelled items do not stand for all of them alike.

Where items were drawn for labelling with unequal, known chances p_i, and all N items judged,

    theta = mean(lambda f) over all + sum(w (Y - lambda f)) / sum(w) over labelled, w = 1 / p

which is active inference's estimator (Zrnic and Candes 2024, "Active statistical inference",
section 3) with Hajek's normalisation: multiplying every chance by one number changes nothing, so
that labelling may stop anywhere in a random order. Influences are linearised (Hajek's ratio) and
summed within documents; lambda is PPI++'s.

Where the labelled items' strata (such as topics) have other shares than those of all items, weights
are normalised within each stratum, to its share of all items (post-stratification: Holt and Smith
1979, "Post stratification"; with PPI, Fisch et al. 2024, "Stratified prediction-powered inference",
arXiv 2406.04291). Where the mean is one of shares of a whole, as of a summary's answers, each part
counts as its share: items have sizes, and w = size / p.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairjudge.calibration.ppi import Influences, PpiMean, ppi_mean, summed
from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray, IntArray, document_codes, same_length
from fairjudge.text.counting import pluralize

DOCUMENTS_PER_STRATUM = 5
"""Labelled documents below which a stratum is not taken by itself."""
DRAWN_NOTE = (
    "items were drawn for labelling with unequal chances: means, differences and win rates weigh "
    "by them; all other figures are unweighted"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartlyLabelled:
    """Items with a label, and the judge's values of all the others.

    ``human``, ``judged`` and ``documents`` are in step, as are ``rest`` and ``rest_documents``.
    ``chances`` of being drawn for labelling lie in (0, 1], and are as `chances_of` gives them.
    ``columns`` and ``rest_columns``, of shape (n, k) and (m, k), are what a regression may know of
    the items, the judge's values first. ``strata`` and ``sizes`` are of all items, those with a
    label first.
    """

    human: FloatArray
    judged: FloatArray
    documents: Sequence[Hashable]
    rest: FloatArray
    rest_documents: Sequence[Hashable]
    chances: FloatArray | Undefined | None = None
    columns: FloatArray | None = None
    rest_columns: FloatArray | None = None
    strata: Sequence[Hashable] | None = None
    sizes: FloatArray | None = None

    @property
    def weighted(self) -> bool:
        """Say whether items weigh otherwise than alike."""
        return any(design is not None for design in (self.chances, self.strata, self.sizes))

    def __post_init__(self) -> None:
        same_length(human=self.human, judged=self.judged, documents=self.documents)
        same_length(rest=self.rest, rest_documents=self.rest_documents)
        every = np.r_[self.human, self.rest]
        same_length(every=every, strata=every if self.strata is None else self.strata)
        same_length(every=every, sizes=every if self.sizes is None else self.sizes)
        if isinstance(self.chances, np.ndarray):
            same_length(human=self.human, chances=self.chances)
            if self.chances.size and not (self.chances.min() > 0.0 and self.chances.max() <= 1.0):
                raise StatisticsError("chances of being drawn lie above 0 and up to 1")


def chances_of(
    items: Sequence[Hashable], values: Mapping[Any, frozenset[float | None]]
) -> FloatArray | Undefined | None:
    """Return each item's chance, shape (n,), from what its labels say.

    None where no label names a chance; Undefined where only some do, or an item's labels differ.
    """
    if all(chance is None for chances in values.values() for chance in chances):
        return None
    per_item = [values.get(item, frozenset()) for item in items]
    probabilities = [
        c for chances in per_item if len(chances) == 1 for c in chances if c is not None
    ]
    if len(probabilities) < len(items):
        return Undefined(why="not every labelled item has one chance of having been drawn")
    return np.array(probabilities)


def sample_mean(*samples: PartlyLabelled, level: float = 0.95) -> PpiMean | Undefined:
    """Estimate by `drawn_mean` two samples, or one whose items weigh unlike; else by `ppi_mean`."""
    (sample, *others) = samples
    if others or sample.weighted:
        return drawn_mean(*samples, level=level)
    return ppi_mean(
        sample.human,
        sample.judged,
        sample.rest,
        documents=sample.documents,
        documents_unlabelled=sample.rest_documents,
        level=level,
    )


def drawn_mean(
    *samples: PartlyLabelled, tuning: float | None = None, level: float = 0.95
) -> PpiMean | Undefined:
    """Estimate a mean, or mean(first) - mean(second); as `ppi_mean`, items weighed by chances.

    Student's t on the labelled documents less one; documents that both samples have count as one,
    and one lambda serves both. Undefined where a sample has fewer than 2 labelled items or no
    chances, or all together fewer than 2 labelled documents.
    """
    names = [name for sample in samples for name in (*sample.documents, *sample.rest_documents)]
    coded, d = document_codes(names, len(names))
    parts, labelled, start = [], [], 0
    spreads: list[tuple[float, float]] = []
    for sign, sample in zip((1.0, -1.0), samples, strict=False):
        n, size = sample.human.size, sample.human.size + sample.rest.size
        if isinstance(sample.chances, Undefined):
            return sample.chances
        if n < 2:
            return Undefined(why=f"{pluralize(n, 'labelled item')}: at least 2 are needed")
        own_documents = coded[start : start + size]
        weights = _Weights.of(sample, own_documents, d)
        parts.append(weights.influences(sample, sign))
        spreads.append(weights.spread())
        labelled.append(own_documents[:n])
        start += size
    n_documents = np.unique(np.concatenate(labelled)).size
    if n_documents < 2:
        return Undefined(why="fewer than 2 labelled documents")
    means, of_labels, of_correction, of_judge = (
        np.sum([part[k] for part in parts], axis=0) for k in range(4)
    )
    frame = Influences(
        means=(float(means[0]), float(means[1]), float(means[2])),
        judge_mean=float(means[2]),
        of_labels=of_labels,
        of_correction=of_correction,
        of_judge=of_judge,
        n=sum(sample.human.size for sample in samples),
        m=sum(sample.rest.size for sample in samples),
        freedom=_freedom(spreads, most=n_documents - 1),
        factor=1.0,
        level=level,
    )
    return frame.estimates(tuning)


def _freedom(spreads: Sequence[tuple[float, float]], *, most: int) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of variances, from 1 to `most`.

    Each comes as its size and the sum of squared sizes of its parts, each over its own freedom.
    """
    total, squares = (sum(values) for values in zip(*spreads, strict=True))
    return max(1.0, min(float(most), total**2 / squares if squares else 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weights:
    """What items weigh: labelled ones, (n,), and all, (n + m,).

    ``strata`` and ``documents`` are codes of all items. ``by_document`` has shape (strata,
    documents): the part of each document in the weights of a stratum's labelled items.
    """

    of_labelled: FloatArray
    of_all: FloatArray
    strata: IntArray
    documents: IntArray
    by_document: FloatArray

    @staticmethod
    def of(sample: PartlyLabelled, documents: IntArray, n_documents: int) -> _Weights:
        n, size = sample.human.size, sample.human.size + sample.rest.size
        sizes = np.ones(size) if sample.sizes is None else sample.sizes
        strata = _pooled_strata(sample)
        shares = np.bincount(strata, weights=sizes)
        weights = sizes[:n] / (1.0 if sample.chances is None else np.asarray(sample.chances))
        weights = (
            weights / np.bincount(strata[:n], weights=weights, minlength=shares.size)[strata[:n]]
        )
        by_document = np.zeros((shares.size, n_documents))
        np.add.at(by_document, (strata[:n], documents[:n]), weights)
        return _Weights(
            of_labelled=weights * (shares / shares.sum())[strata[:n]],
            of_all=sizes / shares.sum(),
            strata=strata,
            documents=documents,
            by_document=by_document,
        )

    def influences(
        self, sample: PartlyLabelled, sign: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return three means, and the documents' influences of labels, correction and judge."""
        y, of_labels = self._mean(sample.human)
        f, of_judged = self._mean(sample.judged)
        every = np.r_[sample.judged, sample.rest]
        u = float(self.of_all @ every)
        of_judge = self._summed(self.of_all * (every - u))
        return (
            sign * np.array([y, f, u]),
            sign * of_labels,
            sign * (of_judge - of_judged),
            sign * of_judge,
        )

    def spread(self) -> tuple[float, float]:
        """Return the size of the labels' variance, and its squared parts over their freedoms.

        As if all documents varied alike: with their squared weights.
        """
        shares = np.bincount(self.strata, weights=self.of_all)
        parts = (shares[:, None] * self.by_document) ** 2
        sizes, squares = parts.sum(axis=1), (parts**2).sum(axis=1)
        freedoms = np.maximum(sizes**2 / np.maximum(squares, np.finfo(float).tiny) - 1.0, 1e-9)
        return float(sizes.sum()), float((sizes**2 / freedoms).sum())

    def _mean(self, values: FloatArray) -> tuple[float, FloatArray]:
        """Return the mean of labelled items' values, and each document's influence on it.

        Rows move the mean of their stratum by as much as it would move without the document (the
        jackknife: small samples have large parts); all items, by their strata, these shares.
        """
        mean = float(self.of_labelled @ values)
        n, strata = values.size, self.strata
        in_stratum = np.bincount(strata[:n], weights=self.of_labelled)
        means = np.bincount(strata[:n], weights=self.of_labelled * values) / in_stratum
        parts = self.by_document[strata[:n], self.documents[:n]]
        n_documents = np.count_nonzero(self.by_document, axis=1)[strata[:n]]
        remainder = np.maximum(1.0 - parts, 1e-9)
        rows = self.of_all * (means[strata] - mean)
        rows[:n] += (
            self.of_labelled
            * (values - means[strata[:n]])
            * np.sqrt(1.0 - 1.0 / n_documents)
            / remainder
        )
        return mean, self._summed(rows)

    def _summed(self, rows: FloatArray) -> FloatArray:
        return summed(rows, self.documents, self.by_document.shape[1])


def _pooled_strata(sample: PartlyLabelled) -> IntArray:
    """Return each item's stratum, from 0; those with too few labelled documents are one.

    Where these have too few together, they are one with the smallest other.
    """
    n = sample.human.size
    coded, _ = document_codes(sample.strata or ("",) * (n + sample.rest.size), n + sample.rest.size)
    documents: dict[int, set[Hashable]] = {stratum: set() for stratum in coded.tolist()}
    for stratum, document in zip(coded[:n].tolist(), sample.documents, strict=True):
        documents[stratum].add(document)
    by_size = sorted(documents, key=lambda stratum: len(documents[stratum]))
    pooled: set[Hashable] = set()
    small: list[int] = []
    for stratum in by_size:
        few = len(documents[stratum]) < DOCUMENTS_PER_STRATUM
        if few or (small and len(pooled) < DOCUMENTS_PER_STRATUM):
            small.append(stratum)
            pooled |= documents[stratum]
    large = [stratum for stratum in by_size if stratum not in small]
    place = dict.fromkeys(small, 0) | {s: i for i, s in enumerate(large, bool(small))}
    return np.array([place[stratum] for stratum in coded.tolist()])
