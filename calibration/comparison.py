"""Comparing judges or protocols on the same items: paired bootstrap with Holm's correction."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, same_length, vector
from fairjudge.stats.bootstrap import Method, WeightedStatistic, bootstrap_many
from fairjudge.stats.correlation import CorrelationName, correlation, weighted_correlation
from fairjudge.stats.multiplicity import holm


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementDifference:
    """Agreement of ``first`` minus agreement of ``second``, and its p-value within the family.

    ``adjusted_p_value`` is None where the difference is Undefined or has no p-value.
    """

    first: str
    second: str
    difference: Estimate | Undefined
    adjusted_p_value: float | None


def compare_judges(
    judged: Mapping[str, ArrayLike],
    labels: ArrayLike,
    *,
    rng: np.random.Generator,
    measure: CorrelationName = "spearman",
    documents: Sequence[Hashable] | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    method: Method = "percentile",
) -> tuple[AgreementDifference, ...]:
    """Compare every pair of judges by their pooled correlation with the same labels.

    Parameters
    ----------
    judged
        Name to scores of shape (n,), all over the same items.
    labels : array of shape (n,)
    documents
        Resampled whole, the same resample for all judges; each row its own where None.

    Returns
    -------
    tuple of AgreementDifference
        One a pair, in the order given; p-values two-sided by the bootstrap, Holm-adjusted over all
        pairs. A pair with a constant judge is Undefined.
    """
    y = vector(labels, name="labels")
    arrays = {name: vector(scores, name=name) for name, scores in judged.items()}
    same_length(labels=y, **arrays)
    reasons = {name: correlation(measure, scores, y) for name, scores in arrays.items()}
    usable = [name for name in arrays if not isinstance(reasons[name], Undefined)]
    pairs = list(combinations(arrays, 2))
    defined = [pair for pair in pairs if pair[0] in usable and pair[1] in usable]
    statistics = {
        name: weighted_correlation(measure, arrays[name], y, documents=documents) for name in usable
    }
    estimates: dict[tuple[str, str], Estimate | Undefined] = {}
    if defined:
        found = bootstrap_many(
            _differences(statistics, defined),
            n_documents=y.size if documents is None else len(set(documents)),
            rng=rng,
            n_resamples=n_resamples,
            level=level,
            method=method,
            n=y.size,
            null=0.0,
        )
        estimates = dict(zip(defined, found, strict=True))
    for one, two in pairs:
        estimates.setdefault((one, two), _why(one, two, reasons))
    return _adjusted({pair: estimates[pair] for pair in pairs})


def _differences(
    statistics: Mapping[str, WeightedStatistic], pairs: Sequence[tuple[str, str]]
) -> WeightedStatistic:
    """Return what takes the difference of each pair's statistics, one column a pair."""
    place = {name: column for column, name in enumerate(statistics)}
    first = [place[one] for one, _ in pairs]
    second = [place[two] for _, two in pairs]

    def differences(counts: FloatArray) -> FloatArray:
        table = np.column_stack([statistic(counts) for statistic in statistics.values()])
        return np.asarray(table[:, first] - table[:, second])

    return differences


def _why(one: str, two: str, reasons: Mapping[str, float | Undefined]) -> Undefined:
    for name in (one, two):
        reason = reasons[name]
        if isinstance(reason, Undefined):
            return Undefined(why=f"{name}: {reason.why}")
    return Undefined(why="no difference")


def _adjusted(
    estimates: Mapping[tuple[str, str], Estimate | Undefined],
) -> tuple[AgreementDifference, ...]:
    raw = {
        pair: estimate.p_value
        for pair, estimate in estimates.items()
        if isinstance(estimate, Estimate) and estimate.p_value is not None
    }
    adjusted = dict(zip(raw, holm(list(raw.values())).tolist(), strict=True))
    return tuple(
        AgreementDifference(
            first=one,
            second=two,
            difference=estimate,
            adjusted_p_value=adjusted.get((one, two)),
        )
        for (one, two), estimate in estimates.items()
    )
