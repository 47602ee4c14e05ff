"""Effect of each summarizer variant on fairness, from reports of the fairness commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fairjudge.analysis.fairness_compare import FairnessReport, not_a_report
from fairjudge.errors import InputError, StatisticsError
from fairjudge.fairness.choices import CoverageVariant
from fairjudge.fairness.comparison import Change, Rows, compare_with_baseline, family_size
from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.coverage_parity import contributions
from fairjudge.fairness.equal_coverage import SampleCoverage, ValueCoverage
from fairjudge.fairness.measures import FairnessMeasure, FairnessMeasures
from fairjudge.fairness.proportional import PROPORTIONAL
from fairjudge.fairness.shares import TAU, Shares
from fairjudge.records.results import COUNT_ONLY, Json, figure
from fairjudge.records.signature import signature
from fairjudge.stats._arrays import FloatArray


def changes_json(
    inputs: Sequence[FairnessReport], *, baseline: str, seed: int, n_resamples: int
) -> Json:
    """Return the JSON of ``fairness compare``: all systems of the reports against `baseline`.

    `inputs` are reports of ``fairness coverage --json``, of ``fairness proportional --json``, or
    one of each. ``excluded`` counts excluded samples by measure, system and reason.
    """
    reports: dict[str, FairnessReport] = {}
    for item in inputs:
        measure = item.family.name
        if measure in reports:
            raise InputError(
                f"two reports of {measure}: one of coverage and one of proportional are compared "
                "at a time",
                path=item.path,
            )
        reports[measure] = item
    attributes = sorted({str(item.report.get("attribute")) for item in reports.values()})
    if len(attributes) > 1:
        raise InputError(f"the reports are of different attributes: {', '.join(attributes)}")
    kinds = [rows_of_report(item.report, item.path) for item in reports.values()]
    excluded = {name: _excluded(item) for name, item in reports.items()}
    changes = compare_with_baseline(kinds, baseline=baseline, seed=seed, n_resamples=n_resamples)
    systems: dict[str, Json] = {}
    for change in changes:
        systems.setdefault(change.variant_name, {})[change.measure.key] = change_json(change)
    settings: dict[str, str | float | None] = {
        "measure": "change",
        "baseline": baseline,
        "resamples": n_resamples,
        "seed": seed,
    }
    return {
        "baseline": baseline,
        "family": {"tests": family_size(changes), "over": "all systems and measures here"},
        "systems": systems,
        "excluded": excluded,
        "notes": list(dict.fromkeys(note for item in reports.values() for note in _notes(item))),
        "signatures": {name: str(item.report.get("signature")) for name, item in reports.items()},
        "signature": signature(settings),
    }


def change_json(change: Change) -> Json:
    """Return the change of one measure as JSON, in the unit of its report."""
    scale = change.measure.times
    return {
        "n": change.n,
        "n_unpaired": change.n_unpaired,
        "baseline": None if change.baseline is None else change.baseline * scale,
        "value": None if change.variant is None else change.variant * scale,
        "difference": figure(change.difference, times=scale, keep=COUNT_ONLY)
        | {"p_holm": change.p_holm, "q_value": change.q_value},
        "relative": change.relative,
    }


def rows_of_report(report: Mapping[str, Any], path: Path | None = None) -> dict[str, Rows]:
    """Return the samples of each system; a system without samples has no rows."""
    try:
        by_system: dict[str, list[Mapping[str, Any]]] = {name: [] for name in report["systems"]}
        for sample in report["samples"]:
            by_system[sample["system"]].append(sample)
        if report["measure"] == COVERAGE.name:
            make_rows = partial(_coverage_rows, variant=report["variant"])
            return {name: make_rows(samples) for name, samples in by_system.items()}
        return {
            name: _proportional_rows(samples, tau=float(report["systems"][name].get("tau", TAU)))
            for name, samples in by_system.items()
        }
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, StatisticsError):
        raise not_a_report(path) from None


def _coverage_rows(samples: Sequence[Mapping[str, Any]], *, variant: CoverageVariant) -> Rows:
    coverages = [
        SampleCoverage(
            overall=float(sample["coverage"]),
            by_value=tuple(
                ValueCoverage(
                    value=value,
                    coverage=float(entry["coverage"]),
                    n_documents=int(entry["documents"]),
                )
                for value, entry in sample["by_value"].items()
            ),
            equal_coverage=float(sample["equal_coverage"]),
        )
        for sample in samples
    ]
    return Rows(
        measures=COVERAGE,
        eids=tuple(str(sample["eid"]) for sample in samples),
        means=_means(samples, COVERAGE),
        corpus=contributions(coverages, variant=variant),
    )


def _proportional_rows(samples: Sequence[Mapping[str, Any]], *, tau: float) -> Rows:
    values = tuple(sorted({value for sample in samples for value in sample["values"]}))
    column = {value: index for index, value in enumerate(values)}
    expected, actual = np.zeros((2, len(samples), len(values)))
    for row, sample in enumerate(samples):
        columns = [column[value] for value in sample["values"]]
        expected[row, columns] = sample["wanted"]
        actual[row, columns] = sample["summary"]
    return Rows(
        measures=PROPORTIONAL,
        eids=tuple(str(sample["eid"]) for sample in samples),
        means=_means(samples, PROPORTIONAL),
        corpus=Shares(values=values, targets=expected, actual=actual, tau=tau),
    )


def _means(
    samples: Sequence[Mapping[str, Any]], measures: FairnessMeasures[Any, Any, Any]
) -> dict[str, FloatArray]:
    """Return each measure's values in its formula's unit; skip measures with missing values."""
    return {
        measure.key: np.array(
            [_number(sample[measure.sample_json_key], measure) for sample in samples]
        )
        for measure in measures.sample_measures
        if all(measure.sample_json_key in sample for sample in samples)
    }


def _number(value: Any, measure: FairnessMeasure[Any, Any, Any]) -> float:
    return float(value) if isinstance(value, bool) else float(value) / measure.times


def _notes(item: FairnessReport) -> list[str]:
    notes = item.report.get("notes")
    return [str(note) for note in notes] if isinstance(notes, list) else []


def _excluded(item: FairnessReport) -> dict[str, dict[str, int]]:
    try:
        counts: dict[str, Counter[str]] = {name: Counter() for name in item.report["systems"]}
        for entry in item.report["excluded"]:
            counts[entry["system"]][entry["reason"]] += 1
    except (KeyError, TypeError):
        raise not_a_report(item.path) from None
    return {name: dict(sorted(count.items())) for name, count in counts.items()}
