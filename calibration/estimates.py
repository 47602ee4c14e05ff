"""Systems' mean human scores, differences and win rates, and how many labels are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.calibration.calibrators import iterate_folds
from fairjudge.calibration.drawn_ppi import PartlyLabelled, sample_mean
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
from fairjudge.text.counting import pluralize

Kind: TypeAlias = Literal["mean", "difference", "win_rate"]
Way: TypeAlias = Literal["regression", "ppi_plus", "classical"]
LABELS_PER_COLUMN = 5
"""Fewest labels for each coefficient of the regression."""
_N_FOLDS = 10
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
    make = partial(_estimate, level=level, rng=rng or np.random.default_rng(0))
    series = answers or by_system(joined, beside)
    if PROTOCOLS[joined.protocol].paired:
        names = {system_name(key): (key[1], key[2]) for key in (*joined.keys, *joined.rest)}
        return tuple(
            make("win_rate", names[name], as_wins(sample)) for name, sample in series.items()
        )
    means = [make("mean", (name,), sample) for name, sample in series.items()]
    return (*means, *_between_systems(series, {} if answers else differences(joined, beside), make))


def _between_systems(
    series: Mapping[str, PartlyLabelled],
    paired: Mapping[tuple[str, str], PartlyLabelled],
    make: Callable[..., SystemEstimate],
) -> Iterator[SystemEstimate]:
    """Take both systems' items where they weigh otherwise than alike, and their pairs otherwise."""
    if len(series) > MAX_SYSTEMS_IN_PAIRS:
        return
    for pair in combinations(series, 2):
        first, second = series[pair[0]], series[pair[1]]
        difference = paired.get(pair)
        if difference is None or first.chances is not None:
            yield make("difference", pair, first, second, counted_pairs=difference)
        else:
            yield make("difference", pair, difference)


def _estimate(
    kind: Kind,
    systems: tuple[str, ...],
    *samples: PartlyLabelled,
    counted_pairs: PartlyLabelled | None = None,
    level: float,
    rng: np.random.Generator,
) -> SystemEstimate:
    """Add the classical and the naive interval to an estimate, or fall back to them.

    `counted_pairs` are the pairs that two samples have, where they are counted.
    """
    mean = sample_mean(*samples, level=level)
    regression = _regression(samples, level=level, rng=rng)
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
            mean if sample.weighted else clustered_mean(sample.human, sample.documents, level=level)
        )
        naive = clustered_mean(
            np.r_[sample.judged, sample.rest],
            (*sample.documents, *sample.rest_documents),
            level=level,
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


def _regression(
    samples: Sequence[PartlyLabelled], *, level: float, rng: np.random.Generator
) -> PpiMean | Undefined | None:
    if any(sample.columns is None for sample in samples):
        return None
    fitted = [predicted(sample, rng=rng) for sample in samples]
    refusals = [result for result in fitted if isinstance(result, Undefined)]
    if refusals:
        return refusals[0]
    predictions = (result for result in fitted if isinstance(result, PartlyLabelled))
    return sample_mean(*predictions, level=level)


def predicted(sample: PartlyLabelled, *, rng: np.random.Generator) -> PartlyLabelled | Undefined:
    """Replace the judge's values by predictions of a cross-fitted regression on the columns.

    PPI++ (`fairjudge.calibration.ppi`) takes the judge's score as its prediction of a label. Where
    the label also depends on what the judge overlooks (length, another judge), a regression
    predicts it better, and the efficient estimator is that of augmented inverse-probability
    weighting: theta = mean(Y - lambda g) over labelled + lambda mean(g) over unlabelled, with
    g(x) = E[Y | x]. Source: Chen, Lu, Li, Guo and Li (2026), "Efficient Inference for Noisy
    LLM-as-a-Judge Evaluation" (arXiv 2601.05420), by its efficient influence function; cross-
    fitting as in Chernozhukov et al. (2018), "Double/debiased machine learning". Whatever g is, the
    interval covers; a good g narrows it.

    A labelled item is predicted from the labels of other folds' documents. Undefined without
    columns, below `LABELS_PER_COLUMN` labels for each of them and the intercept, or with fewer than
    2 labelled documents.
    """
    x, z, y = sample.columns, sample.rest_columns, sample.human
    if x is None or z is None:
        return Undefined(why="no predictor of labels besides the judge's own values")
    needed = LABELS_PER_COLUMN * (x.shape[1] + 1)
    if y.size < needed:
        return Undefined(
            why=f"{pluralize(y.size, 'labelled item')}: a regression on "
            f"{pluralize(x.shape[1], 'column')} needs {needed}"
        )
    if len(set(sample.documents)) < 2:
        return Undefined(why="fewer than 2 labelled documents")
    design, design_of_rest = (np.column_stack([np.ones(len(rows)), rows]) for rows in (x, z))
    of_labelled, of_rest = np.empty(y.size), np.zeros(len(z))
    for fold in iterate_folds(sample.documents, _N_FOLDS, rng):
        # The smallest intercept and slopes where several fit.
        coefficients = np.linalg.lstsq(design[~fold], y[~fold], rcond=None)[0]
        of_labelled[fold] = design[fold] @ coefficients
        # By its share of the labels each fold's model counts alike on both sides.
        of_rest += fold.mean() * (design_of_rest @ coefficients)
    return replace(sample, judged=of_labelled, rest=of_rest)


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
    labelled = [sample for sample in series.values() if sample.human.size]
    human = [sample.human - sample.human.mean() for sample in labelled]
    judged = [sample.judged - sample.judged.mean() for sample in labelled]
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
