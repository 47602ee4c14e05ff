"""Comparison of judges, or of two runs, on the same items.

Judges are compared by their agreement with labels, using a paired bootstrap with Holm's correction.
Runs are compared with each other, without labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.agreement import MIN_ITEMS, Resampling
from fairjudge.calibration.items import JoinedItems
from fairjudge.domain import Estimate, Undefined
from fairjudge.protocols import PROTOCOLS, protocol_label
from fairjudge.stats._arrays import FloatArray, codes, same_length, vector
from fairjudge.stats.bootstrap import BootstrapOptions, WeightedStatistic, bootstrap, bootstrap_many
from fairjudge.stats.clustered import clustered_mean
from fairjudge.stats.correlation import CorrelationName, correlation, weighted_correlation
from fairjudge.stats.intervals import clustered_wilson
from fairjudge.stats.resampling import adjust_by_name

_EQUALITY_TOLERANCE = 1e-9
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementDifference:
    """Agreement of ``first`` minus agreement of ``second``.

    ``adjusted_p_value`` is adjusted for all pairs; None if the difference has no p-value.
    """

    first: str
    second: str
    difference: Estimate | Undefined
    adjusted_p_value: float | None


def compare_judges(
    scores_by_judge: Mapping[str, ArrayLike],
    labels: ArrayLike,
    *,
    rng: np.random.Generator,
    measure: CorrelationName = "spearman",
    documents: Sequence[Hashable] | None = None,
    **options: Unpack[BootstrapOptions],
) -> tuple[AgreementDifference, ...]:
    """Compare every pair of judges by their pooled correlation with the same labels.

    Pairs are in the order of `scores_by_judge`. P-values are two-sided bootstrap p-values,
    Holm-adjusted over all pairs. The difference is Undefined for pairs with a constant judge.

    Parameters
    ----------
    scores_by_judge
        Maps names to scores of shape (n,), all of the same items.
    labels : array of shape (n,)
    documents
        The document of each row; all judges share the resamples of documents. By default each row
        is its own document.
    """
    y = vector(labels, name="labels")
    score_arrays = {name: vector(scores, name=name) for name, scores in scores_by_judge.items()}
    same_length(labels=y, **score_arrays)
    correlations = {
        name: correlation(measure, scores, y, sides=("scores", "labels"))
        for name, scores in score_arrays.items()
    }
    options["n"] = y.size
    differences = pairwise_differences(
        {
            name: Undefined(why=f"{name}: {value.why}")
            if isinstance(value, Undefined)
            else weighted_correlation(measure, score_arrays[name], y, documents=documents)
            for name, value in correlations.items()
        },
        n_documents=y.size if documents is None else len(set(documents)),
        rng=rng,
        **options,
    )
    adjusted_p_values = adjust_by_name(differences)
    return tuple(
        AgreementDifference(
            first=first,
            second=second,
            difference=difference,
            adjusted_p_value=adjusted_p_values.get((first, second)),
        )
        for (first, second), difference in differences.items()
    )


def pairwise_differences(
    statistics: Mapping[Name, WeightedStatistic | Undefined],
    *,
    n_documents: int,
    rng: np.random.Generator,
    **options: Unpack[BootstrapOptions],
) -> dict[tuple[Name, Name], Estimate | Undefined]:
    """Estimate the difference (first - second) of each pair of statistics, on shared resamples.

    Each difference has a test against 0. It is Undefined if a statistic of the pair is.
    """
    defined_statistics = {
        name: statistic
        for name, statistic in statistics.items()
        if not isinstance(statistic, Undefined)
    }
    first, second = np.triu_indices(len(defined_statistics), 1)

    def differences_on(counts: FloatArray) -> FloatArray:
        table = np.column_stack([statistic(counts) for statistic in defined_statistics.values()])
        return np.asarray(table[:, first] - table[:, second])

    options["null"] = 0.0
    estimates = (
        bootstrap_many(differences_on, n_documents=n_documents, rng=rng, **options)
        if len(defined_statistics) > 1
        else ()
    )
    by_pair = dict(zip(combinations(defined_statistics, 2), estimates, strict=True))
    differences_by_pair: dict[tuple[Name, Name], Estimate | Undefined] = {}
    for pair in combinations(statistics, 2):
        pair_statistics = map(statistics.__getitem__, pair)
        reasons = [statistic for statistic in pair_statistics if isinstance(statistic, Undefined)]
        differences_by_pair[pair] = reasons[0] if reasons else by_pair[pair]
    return differences_by_pair


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemShift:
    """A system's mean in both runs, over the items scored in both; ``shift`` is second - first."""

    system: str
    first: float
    second: float
    shift: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Comparison of two runs on the items scored in both.

    ``agreement`` is the share of items with equal values, in [0, 1]. ``shift`` is the mean of
    second - first, and ``distance`` the mean of its absolute value, in units of the scale.
    ``order`` is Kendall's tau-b between the runs.
    """

    n_items: int
    n_documents: int
    agreement: Estimate | Undefined
    shift: Estimate | Undefined
    distance: Estimate | Undefined
    order: Estimate | Undefined
    systems: tuple[SystemShift, ...]


def compare_runs(
    first: FloatArray,
    second: FloatArray,
    *,
    documents: Sequence[Hashable],
    systems: Sequence[str],
    rng: np.random.Generator,
    level: float = 0.95,
) -> RunComparison:
    """Compare two runs by item, with intervals over documents; all Undefined without items.

    `first` and `second`, shape (n,) each, are the items' values in the two runs.
    """
    n_documents = len(set(documents))
    order: Estimate | Undefined = Undefined(why="no item was scored in both runs")
    if n_documents:
        statistic = weighted_correlation("kendall", first, second, documents=documents)
        order = bootstrap(statistic, n_documents=n_documents, rng=rng, level=level, n=len(first))
    differences = second - first
    is_equal = (np.abs(differences) < _EQUALITY_TOLERANCE).astype(np.float64)
    return RunComparison(
        n_items=len(first),
        n_documents=n_documents,
        agreement=clustered_wilson(is_equal, documents, level=level),
        shift=clustered_mean(differences, documents, level=level, null=0.0),
        distance=clustered_mean(np.abs(differences), documents, level=level),
        order=order,
        systems=_system_shifts(first, second, documents, systems, level=level),
    )


def _system_shifts(
    first: FloatArray,
    second: FloatArray,
    documents: Sequence[Hashable],
    systems: Sequence[str],
    *,
    level: float,
) -> tuple[SystemShift, ...]:
    system_codes, names = codes(systems)
    shifts = []
    for index, name in enumerate(names):
        rows = np.flatnonzero(system_codes == index)
        system_documents = [documents[row] for row in rows.tolist()]
        shifts.append(
            SystemShift(
                system=str(name),
                first=float(first[rows].mean()),
                second=float(second[rows].mean()),
                shift=clustered_mean(
                    second[rows] - first[rows], system_documents, level=level, null=0.0
                ),
            )
        )
    return tuple(sorted(shifts, key=lambda shift: (-shift.first, shift.system)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Comparison of the judges of one aspect, on the items that all of them judged."""

    aspect: str
    n_items: int
    differences: tuple[AgreementDifference, ...]


