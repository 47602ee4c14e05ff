"""Equal Coverage and Coverage Parity of each system, computed from supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from fairjudge.domain import Estimate, Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.fairness._reporting import (
    Report,
    SystemReport,
    measure_systems,
    split_outcomes,
)
from fairjudge.fairness.choices import CoverageVariant
from fairjudge.fairness.coverage_measures import COVERAGE, CoverageErrors, CoverageRows
from fairjudge.fairness.coverage_parity import (
    N_RESAMPLES,
    CoverageParity,
    contributions,
    value_parity,
)
from fairjudge.fairness.dominance import Dominance, dominance
from fairjudge.fairness.equal_coverage import (
    ALPHA,
    N_PERMUTATIONS,
    SampleCoverage,
    ValueCoverageMeans,
    coverage_by_value,
    relabelling_test,
    value_coverage,
)
from fairjudge.fairness.judge_error import (
    CorrectedMeans,
    Sensitivity,
    correct_means,
    value_sensitivity,
)
from fairjudge.fairness.measures import NO_SAMPLES, SampleNumbers, rows_from_columns
from fairjudge.fairness.support import Support, align
from fairjudge.fairness.values import Exclusion, LabelledCorpus, LabelledSet
from fairjudge.records.signature import signature
from fairjudge.stats.permutation import PermutationTest
from fairjudge.stats.resampling import Resampling, generator


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageOptions:
    """Options that affect the results; ``scorer`` is the name of what computed the supports."""

    variant: CoverageVariant = "paper"
    scorer: str = "given"
    alpha: float = ALPHA
    n_permutations: int = N_PERMUTATIONS
    n_resamples: int = N_RESAMPLES
    level: float = 0.95
    seed: int = 0
    error_rate: float | None = None
    """Assumed mean error of the scorer, for a sensitivity band; None for no band."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageSample:
    """One included summary; ``n_units`` counts the units that the variant keeps.

    ``numbers`` has its value for each measure that is a mean over samples.
    """

    coverage: SampleCoverage
    test: PermutationTest
    numbers: SampleNumbers
    n_units: int

    @property
    def unfair(self) -> bool:
        """Whether its Equal Coverage is significant."""
        return bool(self.numbers["r_ec"])


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCoverage(SystemReport[CoverageSample]):
    """The results of one system; ``sensitivity`` is None if no sample is included.

    ``estimates`` has each measure of `COVERAGE` by key. ``n_untestable`` counts the samples that
    have too few relabellings to be significant; they count as fair.
    """

    estimates: Mapping[str, Estimate | Undefined]
    n_untestable: int
    parity: CoverageParity | Undefined
    dominance: Dominance
    by_value: Mapping[str, ValueCoverageMeans]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageReport(Report[SystemCoverage]):
    """The results of all systems under ``variant``."""

    variant: CoverageVariant


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
        One per summary; a summary without support is ``unscored``.
    human
        Human support labels, for a random sample of the summaries.

    Raises
    ------
    InputError
        Two supports of one summary, a support whose articles are not the cluster's, or as
        `measure_systems`.
    """
    measure = partial(
        _system, supports=_by_system(supports), human=_by_system(human), options=options
    )
    systems, notes = measure_systems(corpus, summaries, measure)
    kinds = sorted({support.kind for support in supports})
    if "similarity" in kinds:
        notes += ("coverage is a similarity here, not a probability of entailment",)
    return CoverageReport(
        attribute=corpus.attribute,
        variant=options.variant,
        systems=systems,
        notes=notes,
        signature=signature(
            {
                "measure": "coverage",
                "attribute": corpus.attribute,
                "scorer": options.scorer,
                "kind": "+".join(kinds) or None,
                "variant": options.variant,
                "alpha": options.alpha,
                "permutations": options.n_permutations,
                "resamples": options.n_resamples,
                "seed": options.seed,
            }
        ),
    )


def _by_system(supports: Sequence[Support]) -> dict[str, dict[str, Support]]:
    by_system: dict[str, dict[str, Support]] = {}
    for support in supports:
        by_eid = by_system.setdefault(support.system, {})
        if support.eid in by_eid:
            raise InputError(f"two supports of {support.eid!r} by {support.system!r}")
        by_eid[support.eid] = support
    return by_system


def _system(
    system: str,
    sets: Sequence[LabelledSet],
    texts: Mapping[str, str],
    *,
    supports: Mapping[str, Mapping[str, Support]],
    human: Mapping[str, Mapping[str, Support]],
    options: CoverageOptions,
) -> SystemCoverage:
    rng = generator(options.seed, system)
    scorer_supports, human_supports = supports.get(system, {}), human.get(system, {})
    samples, exclusions = split_outcomes(
        {
            documents.eid: _sample(
                documents, texts[documents.eid], scorer_supports.get(documents.eid), options, rng
            )
            for documents in sets
        }
    )
    resampling = Resampling(rng=rng, n_resamples=options.n_resamples, level=options.level)
    sample_coverages = [sample.coverage for sample in samples.values()]
    tests = [sample.test for sample in samples.values()]
    parts = contributions(sample_coverages, variant=options.variant)
    return SystemCoverage(
        estimates=COVERAGE.estimates(
            CoverageRows(samples=sample_coverages, tests=tests, alpha=options.alpha),
            parts,
            n_samples=len(sample_coverages),
            resampling=resampling,
            n_excluded=len(exclusions),
        ),
        n_untestable=sum(test.p_floor >= options.alpha for test in tests),
        parity=value_parity(parts, resampling=resampling) if sample_coverages else NO_SAMPLES,
        dominance=dominance(
            sample_coverages,
            [sample.unfair for sample in samples.values()],
            resampling=resampling,
            variant=options.variant,
        ),
        by_value=value_coverage(sample_coverages, resampling=resampling),
        corrected=_corrected_means(system, sets, samples, human_supports, options)
        if human_supports
        else None,
        sensitivity=_sensitivity(sample_coverages, options.error_rate)
        if sample_coverages
        else None,
        samples=samples,
        excluded=exclusions,
    )


def _sensitivity(samples: Sequence[SampleCoverage], error_rate: float | None) -> Sensitivity | None:
    if error_rate is None:
        return None
    return Sensitivity(
        error_rate=error_rate,
        bands=COVERAGE.bands(CoverageErrors(samples=samples, error_rate=error_rate)),
        by_value=value_sensitivity(samples, error_rate=error_rate),
    )


def _corrected_means(
    system: str,
    sets: Sequence[LabelledSet],
    samples: Mapping[str, CoverageSample],
    human: Mapping[str, Support],
    options: CoverageOptions,
) -> CorrectedMeans:
    """Correct each measure with the same measure from human labels."""
    rng = generator(options.seed, f"human:{system}")
    human_samples, _ = split_outcomes(
        {
            documents.eid: _sample(documents, "", human[documents.eid], options, rng)
            for documents in sets
            if documents.eid in human and documents.eid in samples
        }
    )
    return CorrectedMeans(
        means=correct_means(_measures(samples), _measures(human_samples), level=options.level),
        difference=correct_means(
            _differences(samples), _differences(human_samples), level=options.level
        ),
        n_labelled=len(human_samples),
    )


def _measures(samples: Mapping[str, CoverageSample]) -> dict[str, dict[str, float]]:
    return {
        measure.key: {eid: float(sample.numbers[measure.key]) for eid, sample in samples.items()}
        for measure in COVERAGE.shown
        if measure.sample_formula is not None
    }


def _differences(samples: Mapping[str, CoverageSample]) -> dict[str, dict[str, float]]:
    """Return each value's c_k in the samples in which it occurs."""
    by_value: dict[str, dict[str, float]] = {}
    for eid, sample in samples.items():
        for entry in sample.coverage.by_value:
            by_value.setdefault(entry.value, {})[eid] = entry.coverage - sample.coverage.overall
    return dict(sorted(by_value.items()))


def _sample(
    labelled_set: LabelledSet,
    text: str,
    support: Support | None,
    options: CoverageOptions,
    rng: np.random.Generator,
) -> CoverageSample | Exclusion:
    if labelled_set.exclusion is not None:
        return labelled_set.exclusion
    if support is None:
        return "unscored" if text.strip() else "empty_summary"
    if not support.units:
        return "empty_summary"
    indices = [index for index, label in enumerate(labelled_set.labels) if label is not None]
    coverage = align(support, labelled_set.aids).rows(indices).coverage(options.variant)
    if coverage.max(initial=0.0) <= 0.0:
        return "no_support"
    labels = [label for label in labelled_set.labels if label is not None]
    test = relabelling_test(coverage, labels, rng=rng, n_permutations=options.n_permutations)
    if isinstance(test, Undefined):
        return "one_value"
    sample_coverage = coverage_by_value(coverage, labels)
    row = CoverageRows(samples=[sample_coverage], tests=[test], alpha=options.alpha)
    return CoverageSample(
        coverage=sample_coverage,
        test=test,
        numbers=rows_from_columns(COVERAGE.by_sample(row, 1), 1)[0],
        n_units=coverage.shape[1],
    )
