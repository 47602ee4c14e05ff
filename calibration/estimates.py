"""Systems' mean human scores, differences and win rates, and how many labels are needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.calibration.drawn_ppi import PartlyLabelled, drawn_difference, sample_mean
from fairjudge.calibration.items import Joined
from fairjudge.calibration.labels import system_name
from fairjudge.calibration.planning import (
    LabelPlan,
    PlanPoint,
    labels_to_separate,
    pilot,
    planning_curve,
)
from fairjudge.calibration.ppi import PpiMean
from fairjudge.calibration.regression_ppi import predicted
from fairjudge.calibration.samples import (
    MAX_SYSTEMS_IN_PAIRS,
    Beside,
    as_wins,
    by_system,
    differences,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats.clustered import clustered_mean

Kind: TypeAlias = Literal["mean", "difference", "win_rate"]
Way: TypeAlias = Literal["regression", "ppi_plus", "classical"]
LABELS_TO_CHOOSE = 10
"""Labels for each coefficient from which on the regression is the estimate to quote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEstimate:
    """One system's mean, or two systems' difference (first minus second) or win rate.

    ``of`` says whether items or single answers were labelled. ``classical`` and ``naive`` stand
    also where ``ppi`` is Undefined, as when all is labelled. ``regression`` puts a cross-fitted
    regression on judge, other judges and covariates in the judge's place; it is None where there is
    none of these. ``chosen`` is the estimate to quote, chosen by counts of labels alone.
    """

    kind: Kind
    systems: tuple[str, ...]
    of: Literal["items", "answers"]
    n_labelled: int
    n_unlabelled: int
    classical: Estimate | Undefined
    naive: Estimate | Undefined
    ppi: PpiMean | Undefined
    regression: PpiMean | Undefined | None
    chosen: Way | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """Number of labelled documents needed to distinguish two systems if ``difference`` is true."""

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


def system_estimates(
    joined: Joined,
    *,
    level: float,
    rng: np.random.Generator | None = None,
    beside: Beside | None = None,
    answers: Mapping[str, PartlyLabelled] | None = None,
) -> tuple[SystemEstimate, ...]:
    """Estimate each system's mean label and each pair's difference; for pairs, win rates.

    `rng` deals documents to the folds of regressions, where `beside` has something to regress on.
    Of a judge's checklists, `answers` holds the labelled groups of answers and all others by
    system: then the mean is of what people would say of a summary's coverage.
    """
    make = _Maker(level=level, rng=rng or np.random.default_rng(0))
    series = answers or by_system(joined, beside)
    if PROTOCOLS[joined.protocol].paired:
        names = {system_name(key): (key[1], key[2]) for key in (*joined.keys, *joined.rest)}
        return tuple(
            make.estimate("win_rate", names[name], as_wins(sample))
            for name, sample in series.items()
        )
    means = [make.estimate("mean", (name,), sample) for name, sample in series.items()]
    return (*means, *_between_systems(series, {} if answers else differences(joined, beside), make))