def comparisons(
    groups: Sequence[JoinedItems], resampling: Resampling, rng: np.random.Generator
) -> tuple[Comparison, ...]:
    """Compare the judges of each aspect; judges of pairs are omitted."""
    by_aspect: dict[str, list[JoinedItems]] = defaultdict(list)
    for items in groups:
        if not PROTOCOLS[items.protocol].paired:
            by_aspect[items.aspect].append(items)
    results = (
        _comparison(aspect, joined_groups, resampling, rng)
        for aspect, joined_groups in by_aspect.items()
        if len(joined_groups) >= 2
    )
    return tuple(result for result in results if result is not None)


def _comparison(
    aspect: str, groups: Sequence[JoinedItems], resampling: Resampling, rng: np.random.Generator
) -> Comparison | None:
    rows_by_key = [{key: row for row, key in enumerate(items.keys)} for items in groups]
    shared_keys = [
        key for key in rows_by_key[0] if all(key in row_by_key for row_by_key in rows_by_key[1:])
    ]
    if len(shared_keys) < MIN_ITEMS:
        return None
    rows = [[row_by_key[key] for key in shared_keys] for row_by_key in rows_by_key]
    differences = compare_judges(
        {
            f"{items.judge} ({protocol_label(items.protocol, items.unit)})": items.judged[columns]
            for items, columns in zip(groups, rows, strict=True)
        },
        groups[0].human[rows[0]],
        rng=rng,
        documents=[key[0] for key in shared_keys],
        **asdict(resampling),
    )
    return Comparison(aspect=aspect, n_items=len(shared_keys), differences=differences)
