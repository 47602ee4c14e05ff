"""Comparing judges, or two runs, on the same items.

Judges are compared by agreement with labels: paired bootstrap with Holm's correction. Of two runs
nothing says which is right; that takes labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.agreement import FEWEST_ITEMS, Resampling
from fairjudge.calibration.items import Joined
from fairjudge.domain import Estimate, Undefined
from fairjudge.protocols import PROTOCOLS, protocol_label
from fairjudge.stats._arrays import FloatArray, codes, same_length, vector
from fairjudge.stats.bootstrap import BootstrapOptions, WeightedStatistic, bootstrap, bootstrap_many
from fairjudge.stats.clustered import clustered_mean
from fairjudge.stats.correlation import CorrelationName, correlation, weighted_correlation
from fairjudge.stats.intervals import clustered_wilson
from fairjudge.stats.resampling import adjust_by_name

_ALIKE = 1e-9
Name = TypeVar("Name", bound=Hashable)


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
    **options: Unpack[BootstrapOptions],
) -> tuple[AgreementDifference, ...]:
    """Compare every pair of judges by their pooled correlation with the same labels.

    Pairs come in the order given; p-values are two-sided by the bootstrap, Holm-adjusted over all
    pairs. A pair with a constant judge is Undefined.

    Parameters
    ----------
    judged
        Name to scores of shape (n,), all over the same items.
    labels : array of shape (n,)
    documents
        Resampled whole, the same resample for all judges; each row its own where None.
    """
    y = vector(labels, name="labels")
    arrays = {name: vector(scores, name=name) for name, scores in judged.items()}
    same_length(labels=y, **arrays)
    correlations = {
        name: correlation(measure, scores, y, sides=("scores", "labels"))
        for name, scores in arrays.items()
    }
    options["n"] = y.size
    differences = pairwise_differences(
        {
            name: Undefined(why=f"{name}: {value.why}")
            if isinstance(value, Undefined)
            else weighted_correlation(measure, arrays[name], y, documents=documents)
            for name, value in correlations.items()
        },
        n_documents=y.size if documents is None else len(set(documents)),
        rng=rng,
        **options,
    )
    adjusted = adjust_by_name(differences)
    return tuple(
        AgreementDifference(
            first=first,
            second=second,
            difference=difference,
            adjusted_p_value=adjusted.get((first, second)),
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
    """Estimate the difference of each pair of statistics, first less second, on the same resamples.

    Each has a test against 0. Undefined where a statistic of the pair is.
    """
    defined = {
        name: statistic
        for name, statistic in statistics.items()
        if not isinstance(statistic, Undefined)
    }
    first, second = np.triu_indices(len(defined), 1)

    def differences(counts: FloatArray) -> FloatArray:
        table = np.column_stack([statistic(counts) for statistic in defined.values()])
        return np.asarray(table[:, first] - table[:, second])

    options["null"] = 0.0
    estimates = (
        bootstrap_many(differences, n_documents=n_documents, rng=rng, **options)
        if len(defined) > 1
        else ()
    )
    by_pair = dict(zip(combinations(defined, 2), estimates, strict=True))
    out: dict[tuple[Name, Name], Estimate | Undefined] = {}
    for pair in combinations(statistics, 2):
        sides = map(statistics.__getitem__, pair)
        refusals = [side for side in sides if isinstance(side, Undefined)]
        out[pair] = refusals[0] if refusals else by_pair[pair]
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemShift:
    """One system in both runs: means over the items that both scored, and second less first."""

    system: str
    first: float
    second: float
    shift: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Comparison of two runs on the items that both scored.

    ``agreement`` is the share of items with one value in both, in [0, 1]; ``shift`` the mean of
    second less first and ``distance`` that of its absolute value, in units of the scale; ``order``
    Kendall's tau-b between the two.
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
    """Compare two runs item by item; intervals are over documents. No item: all Undefined.

    `first` and `second`, shapes (n,), are the values of the items in either run.
    """
    n_documents = len(set(documents))
    order: Estimate | Undefined = Undefined(why="no item was scored in both runs")
    if n_documents:
        statistic = weighted_correlation("kendall", first, second, documents=documents)
        order = bootstrap(statistic, n_documents=n_documents, rng=rng, level=level, n=len(first))
    differences = second - first
    alike = (np.abs(differences) < _ALIKE).astype(np.float64)
    return RunComparison(
        n_items=len(first),
        n_documents=n_documents,
        agreement=clustered_wilson(alike, documents, level=level),
        shift=clustered_mean(differences, documents, level=level, null=0.0),
        distance=clustered_mean(np.abs(differences), documents, level=level),
        order=order,
        systems=_shifts(first, second, documents, systems, level=level),
    )


def _shifts(
    first: FloatArray,
    second: FloatArray,
    documents: Sequence[Hashable],
    systems: Sequence[str],
    *,
    level: float,
) -> tuple[SystemShift, ...]:
    coded, names = codes(systems)
    shifts = []
    for place, name in enumerate(names):
        rows = np.flatnonzero(coded == place)
        own_documents = [documents[row] for row in rows.tolist()]
        shifts.append(
            SystemShift(
                system=str(name),
                first=float(first[rows].mean()),
                second=float(second[rows].mean()),
                shift=clustered_mean(
                    second[rows] - first[rows], own_documents, level=level, null=0.0
                ),
            )
        )
    return tuple(sorted(shifts, key=lambda shift: (-shift.first, shift.system)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Judges of one aspect compared on the items that all of them judged."""

    aspect: str
    n_items: int
    differences: tuple[AgreementDifference, ...]


def comparisons(
    groups: Sequence[Joined], resampling: Resampling, rng: np.random.Generator
) -> tuple[Comparison, ...]:
    """Compare all judges of each aspect that scored single summaries."""
    by_aspect: dict[str, list[Joined]] = defaultdict(list)
    for joined in groups:
        if not PROTOCOLS[joined.protocol].paired:
            by_aspect[joined.aspect].append(joined)
    results = (
        _comparison(aspect, joined_groups, resampling, rng)
        for aspect, joined_groups in by_aspect.items()
        if len(joined_groups) >= 2
    )
    return tuple(result for result in results if result is not None)


def _comparison(
    aspect: str, groups: Sequence[Joined], resampling: Resampling, rng: np.random.Generator
) -> Comparison | None:
    places = [{key: row for row, key in enumerate(joined.keys)} for joined in groups]
    common = [key for key in places[0] if all(key in place for place in places[1:])]
    if len(common) < FEWEST_ITEMS:
        return None
    rows = [[place[key] for key in common] for place in places]
    differences = compare_judges(
        {
            f"{joined.judge} ({protocol_label(joined.protocol, joined.unit)})": joined.judged[
                columns
            ]
            for joined, columns in zip(groups, rows, strict=True)
        },
        groups[0].human[rows[0]],
        rng=rng,
        documents=[key[0] for key in common],
        **asdict(resampling),
    )
    return Comparison(aspect=aspect, n_items=len(common), differences=differences)
