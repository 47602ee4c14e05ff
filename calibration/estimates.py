"""Systems' mean human scores, differences and win rates, and how many labels are needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.calibration.items import Joined
from fairjudge.calibration.labels import system_name
from fairjudge.calibration.planning import (
    LabelPlan,
    PlanPoint,
    labels_to_separate,
    pilot,
    planning_curve,
)
from fairjudge.calibration.ppi import PartlyLabelled, PpiMean, drawn_difference, sample_mean
from fairjudge.calibration.scales import rescale
from fairjudge.domain import Estimate, Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray, IntArray, document_codes
from fairjudge.stats.bootstrap import divide
from fairjudge.stats.clustered import clustered_mean

MAX_SYSTEMS_IN_PAIRS = 20
"""Differences are estimated for all pairs of at most this many systems."""

Kind: TypeAlias = Literal["mean", "difference", "win_rate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEstimate:
    """One system's mean, or two systems' difference (first minus second) or win rate.

    ``classical`` and ``naive`` stand also where ``ppi`` is Undefined, as when all is labelled.
    """

    kind: Kind
    systems: tuple[str, ...]
    n_labelled: int
    n_unlabelled: int
    classical: Estimate | Undefined
    naive: Estimate | Undefined
    ppi: PpiMean | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """Number of labelled documents needed to separate two systems if ``difference`` is true."""

    system_a: str
    system_b: str
    difference: float
    plan: LabelPlan | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """Label plans for one system's mean (``curve``) and for pairs of systems.

    ``n_judged`` documents are taken to be scored by the judge.
    """

    n_judged: int
    curve: tuple[PlanPoint, ...] | Undefined
    separations: tuple[Separation, ...]


def system_estimates(joined: Joined, *, level: float) -> tuple[SystemEstimate, ...]:
    """Estimate each system's mean label and each pair's difference; for pairs, win rates."""
    series = _by_system(joined)
    if PROTOCOLS[joined.protocol].paired:
        names = {system_name(key): (key[1], key[2]) for key in (*joined.keys, *joined.rest)}
        wins = {name: _as_wins(one) for name, one in series.items()}
        return tuple(
            _estimate("win_rate", names[name], win, sample_mean(win, level=level), level)
            for name, win in wins.items()
        )
    means = (
        _estimate("mean", (name,), one, sample_mean(one, level=level), level)
        for name, one in series.items()
    )
    differences = (
        _estimate(
            "difference", pair, difference, _difference(difference, series, pair, level), level
        )
        for pair, difference in _differences(joined).items()
    )
    return (*means, *differences)


def _difference(
    paired: PartlyLabelled,
    series: Mapping[str, PartlyLabelled],
    pair: tuple[str, str],
    level: float,
) -> PpiMean | Undefined:
    """Take both systems' items where they were drawn with chances, and their pairs otherwise."""
    first, second = series[pair[0]], series[pair[1]]
    if first.chances is None:
        return sample_mean(paired, level=level)
    return drawn_difference(first, second, level=level)


def _estimate(
    kind: Kind,
    systems: tuple[str, ...],
    partly_labelled: PartlyLabelled,
    ppi_mean: PpiMean | Undefined,
    level: float,
) -> SystemEstimate:
    """Add the classical and the naive interval to an estimate, or fall back to them."""
    classical: Estimate | Undefined
    naive: Estimate | Undefined
    if isinstance(ppi_mean, PpiMean):
        classical, naive = ppi_mean.classical, ppi_mean.naive
    else:
        # Drawn with unequal chances, the labels' plain mean would be of nothing in particular.
        classical = (
            clustered_mean(partly_labelled.human, partly_labelled.documents, level=level)
            if partly_labelled.chances is None
            else ppi_mean
        )
        naive = clustered_mean(
            np.r_[partly_labelled.judged, partly_labelled.rest],
            (*partly_labelled.documents, *partly_labelled.rest_documents),
            level=level,
        )
    return SystemEstimate(
        kind=kind,
        systems=systems,
        n_labelled=partly_labelled.human.size,
        n_unlabelled=partly_labelled.rest.size,
        classical=classical,
        naive=naive,
        ppi=ppi_mean,
    )


