"""From supports to Equal Coverage and Coverage Parity, by system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from fairjudge.calibration.ppi import PpiMean
from fairjudge.domain import Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.fairness._reporting import (
    Excluded,
    generator,
    texts_by_system,
    unmatched_notes,
)
from fairjudge.fairness._resampling import Resampling
from fairjudge.fairness.coverage_parity import N_RESAMPLES, CoverageParity, coverage_parity
from fairjudge.fairness.dominance import Dominance, dominance
from fairjudge.fairness.equal_coverage import (
    ALPHA,
    N_PERMUTATIONS,
    EqualCoverage,
    RelabellingTest,
    SampleCoverage,
    coverage_by_value,
    relabelling_test,
    summarise_equal_coverage,
)
from fairjudge.fairness.judge_error import (
    Band,
    ValueSensitivity,
    corrected_mean,
    mean_equal_coverage_band,
    value_sensitivity,
)
from fairjudge.fairness.support import CoverageVariant, Support, align
from fairjudge.fairness.value_coverage import ValueCoverageMeans, value_coverage
from fairjudge.fairness.values import Exclusion, LabelledCorpus, LabelledSet
from fairjudge.signature import signature


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageOptions:
    """All that can change the numbers; ``scorer`` says what made the supports."""

    variant: CoverageVariant = "paper"
    scorer: str = "given"
    alpha: float = ALPHA
    n_permutations: int = N_PERMUTATIONS
    n_resamples: int = N_RESAMPLES
    level: float = 0.95
    seed: int = 0
    error_rate: float | None = None
    """Assumed mean error of the scorer, for a sensitivity band; None leaves it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageSample:
    """One summary that takes part; ``n_units`` counts the units that the variant leaves.

    ``unfair`` says whether its Equal Coverage is significant.
    """

    eid: str
    coverage: SampleCoverage
    test: RelabellingTest
    unfair: bool
    n_units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """Means over samples, corrected by human supports (prediction-powered inference).

    ``difference`` has the mean of c_k over the samples that hold value k.
    """

    equal_coverage: PpiMean | Undefined
    unfair_share: PpiMean | Undefined
    difference: Mapping[str, PpiMean | Undefined]
    n_labelled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """What the measures may be if the scorer errs by ``error_rate``, in the worst case."""

    error_rate: float
    equal_coverage: Band
    by_value: Mapping[str, ValueSensitivity]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCoverage:
    """One system.

    ``corrected`` is there where people scored some samples, ``sensitivity`` where an error rate
    was assumed and samples took part.
    """

    equal: EqualCoverage
    parity: CoverageParity | Undefined
    dominance: Dominance
    by_value: Mapping[str, ValueCoverageMeans]
    corrected: Corrected | None
    sensitivity: Sensitivity | None
    samples: tuple[CoverageSample, ...]
    excluded: tuple[Excluded, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageReport:
    """All systems, with what a reader should know about the input."""

    attribute: str
    variant: CoverageVariant
    systems: Mapping[str, SystemCoverage]
    notes: tuple[str, ...]
    signature: str


def report_coverage(
    corpus: LabelledCorpus,
    summaries: Sequence[Summary],
    supports: Sequence[Support],
    *,
    options: CoverageOptions,
    human: Sequence[Support] = (),
) -> CoverageReport:
    """Measure every system that has a summary of a cluster.

    Parameters
    ----------
    supports
        One for each summary; a summary without one is ``unscored``.
    human
        Supports from people, for a random part of the summaries.

    Raises
    ------
    InputError
        Two supports or two summaries for one pair of cluster and system, no summary of any
        cluster, or a support whose articles are not the cluster's.
    """
    texts = texts_by_system(corpus, summaries)
    by_pair, by_people = _by_pair(supports), _by_pair(human)
    systems = {}
    for system, by_eid in texts.items():
        sets = [labelled for labelled in corpus.sets if labelled.eid in by_eid]
        people = {pair: support for pair, support in by_people.items() if pair[1] == system}
        systems[system] = _system(
            system, sets, texts=by_eid, supports=by_pair, human=people, options=options
        )
    kinds = sorted({support.kind for support in supports})
    notes = [*corpus.notes, *unmatched_notes(corpus, texts)]
    if "similarity" in kinds:
        notes.append("coverage is a similarity here, not a probability of entailment")
    return CoverageReport(
        attribute=corpus.attribute,
        variant=options.variant,
        systems=systems,
        notes=tuple(notes),
        signature=_signature(corpus, options, "+".join(kinds)),
    )


def _by_pair(supports: Sequence[Support]) -> dict[tuple[str, str], Support]:
    found: dict[tuple[str, str], Support] = {}
    for support in supports:
        if (support.eid, support.system) in found:
            raise InputError(f"two supports of {support.eid!r} by {support.system!r}")
        found[support.eid, support.system] = support
    return found


def _system(
    system: str,
    sets: Sequence[LabelledSet],
    *,
    texts: Mapping[str, str],
    supports: Mapping[tuple[str, str], Support],
    human: Mapping[tuple[str, str], Support],
    options: CoverageOptions,
) -> SystemCoverage:
    rng = generator(options.seed, system)
    samples: list[CoverageSample] = []
    excluded: list[Excluded] = []
    for labelled in sets:
        support = supports.get((labelled.eid, system))
        found = _sample(labelled, texts[labelled.eid], support, options, rng)
        if isinstance(found, CoverageSample):
            samples.append(found)
        else:
            excluded.append(Excluded(eid=labelled.eid, system=system, reason=found))
    resampling = Resampling(rng=rng, n_resamples=options.n_resamples, level=options.level)
    covered = [sample.coverage for sample in samples]
    return SystemCoverage(
        equal=summarise_equal_coverage(
            [coverage.equal_coverage for coverage in covered],
            [sample.test for sample in samples],
            resampling=resampling,
            alpha=options.alpha,
            n_excluded=len(excluded),
        ),
        parity=coverage_parity(
            covered, resampling=resampling, variant=options.variant, n_excluded=len(excluded)
        ),
        dominance=dominance(
            covered,
            [sample.unfair for sample in samples],
            resampling=resampling,
            variant=options.variant,
        ),
        by_value=value_coverage(covered, resampling=resampling),
        corrected=_corrected(system, sets, samples, human, options) if human else None,
        sensitivity=_sensitivity(covered, options.error_rate),
        samples=tuple(samples),
        excluded=tuple(excluded),
    )


def _corrected(
    system: str,
    sets: Sequence[LabelledSet],
    samples: Sequence[CoverageSample],
    human: Mapping[tuple[str, str], Support],
    options: CoverageOptions,
) -> Corrected:
    """Compare each measure by the scorer with the same measure by people."""
    rng = generator(options.seed, f"human:{system}")
    measured = {sample.eid: sample for sample in samples}
    labelled_by_people: dict[str, CoverageSample] = {}
    for labelled in sets:
        support = human.get((labelled.eid, system))
        if support is None or labelled.eid not in measured:
            continue
        found = _sample(labelled, "", support, options, rng)
        if isinstance(found, CoverageSample):
            labelled_by_people[labelled.eid] = found

    def mean(measure: Callable[[CoverageSample], float | None]) -> PpiMean | Undefined:
        def values(found: Mapping[str, CoverageSample]) -> dict[tuple[str, str], float]:
            by_eid = {eid: measure(sample) for eid, sample in found.items()}
            return {(eid, system): v for eid, v in by_eid.items() if v is not None}

        return corrected_mean(values(measured), values(labelled_by_people), level=options.level)

    names = sorted({entry.value for sample in samples for entry in sample.coverage.by_value})
    return Corrected(
        equal_coverage=mean(lambda sample: sample.coverage.equal_coverage),
        unfair_share=mean(lambda sample: float(sample.unfair)),
        difference={name: mean(partial(_difference, name)) for name in names},
        n_labelled=len(labelled_by_people),
    )


def _difference(value: str, sample: CoverageSample) -> float | None:
    return sample.coverage.difference(value)


def _sensitivity(samples: Sequence[SampleCoverage], error_rate: float | None) -> Sensitivity | None:
    if error_rate is None or not samples:
        return None
    return Sensitivity(
        error_rate=error_rate,
        equal_coverage=mean_equal_coverage_band(samples, error_rate=error_rate),
        by_value=value_sensitivity(samples, error_rate=error_rate),
    )


def _sample(
    labelled: LabelledSet,
    text: str,
    support: Support | None,
    options: CoverageOptions,
    rng: np.random.Generator,
) -> CoverageSample | Exclusion:
    if labelled.exclusion is not None:
        return labelled.exclusion
    if support is None:
        return "unscored" if text.strip() else "empty_summary"
    if not support.units:
        return "empty_summary"
    held = np.array([label is not None for label in labelled.labels])
    coverage = align(support, labelled.aids).restricted(held).coverage(options.variant)
    if coverage.max(initial=0.0) <= 0.0:
        return "no_support"
    labels = [label for label in labelled.labels if label is not None]
    test = relabelling_test(coverage, labels, rng=rng, n_permutations=options.n_permutations)
    if isinstance(test, Undefined):
        return "one_value"
    return CoverageSample(
        eid=labelled.eid,
        coverage=coverage_by_value(coverage, labels),
        test=test,
        unfair=test.p_value < options.alpha,
        n_units=coverage.shape[1],
    )


def _signature(corpus: LabelledCorpus, options: CoverageOptions, kinds: str) -> str:
    return signature(
        {
            "measure": "coverage",
            "attribute": corpus.attribute,
            "scorer": options.scorer,
            "kind": kinds or None,
            "variant": options.variant,
            "alpha": options.alpha,
            "permutations": options.n_permutations,
            "resamples": options.n_resamples,
            "seed": options.seed,
        }
    )
