"""Estimates of systems' mean human scores, differences and win rates; plans for labelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.calibration.calibrators import iterate_folds
from fairjudge.calibration.drawn_ppi import PartlyLabelled, sample_mean
from fairjudge.calibration.items import JoinedItems
from fairjudge.calibration.labels import system_name
from fairjudge.calibration.planning import (
    LabelPlan,
    PlanPoint,
    estimate_pilot,
    labels_to_separate,
    planning_curve,
)
from fairjudge.calibration.ppi import PpiMean
from fairjudge.calibration.samples import (
    MAX_SYSTEMS_IN_PAIRS,
    ItemProperties,
    differences_to_wins,
    paired_differences,
    samples_by_system,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats.clustered import clustered_mean
from fairjudge.text.counting import pluralize

EstimateKind: TypeAlias = Literal["mean", "difference", "win_rate"]
EstimationMethod: TypeAlias = Literal["regression", "ppi_plus", "classical"]
LABELS_PER_COLUMN = 5
"""Minimum number of labels per coefficient of the regression."""
_N_FOLDS = 10
LABELS_TO_CHOOSE = 10
"""Minimum number of labels per coefficient for the regression to be the recommended estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEstimate:
    """One system's mean, or two systems' difference (first minus second) or win rate.

    ``of`` is the unit of labels: items or single answers. ``classical`` and ``naive`` are also
    available if ``ppi`` is Undefined, for example if all items are labelled. ``regression``
    replaces the judge's values by a cross-fitted regression on them, other judges and covariates;
    it is None without such columns. ``chosen`` is the recommended estimate, which depends only on
    numbers of labels.
    """

    kind: EstimateKind
    systems: tuple[str, ...]
    of: Literal["items", "answers"]
    n_labelled: int
    n_unlabelled: int
    classical: Estimate | Undefined
    naive: Estimate | Undefined
    ppi: PpiMean | Undefined
    regression: PpiMean | Undefined | None
    chosen: EstimationMethod | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """Number of labelled documents required to separate two systems if ``difference`` is true."""

    system_a: str
    system_b: str
    difference: float
    plan: LabelPlan | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """Label plans for one system's mean (``curve``) and for pairs of systems.

    Plans assume that the judge scores ``n_judged`` documents.
    """

    n_judged: int
    curve: tuple[PlanPoint, ...] | Undefined
    separations: tuple[Separation, ...]


def system_estimates(
    items: JoinedItems,
    *,
    level: float,
    rng: np.random.Generator | None = None,
    properties: ItemProperties | None = None,
    answers: Mapping[str, PartlyLabelled] | None = None,
) -> tuple[SystemEstimate, ...]:
    """Estimate systems' mean labels and their differences; for paired protocols, win rates.

    `rng` assigns documents to the folds of regressions, which use the columns of `properties`.
    `answers`, for a judge's checklists, has the groups of answers by system; the mean is then that
    of the coverage of a summary according to humans.
    """
    make_estimate = partial(_estimate, level=level, rng=rng or np.random.default_rng(0))
    samples = answers or samples_by_system(items, properties)
    if PROTOCOLS[items.protocol].paired:
        names = {system_name(key): (key[1], key[2]) for key in (*items.keys, *items.rest)}
        return tuple(
            make_estimate("win_rate", names[name], differences_to_wins(sample))
            for name, sample in samples.items()
        )
    means = [make_estimate("mean", (name,), sample) for name, sample in samples.items()]
    return (
        *means,
        *_pair_estimates(
            samples, {} if answers else paired_differences(items, properties), make_estimate
        ),
    )


def _pair_estimates(
    samples: Mapping[str, PartlyLabelled],
    paired_samples: Mapping[tuple[str, str], PartlyLabelled],
    make_estimate: Callable[..., SystemEstimate],
) -> Iterator[SystemEstimate]:
    """Yield the differences of systems, from paired items or, with unequal weights, two samples."""
    if len(samples) > MAX_SYSTEMS_IN_PAIRS:
        return
    for pair in combinations(samples, 2):
        first, second = samples[pair[0]], samples[pair[1]]
        difference = paired_samples.get(pair)
        if difference is None or first.inclusion_probabilities is not None:
            yield make_estimate("difference", pair, first, second, counted_pairs=difference)
        else:
            yield make_estimate("difference", pair, difference)


def _estimate(
    kind: EstimateKind,
    systems: tuple[str, ...],
    *samples: PartlyLabelled,
    counted_pairs: PartlyLabelled | None = None,
    level: float,
    rng: np.random.Generator,
) -> SystemEstimate:
    """Estimate a mean or difference with PPI and regression, and its classical and naive intervals.

    `counted_pairs`, if given, are the paired items of two samples, used for the reported counts.
    """
    mean = sample_mean(*samples, level=level)
    regression = _regression_estimate(samples, level=level, rng=rng)
    counted_samples = samples if counted_pairs is None else (counted_pairs,)
    classical: Estimate | Undefined
    naive: Estimate | Undefined
    if isinstance(mean, PpiMean):
        classical, naive = mean.classical, mean.naive
    elif len(counted_samples) > 1:
        classical = naive = mean
    else:
        (sample,) = counted_samples
        # With unequal weights, the unweighted mean of labels estimates no population mean.
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
        n_labelled=sum(sample.human.size for sample in counted_samples),
        n_unlabelled=sum(sample.rest.size for sample in counted_samples),
        classical=classical,
        naive=naive,
        ppi=mean,
        regression=regression,
        chosen=_choose_method(mean, regression, samples),
    )