def _between_systems(
    series: Mapping[str, PartlyLabelled],
    paired: Mapping[tuple[str, str], PartlyLabelled],
    make: _Maker,
) -> Iterator[SystemEstimate]:
    """Take both systems' items where they weigh otherwise than alike, and their pairs otherwise."""
    if len(series) > MAX_SYSTEMS_IN_PAIRS:
        return
    for pair in combinations(series, 2):
        first, second = series[pair[0]], series[pair[1]]
        difference = paired.get(pair)
        if difference is None or first.chances is not None:
            yield make.estimate("difference", pair, first, second, counted_pairs=difference)
        else:
            yield make.estimate("difference", pair, difference)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    """Makes every estimate of a sample, or of the difference of two."""

    level: float
    rng: np.random.Generator

    def estimate(
        self,
        kind: Kind,
        systems: tuple[str, ...],
        *samples: PartlyLabelled,
        counted_pairs: PartlyLabelled | None = None,
    ) -> SystemEstimate:
        """Add the classical and the naive interval to an estimate, or fall back to them.

        `counted_pairs` are the pairs that two samples have, where they are counted.
        """
        mean = self._mean(samples)
        regression = self._regression(samples)
        counted = samples if counted_pairs is None else (counted_pairs,)
        classical: Estimate | Undefined
        naive: Estimate | Undefined
        if isinstance(mean, PpiMean):
            classical, naive = mean.classical, mean.naive
        elif len(counted) > 1:
            classical = naive = mean
        else:
            (sample,) = counted
            # Weighing unequally, the labels' plain mean would be of nothing in particular.
            classical = (
                mean
                if sample.weighted
                else clustered_mean(sample.human, sample.documents, level=self.level)
            )
            naive = clustered_mean(
                np.r_[sample.judged, sample.rest],
                (*sample.documents, *sample.rest_documents),
                level=self.level,
            )
        return SystemEstimate(
            kind=kind,
            systems=systems,
            of="answers" if samples[0].sizes is not None else "items",
            n_labelled=sum(sample.human.size for sample in counted),
            n_unlabelled=sum(sample.rest.size for sample in counted),
            classical=classical,
            naive=naive,
            ppi=mean,
            regression=regression,
            chosen=_choose_method(mean, regression, samples),
        )

    def _mean(self, samples: Sequence[PartlyLabelled]) -> PpiMean | Undefined:
        if len(samples) > 1:
            return drawn_difference(*samples, level=self.level)
        return sample_mean(samples[0], level=self.level)

    def _regression(self, samples: Sequence[PartlyLabelled]) -> PpiMean | Undefined | None:
        if any(sample.columns is None for sample in samples):
            return None
        fitted = [predicted(sample, rng=self.rng) for sample in samples]
        refused = [result for result in fitted if isinstance(result, Undefined)]
        if refused:
            return refused[0]
        return self._mean([result for result in fitted if isinstance(result, PartlyLabelled)])


def _choose_method(
    ppi: PpiMean | Undefined,
    regression: PpiMean | Undefined | None,
    samples: Sequence[PartlyLabelled],
) -> Way | None:
    """Choose by counts alone: choosing the narrowest interval would make it too narrow."""
    if isinstance(regression, PpiMean) and all(
        sample.columns is not None
        and sample.human.size >= LABELS_TO_CHOOSE * (sample.columns.shape[1] + 1)
        for sample in samples
    ):
        return "regression"
    if isinstance(ppi, PpiMean):
        return "ppi_plus"
    return (
        None if any(sample.weighted or sample.human.size < 2 for sample in samples) else "classical"
    )


def plan_labels(joined: Joined, *, level: float, n_judged: int) -> Planning:
    """Plan labels from the group's labelled items as a pilot.

    The curve takes the spread within systems. Labels of parts cluster in their documents, and count
    for as much less as they do in the pilot; of whole summaries there is one a document.
    """
    series = by_system(joined)
    documents = [
        (name, document) for name, sample in series.items() for document in sample.documents
    ]
    human = [sample.human - sample.human.mean() for sample in series.values() if sample.human.size]
    judged = [
        sample.judged - sample.judged.mean() for sample in series.values() if sample.judged.size
    ]
    pilot_sample = (
        pilot(np.concatenate(human), np.concatenate(judged), documents=documents)
        if human
        else Undefined(why="no labelled items")
    )
    return Planning(
        n_judged=n_judged,
        curve=pilot_sample
        if isinstance(pilot_sample, Undefined)
        else planning_curve(pilot_sample, n_judged=n_judged, level=level),
        separations=tuple(
            _separation(a, b, difference, level, n_judged)
            for (a, b), difference in differences(joined).items()
        ),
    )


def _separation(
    a: str, b: str, partly_labelled: PartlyLabelled, level: float, n_judged: int
) -> Separation:
    pilot_sample = pilot(
        partly_labelled.human, partly_labelled.judged, documents=partly_labelled.documents
    )
    difference = float(partly_labelled.human.mean()) if partly_labelled.human.size else 0.0
    return Separation(
        system_a=a,
        system_b=b,
        difference=difference,
        plan=pilot_sample
        if isinstance(pilot_sample, Undefined)
        else labels_to_separate(pilot_sample, difference, n_judged=n_judged, level=level),
    )
