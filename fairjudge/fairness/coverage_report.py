"""From supports to Equal Coverage and Coverage Parity, by system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairjudge.domain import Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.fairness._reporting import (
    Excluded,
    Figure,
    count_reasons,
    figure,
    generator,
    texts_by_system,
    unmatched_notes,
)
from fairjudge.fairness._resampling import Resampling
from fairjudge.fairness.coverage_parity import N_RESAMPLES, CoverageParity, coverage_parity
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
from fairjudge.fairness.support import CoverageVariant, Support, align
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageSample:
    """One summary that takes part; ``n_units`` counts the units that the variant leaves."""

    eid: str
    coverage: SampleCoverage
    test: RelabellingTest
    n_units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCoverage:
    """One system."""

    equal: EqualCoverage
    parity: CoverageParity | Undefined
    samples: tuple[CoverageSample, ...]
    excluded: tuple[Excluded, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageReport:
    """All systems, with what a reader should know about the input."""

    attribute: str
    systems: Mapping[str, SystemCoverage]
    notes: tuple[str, ...]
    signature: str


def report_coverage(
    corpus: LabelledCorpus,
    summaries: Sequence[Summary],
    supports: Sequence[Support],
    *,
    options: CoverageOptions,
) -> CoverageReport:
    """Measure every system that has a summary of a cluster.

    Parameters
    ----------
    supports
        One for each summary; a summary without one is ``unscored``.

    Raises
    ------
    InputError
        Two supports or two summaries for one pair of cluster and system, no summary of any
        cluster, or a support whose articles are not the cluster's.
    """
    texts = texts_by_system(corpus, summaries)
    by_pair: dict[tuple[str, str], Support] = {}
    for support in supports:
        if (support.eid, support.system) in by_pair:
            raise InputError(f"two supports of {support.eid!r} by {support.system!r}")
        by_pair[support.eid, support.system] = support
    systems = {
        system: _system(system, corpus, by_eid, by_pair, options)
        for system, by_eid in texts.items()
    }
    kinds = sorted({support.kind for support in supports})
    notes = [*corpus.notes, *unmatched_notes(corpus, texts)]
    if "similarity" in kinds:
        notes.append("coverage is a similarity here, not a probability of entailment")
    return CoverageReport(
        attribute=corpus.attribute,
        systems=systems,
        notes=tuple(notes),
        signature=_signature(corpus, options, "+".join(kinds)),
    )


def _system(
    system: str,
    corpus: LabelledCorpus,
    texts: Mapping[str, str],
    supports: Mapping[tuple[str, str], Support],
    options: CoverageOptions,
) -> SystemCoverage:
    rng = generator(options.seed, system)
    samples: list[CoverageSample] = []
    excluded: list[Excluded] = []
    for labelled in corpus.sets:
        if labelled.eid not in texts:
            continue
        support = supports.get((labelled.eid, system))
        found = _sample(labelled, texts[labelled.eid], support, options, rng)
        if isinstance(found, CoverageSample):
            samples.append(found)
        else:
            excluded.append(Excluded(eid=labelled.eid, system=system, reason=found))
    resampling = Resampling(rng=rng, n_resamples=options.n_resamples, level=options.level)
    return SystemCoverage(
        equal=summarise_equal_coverage(
            [sample.coverage.equal_coverage for sample in samples],
            [sample.test for sample in samples],
            resampling=resampling,
            alpha=options.alpha,
            n_excluded=len(excluded),
        ),
        parity=coverage_parity(
            [sample.coverage for sample in samples],
            resampling=resampling,
            variant=options.variant,
            n_excluded=len(excluded),
        ),
        samples=tuple(samples),
        excluded=tuple(excluded),
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


def coverage_json(report: CoverageReport) -> dict[str, Any]:
    """Return the report as the JSON of ``fairness coverage``; coverage as it is, not in percent."""
    return {
        "attribute": report.attribute,
        "systems": {system: _system_json(result) for system, result in report.systems.items()},
        "samples": [
            _sample_json(system, sample)
            for system, result in report.systems.items()
            for sample in result.samples
        ],
        "excluded": [
            {"eid": entry.eid, "system": system, "reason": entry.reason}
            for system, result in report.systems.items()
            for entry in result.excluded
        ],
        "notes": list(report.notes),
        "signature": report.signature,
    }


def _system_json(result: SystemCoverage) -> Figure:
    parity = result.parity
    shown: Figure = {
        "n": result.equal.n,
        "excluded": len(result.excluded),
        "excluded_by_reason": count_reasons(result.excluded),
        "equal_coverage": figure(result.equal.mean),
        "r_ec": figure(result.equal.unfair_share),
        "r_ec_strict": figure(result.equal.unfair_share_strict),
    }
    if isinstance(parity, Undefined):
        return shown | {
            "coverage_parity": figure(parity),
            "by_value": {},
            "over": None,
            "under": None,
        }
    return shown | {
        "coverage_parity": figure(parity.value),
        "by_value": _by_value_json(parity),
        "over": parity.over,
        "under": parity.under,
    }


def _by_value_json(parity: CoverageParity) -> Figure:
    shown = {}
    for value, entry in parity.by_value.items():
        row = figure(entry.mean)
        shown[value] = {"mean": row.pop("value"), **row, "n": entry.n, "p_holm": entry.p_holm}
        shown[value].setdefault("p_value", None)
    return shown


def _sample_json(system: str, sample: CoverageSample) -> Figure:
    return {
        "eid": sample.eid,
        "system": system,
        "equal_coverage": sample.coverage.equal_coverage,
        "p_value": sample.test.p_value,
        "p_value_strict": sample.test.p_value_strict,
        "relabellings": sample.test.n_relabellings,
        "exact": sample.test.exact,
        "coverage": sample.coverage.overall,
        "by_value": {
            entry.value: {"coverage": entry.coverage, "documents": entry.n_documents}
            for entry in sample.coverage.by_value
        },
        "units": sample.n_units,
    }