def _regression_estimate(
    samples: Sequence[PartlyLabelled], *, level: float, rng: np.random.Generator
) -> PpiMean | Undefined | None:
    if any(sample.columns is None for sample in samples):
        return None
    fits = [predict_labels(sample, rng=rng) for sample in samples]
    reasons = [result for result in fits if isinstance(result, Undefined)]
    if reasons:
        return reasons[0]
    predictions = (result for result in fits if isinstance(result, PartlyLabelled))
    return sample_mean(*predictions, level=level)


def predict_labels(
    sample: PartlyLabelled, *, rng: np.random.Generator
) -> PartlyLabelled | Undefined:
    """Replace the judge's values by predictions of a cross-fitted regression on the columns.

    PPI++ (`fairjudge.calibration.ppi`) uses the judge's score as its prediction of a label. If
    labels also depend on other columns (length, another judge), a regression predicts them better,
    and the efficient estimator is that of augmented inverse-probability weighting: theta =
    mean(Y - lambda g) over labelled + lambda mean(g) over unlabelled, with g(x) = E[Y | x]. Source:
    Chen, Lu, Li, Guo and Li (2026), "Efficient Inference for Noisy LLM-as-a-Judge Evaluation"
    (arXiv 2601.05420), from its efficient influence function; cross-fitting as in Chernozhukov et
    al. (2018), "Double/debiased machine learning". The interval covers for any g; a good g makes it
    narrower.

    A labelled item is predicted from the labels of the other folds' documents. Undefined without
    columns, with fewer than `LABELS_PER_COLUMN` labels per coefficient, or with fewer than 2
    labelled documents.
    """
    columns, rest_columns, labels = sample.columns, sample.rest_columns, sample.human
    if columns is None or rest_columns is None:
        return Undefined(why="no predictor of labels besides the judge's own values")
    min_labels = LABELS_PER_COLUMN * (columns.shape[1] + 1)
    if labels.size < min_labels:
        return Undefined(
            why=f"{pluralize(labels.size, 'labelled item')}: a regression on "
            f"{pluralize(columns.shape[1], 'column')} needs {min_labels}"
        )
    if len(set(sample.documents)) < 2:
        return Undefined(why="fewer than 2 labelled documents")
    design, design_of_rest = (
        np.column_stack([np.ones(len(rows)), rows]) for rows in (columns, rest_columns)
    )
    labelled_predictions, rest_predictions = np.empty(labels.size), np.zeros(len(rest_columns))
    for fold in iterate_folds(sample.documents, _N_FOLDS, rng):
        # Minimum-norm coefficients if columns are collinear.
        coefficients = np.linalg.lstsq(design[~fold], labels[~fold], rcond=None)[0]
        labelled_predictions[fold] = design[fold] @ coefficients
        # Weight each fold's model by its share of the labels, as on the labelled side.
        rest_predictions += fold.mean() * (design_of_rest @ coefficients)
    return replace(sample, judged=labelled_predictions, rest=rest_predictions)


def _choose_method(
    ppi: PpiMean | Undefined,
    regression: PpiMean | Undefined | None,
    samples: Sequence[PartlyLabelled],
) -> EstimationMethod | None:
    """Choose a method by numbers of labels only; choosing the narrowest interval would bias it."""
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


def plan_labels(items: JoinedItems, *, level: float, n_judged: int) -> Planning:
    """Plan numbers of labels, with the group's labelled items as a pilot.

    The curve is based on the variance within systems. Labels of parts are clustered in documents,
    with the pilot's design effect; there is one label per document and system for whole summaries.
    """
    samples = samples_by_system(items)
    documents = [
        (name, document) for name, sample in samples.items() for document in sample.documents
    ]
    labelled_samples = [sample for sample in samples.values() if sample.human.size]
    centred_labels = [sample.human - sample.human.mean() for sample in labelled_samples]
    centred_scores = [sample.judged - sample.judged.mean() for sample in labelled_samples]
    pilot_sample = (
        estimate_pilot(
            np.concatenate(centred_labels), np.concatenate(centred_scores), documents=documents
        )
        if centred_labels
        else Undefined(why="no labelled items")
    )
    return Planning(
        n_judged=n_judged,
        curve=pilot_sample
        if isinstance(pilot_sample, Undefined)
        else planning_curve(pilot_sample, n_judged=n_judged, level=level),
        separations=tuple(
            _separation(a, b, difference, level, n_judged)
            for (a, b), difference in paired_differences(items).items()
        ),
    )


def _separation(a: str, b: str, sample: PartlyLabelled, level: float, n_judged: int) -> Separation:
    pilot_sample = estimate_pilot(sample.human, sample.judged, documents=sample.documents)
    difference = float(sample.human.mean()) if sample.human.size else 0.0
    return Separation(
        system_a=a,
        system_b=b,
        difference=difference,
        plan=pilot_sample
        if isinstance(pilot_sample, Undefined)
        else labels_to_separate(pilot_sample, difference, n_judged=n_judged, level=level),
    )