def plan_labels(joined: Joined, *, level: float, n_judged: int) -> Planning:
    """Plan labels from the group's labelled items as a pilot.

    The curve takes the spread within systems. Labels of parts cluster in their documents, and count
    for as much less as they do in the pilot; of whole summaries there is one a document.
    """
    series = _by_system(joined)
    documents = [(name, one) for name, some in series.items() for one in some.documents]
    human = [one.human - one.human.mean() for one in series.values() if one.human.size]
    judged = [one.judged - one.judged.mean() for one in series.values() if one.judged.size]
    known = (
        pilot(np.concatenate(human), np.concatenate(judged), documents=documents)
        if human
        else Undefined(why="no labelled items")
    )
    return Planning(
        n_judged=n_judged,
        curve=known
        if isinstance(known, Undefined)
        else planning_curve(known, n_judged=n_judged, level=level),
        separations=tuple(
            _separation(a, b, difference, level, n_judged)
            for (a, b), difference in _differences(joined).items()
        ),
    )


def _by_system(joined: Joined) -> dict[str, PartlyLabelled]:
    mapped, mapped_rest = _mapped(joined)
    rows: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, keys in enumerate((joined.keys, joined.rest)):
        for row, key in enumerate(keys):
            rows[system_name(key)][side].append(row)
    return {
        name: PartlyLabelled(
            human=joined.human[here],
            judged=mapped[here],
            documents=tuple(joined.keys[row][0] for row in here),
            rest=mapped_rest[there],
            rest_documents=tuple(joined.rest[row][0] for row in there),
            chances=joined.chances[here]
            if isinstance(joined.chances, np.ndarray)
            else joined.chances,
        )
        for name, (here, there) in rows.items()
    }


def _mapped(joined: Joined) -> tuple[FloatArray, FloatArray]:
    """Return the judge's values of labelled and of other items on the labels' scale."""
    # Verdicts stay on -1 to 1, whatever the labels' differences span: they become wins.
    scale = joined.judge_scale if PROTOCOLS[joined.protocol].paired else joined.label_scale
    return (
        rescale(joined.judged, joined.judge_scale, scale),
        rescale(joined.judged_rest, joined.judge_scale, scale),
    )


def _differences(joined: Joined) -> dict[tuple[str, str], PartlyLabelled]:
    """Pair systems document by document; a document takes part where both have it."""
    names = tuple(dict.fromkeys(system_name(key) for key in (*joined.keys, *joined.rest)))
    if PROTOCOLS[joined.protocol].paired or len(names) > MAX_SYSTEMS_IN_PAIRS:
        return {}
    mapped, mapped_rest = _mapped(joined)
    every = (*joined.keys, *joined.rest)
    documents, n_documents = document_codes([key[0] for key in every], len(every))
    places = np.array([names.index(system_name(key)) for key in every], dtype=np.int64)
    cells = documents * len(names) + places

    def table(values: FloatArray, cells: IntArray) -> FloatArray:
        """Return means of shape (n_documents, n_systems), NaN for missing values."""
        size = n_documents * len(names)
        sums = np.bincount(cells, weights=values, minlength=size).astype(np.float64)
        counts = np.bincount(cells, minlength=size).astype(np.float64)
        return divide(sums, counts).reshape(n_documents, len(names))

    labelled = cells[: len(joined.keys)]
    human, judged = table(joined.human, labelled), table(mapped, labelled)
    everything = table(np.r_[mapped, mapped_rest], cells)
    out = {}
    for i, j in combinations(range(len(names)), 2):
        people = human[:, i] - human[:, j]
        judge = everything[:, i] - everything[:, j]
        known = ~np.isnan(people)
        alone = ~known & ~np.isnan(judge)
        out[names[i], names[j]] = PartlyLabelled(
            human=people[known],
            judged=(judged[:, i] - judged[:, j])[known],
            documents=np.flatnonzero(known).tolist(),
            rest=judge[alone],
            rest_documents=np.flatnonzero(alone).tolist(),
            chances=joined.chances if isinstance(joined.chances, Undefined) else None,
        )
    return out


def _as_wins(series: PartlyLabelled) -> PartlyLabelled:
    """Turn differences to wins: 1, 0.5 for a tie, 0; the judge's half wins stay between."""
    return replace(
        series,
        human=(np.sign(series.human) + 1.0) / 2.0,
        judged=(series.judged + 1.0) / 2.0,
        rest=(series.rest + 1.0) / 2.0,
    )


def _separation(
    a: str, b: str, partly_labelled: PartlyLabelled, level: float, n_judged: int
) -> Separation:
    known = pilot(
        partly_labelled.human, partly_labelled.judged, documents=partly_labelled.documents
    )
    difference = float(partly_labelled.human.mean()) if partly_labelled.human.size else 0.0
    return Separation(
        system_a=a,
        system_b=b,
        difference=difference,
        plan=known
        if isinstance(known, Undefined)
        else labels_to_separate(known, difference, n_judged=n_judged, level=level),
    )
