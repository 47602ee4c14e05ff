"""Prediction-powered means from labelled items sampled with unequal probabilities.

If items were sampled for labelling with known, unequal probabilities p_i, and all N items judged,

    theta = mean(lambda f) over all + sum(w (Y - lambda f)) / sum(w) over labelled, w = 1 / p

which is the estimator of active inference (Zrnic and Candes 2024, "Active statistical inference",
section 3) with Hajek's normalisation: it is invariant to scaling all probabilities, so that
labelling may stop anywhere in a random order. Influences are linearised (Hajek's ratio) and summed
per document; lambda is that of PPI++.

If strata (such as topics) have different shares among the labelled items and all items, weights are
normalised within each stratum to its share of all items (post-stratification: Holt and Smith 1979,
"Post stratification"; with PPI, Fisch et al. 2024, "Stratified prediction-powered inference", arXiv
2406.04291). If items are parts of a whole, such as a summary's answers, each counts as its share of
the whole: items have sizes, and w = size / p.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairjudge.calibration.ppi import Influences, PpiMean, ppi_mean, sum_by_document
from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray, IntArray, document_codes, same_length
from fairjudge.text.counting import pluralize

DOCUMENTS_PER_STRATUM = 5
"""Minimum number of labelled documents of a stratum; smaller strata are pooled."""
DRAWN_NOTE = (
    "items were sampled for labelling with unequal probabilities: means, differences and win rates "
    "are weighted by them; all other results are unweighted"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartlyLabelled:
    """n labelled items, and the judge's values of the m other items (``rest``).

    ``human``, ``judged`` and ``documents`` have length n, ``rest`` and ``rest_documents`` length m.
    ``inclusion_probabilities``, in (0, 1], are those of being sampled for labelling. ``columns``
    and ``rest_columns``, of shape (n, k) and (m, k), are the predictors of a regression, with the
    judge's values first. ``strata`` and ``sizes`` have length n + m, labelled items first.
    """

    human: FloatArray
    judged: FloatArray
    documents: Sequence[Hashable]
    rest: FloatArray
    rest_documents: Sequence[Hashable]
    inclusion_probabilities: FloatArray | Undefined | None = None
    columns: FloatArray | None = None
    rest_columns: FloatArray | None = None
    strata: Sequence[Hashable] | None = None
    sizes: FloatArray | None = None

    @property
    def weighted(self) -> bool:
        """Whether items have unequal weights."""
        return any(
            design is not None for design in (self.inclusion_probabilities, self.strata, self.sizes)
        )

    def __post_init__(self) -> None:
        same_length(human=self.human, judged=self.judged, documents=self.documents)
        same_length(rest=self.rest, rest_documents=self.rest_documents)
        every = np.r_[self.human, self.rest]
        same_length(every=every, strata=every if self.strata is None else self.strata)
        same_length(every=every, sizes=every if self.sizes is None else self.sizes)
        if isinstance(self.inclusion_probabilities, np.ndarray):
            same_length(human=self.human, inclusion_probabilities=self.inclusion_probabilities)
            if self.inclusion_probabilities.size and not (
                self.inclusion_probabilities.min() > 0.0
                and self.inclusion_probabilities.max() <= 1.0
            ):
                raise StatisticsError("sampling probabilities must lie above 0 and at most at 1")


def inclusion_probabilities_of(
    items: Sequence[Hashable], probabilities_of_items: Mapping[Any, frozenset[float | None]]
) -> FloatArray | Undefined | None:
    """Return each item's sampling probability, shape (n,), from those of its labels.

    None if no label has a probability; Undefined if only some have one, or if an item's labels have
    different ones.
    """
    if all(
        probability is None
        for item_probabilities in probabilities_of_items.values()
        for probability in item_probabilities
    ):
        return None
    probabilities_by_item = [probabilities_of_items.get(item, frozenset()) for item in items]
    single_probabilities = [
        probability
        for item_probabilities in probabilities_by_item
        if len(item_probabilities) == 1
        for probability in item_probabilities
        if probability is not None
    ]
    if len(single_probabilities) < len(items):
        return Undefined(why="not every labelled item has exactly one sampling probability")
    return np.array(single_probabilities)


def sample_mean(*samples: PartlyLabelled, level: float = 0.95) -> PpiMean | Undefined:
    """Estimate with `drawn_mean` for two samples or unequal weights, otherwise with `ppi_mean`."""
    (sample, *other_samples) = samples
    if other_samples or sample.weighted:
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
    """Estimate a mean, or mean(first) - mean(second), like `ppi_mean` but with weighted items.

    Student's t has at most the number of labelled documents minus 1 degrees of freedom. Documents
    in both samples count once, and both samples share one lambda. Undefined if a sample has fewer
    than 2 labelled items or Undefined probabilities, or if there are fewer than 2 labelled
    documents.
    """
    names = [name for sample in samples for name in (*sample.documents, *sample.rest_documents)]
    document_codes_of_rows, n_documents_total = document_codes(names, len(names))
    parts, labelled_documents, start = [], [], 0
    spreads: list[tuple[float, float]] = []
    for sign, sample in zip((1.0, -1.0), samples, strict=False):
        n, size = sample.human.size, sample.human.size + sample.rest.size
        if isinstance(sample.inclusion_probabilities, Undefined):
            return sample.inclusion_probabilities
        if n < 2:
            return Undefined(why=f"{pluralize(n, 'labelled item')}: at least 2 are needed")
        sample_documents = document_codes_of_rows[start : start + size]
        weights = _Weights.from_sample(sample, sample_documents, n_documents_total)
        parts.append(weights.influences(sample, sign))
        spreads.append(weights.spread())
        labelled_documents.append(sample_documents[:n])
        start += size
    n_documents = np.unique(np.concatenate(labelled_documents)).size
    if n_documents < 2:
        return Undefined(why="fewer than 2 labelled documents")
    means, label_influences, correction_influences, judge_influences = (
        np.sum([part[k] for part in parts], axis=0) for k in range(4)
    )
    influences = Influences(
        means=(float(means[0]), float(means[1]), float(means[2])),
        judge_mean=float(means[2]),
        of_labels=label_influences,
        of_correction=correction_influences,
        of_judge=judge_influences,
        n=sum(sample.human.size for sample in samples),
        m=sum(sample.rest.size for sample in samples),
        freedom=_freedom(spreads, most=n_documents - 1),
        factor=1.0,
        level=level,
    )
    return influences.estimates(tuning)


def _freedom(spreads: Sequence[tuple[float, float]], *, most: int) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of variances, from 1 to `most`.

    Each variance is given as its size, and the sum over its parts of squared size / freedom.
    """
    total, squares = (sum(values) for values in zip(*spreads, strict=True))
    return max(1.0, min(float(most), total**2 / squares if squares else 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weights:
    """Weights of the labelled items, shape (n,), and of all items, shape (n + m,).

    ``strata`` and ``documents`` are codes of all items. ``by_document``, shape (strata, documents),
    is the share of each document in the weights of a stratum's labelled items.
    """

    of_labelled: FloatArray
    of_all: FloatArray
    strata: IntArray
    documents: IntArray
    by_document: FloatArray

    @staticmethod
    def from_sample(sample: PartlyLabelled, documents: IntArray, n_documents: int) -> _Weights:
        n, size = sample.human.size, sample.human.size + sample.rest.size
        sizes = np.ones(size) if sample.sizes is None else sample.sizes
        strata = _pool_strata(sample)
        shares = np.bincount(strata, weights=sizes)
        weights = sizes[:n] / (
            1.0
            if sample.inclusion_probabilities is None
            else np.asarray(sample.inclusion_probabilities)
        )
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
        """Return the means of labels, of the judge on labelled and on all items; and influences.

        Influences are per document: of the labels, of the judge's correction, and of the judge.
        """
        label_mean, label_influences = self._mean(sample.human)
        labelled_judge_mean, labelled_judge_influences = self._mean(sample.judged)
        all_judged = np.r_[sample.judged, sample.rest]
        judge_mean = float(self.of_all @ all_judged)
        judge_influences = self._summed(self.of_all * (all_judged - judge_mean))
        return (
            sign * np.array([label_mean, labelled_judge_mean, judge_mean]),
            sign * label_influences,
            sign * (judge_influences - labelled_judge_influences),
            sign * judge_influences,
        )

    def spread(self) -> tuple[float, float]:
        """Return the arguments of `_freedom` for this sample, if documents have equal variances."""
        shares = np.bincount(self.strata, weights=self.of_all)
        parts = (shares[:, None] * self.by_document) ** 2
        sizes, squares = parts.sum(axis=1), (parts**2).sum(axis=1)
        freedoms = np.maximum(sizes**2 / np.maximum(squares, np.finfo(float).tiny) - 1.0, 1e-9)
        return float(sizes.sum()), float((sizes**2 / freedoms).sum())

    def _mean(self, values: FloatArray) -> tuple[float, FloatArray]:
        """Return the weighted mean of labelled items' values, and each document's influence on it.

        The influence of labelled rows on their stratum's mean is that of the jackknife over
        documents; the influence of all rows on the strata's shares is linearised.
        """
        mean = float(self.of_labelled @ values)
        n, strata = values.size, self.strata
        stratum_weights = np.bincount(strata[:n], weights=self.of_labelled)
        means = np.bincount(strata[:n], weights=self.of_labelled * values) / stratum_weights
        document_shares = self.by_document[strata[:n], self.documents[:n]]
        n_documents = np.count_nonzero(self.by_document, axis=1)[strata[:n]]
        remainder = np.maximum(1.0 - document_shares, 1e-9)
        rows = self.of_all * (means[strata] - mean)
        rows[:n] += (
            self.of_labelled
            * (values - means[strata[:n]])
            * np.sqrt(1.0 - 1.0 / n_documents)
            / remainder
        )
        return mean, self._summed(rows)

    def _summed(self, rows: FloatArray) -> FloatArray:
        return sum_by_document(rows, self.documents, self.by_document.shape[1])


def _pool_strata(sample: PartlyLabelled) -> IntArray:
    """Return the 0-based stratum of each item, after pooling small strata.

    Strata with fewer than `DOCUMENTS_PER_STRATUM` labelled documents are pooled; if the pool is
    still too small, it also takes the smallest other stratum.
    """
    n = sample.human.size
    stratum_codes, _ = document_codes(
        sample.strata or ("",) * (n + sample.rest.size), n + sample.rest.size
    )
    documents: dict[int, set[Hashable]] = {stratum: set() for stratum in stratum_codes.tolist()}
    for stratum, document in zip(stratum_codes[:n].tolist(), sample.documents, strict=True):
        documents[stratum].add(document)
    by_size = sorted(documents, key=lambda stratum: len(documents[stratum]))
    pooled_documents: set[Hashable] = set()
    small: list[int] = []
    for stratum in by_size:
        has_few = len(documents[stratum]) < DOCUMENTS_PER_STRATUM
        if has_few or (small and len(pooled_documents) < DOCUMENTS_PER_STRATUM):
            small.append(stratum)
            pooled_documents |= documents[stratum]
    large = [stratum for stratum in by_size if stratum not in small]
    pooled_code = dict.fromkeys(small, 0) | {s: i for i, s in enumerate(large, bool(small))}
    return np.array([pooled_code[stratum] for stratum in stratum_codes.tolist()])
