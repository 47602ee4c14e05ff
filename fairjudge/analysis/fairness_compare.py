"""Comparison of fairness reports over data sets and between scorers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from fairjudge.datasets._json import JsonError, parse
from fairjudge.datasets._source import read_bytes
from fairjudge.errors import InputError
from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.measures import FairnessMeasure, FairnessMeasures
from fairjudge.fairness.overall_score import Scaling, overall
from fairjudge.fairness.registry import FAMILIES, shown_measures
from fairjudge.fairness.scorer_checks import (
    ScorerAgreement,
    agreement_over_samples,
    agreement_over_systems,
)
from fairjudge.records.results import Json, figure, to_json
from fairjudge.records.schema import without_schema
from fairjudge.stats.correlation import CorrelationName
from fairjudge.stats.resampling import Resampling

TOGETHER = " with "
"""Separator between the names of two compared measures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessReport:
    """The JSON of a fairness command, with the name of the report and its file, if any."""

    name: str
    report: Mapping[str, Any]
    path: Path | None = None

    @property
    def family(self) -> FairnessMeasures[Any, Any, Any]:
        """The measures of its command; raises InputError for other JSON."""
        family = FAMILIES.get(str(self.report.get("measure", COVERAGE.name)))
        if family is None:
            raise not_a_report(self.path)
        return family


def overall_json(reports: Sequence[FairnessReport], *, measure: str, scaling: Scaling) -> Json:
    """Return the JSON of ``fairness overall``: each system's score over data sets or scorers.

    There is one report per data set or scorer.
    """
    scores: dict[str, dict[str, float | None]] = {}
    for report in reports:
        if report.name in scores:
            raise InputError(
                f"two data sets are called {report.name!r}; rename one", path=report.path
            )
        scores[report.name] = _values_by_system(report, measure)
    head = {} if scaling == "range" else {"scaling": scaling}
    by_system = overall(scores, scaling=scaling, direction=shown_measures()[measure].direction)
    return head | {"measure": measure, "systems": to_json(by_system)}


def agreement_of(
    first: FairnessReport,
    second: FairnessReport | None,
    *,
    seed: int,
    correlation: CorrelationName = "spearman",
) -> dict[str, ScorerAgreement]:
    """Correlate measures between reports on the same summaries.

    For two reports of the same command, each measure is correlated with itself, over summaries if
    it has a value per summary, else over systems (coverage fairness, Table 2). For a ``coverage``
    and a ``proportional`` report, all pairs of measures are correlated over summaries (Table 8).
    Without a second report, all pairs of measures of the first are (FairSumm, Table 9).
    """
    resampling = Resampling(rng=np.random.default_rng(seed))
    over_samples = partial(agreement_over_samples, resampling=resampling, correlation=correlation)
    over_systems = partial(agreement_over_systems, resampling=resampling, correlation=correlation)
    first_measures = _numeric_measures(first)
    if second is None or first.family is not second.family:
        pairs = (
            combinations(first_measures, 2)
            if second is None
            else product(first_measures, _numeric_measures(second))
        )
        return {
            f"{measure.key}{TOGETHER}{other.key}": over_samples(
                _by_sample(first, measure), _by_sample(second or first, other)
            )
            for measure, other in pairs
        }
    second_measures = _numeric_measures(second)
    by_sample = {
        measure.key: over_samples(_by_sample(first, measure), _by_sample(second, measure))
        for measure in first_measures
        if measure in second_measures
    }
    by_system = {
        measure.key: over_systems(_by_system(first, measure.key), _by_system(second, measure.key))
        for measure in first.family.corpus_measures
        if _has(first, measure) and _has(second, measure)
    }
    return by_sample | by_system


def agreement_json(
    agreements: Mapping[str, ScorerAgreement], *, correlation: CorrelationName = "spearman"
) -> Json:
    """Return the JSON of ``fairness agreement``."""
    head = {} if correlation == "spearman" else {"correlation": correlation}
    return head | {
        name: {"n": agreement.n, "n_unmatched": agreement.n_unmatched}
        | figure(agreement.rho, keep=())
        for name, agreement in agreements.items()
    }


def _numeric_measures(report: FairnessReport) -> tuple[FairnessMeasure[Any, Any, Any], ...]:
    """Return the measures in `report` with a numeric value per summary.

    Significance verdicts are excluded. Reports of earlier versions may lack newer measures.
    """
    visible = (measure for measure in report.family.sample_measures if measure.shown)
    ordered = [measure for measure in visible if measure.key not in {"r_ec", "r_ec_strict"}]
    return tuple(m for m in ordered if _has(report, m)) or tuple(ordered)


def _has(report: FairnessReport, measure: FairnessMeasure[Any, Any, Any]) -> bool:
    """Return whether `report` has `measure`, defined or not."""
    samples, systems = (report.report.get(name) for name in ("samples", "systems"))
    rows = chain(
        samples if isinstance(samples, list) else (),
        systems.values() if isinstance(systems, dict) else (),
    )
    return any(
        isinstance(row, dict) and (measure.key in row or measure.sample_json_key in row)
        for row in rows
    )


def read_report(path: Path) -> Mapping[str, Any]:
    """Return the object in a JSON file."""
    try:
        content = parse(read_bytes(path).decode("utf-8"))
    except (JsonError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as JSON: {error}", path=path) from None
    if not isinstance(content, dict):
        raise InputError("expected the JSON of a fairness command", path=path)
    return without_schema(content, path)


def _by_system(report: FairnessReport, measure: str) -> dict[str, float]:
    """Return the measure of each system, if defined."""
    values = _values_by_system(report, measure)
    return {name: value for name, value in values.items() if value is not None}


def _values_by_system(report: FairnessReport, measure: str) -> dict[str, float | None]:
    """Return the measure of each system, or None if it is undefined."""
    try:
        values = {
            name: system[measure]["value"] for name, system in report.report["systems"].items()
        }
        return {name: None if value is None else float(value) for name, value in values.items()}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise not_a_report(report.path) from None


def _by_sample(
    report: FairnessReport, measure: FairnessMeasure[Any, Any, Any]
) -> dict[tuple[str, str], float]:
    try:
        return {
            (str(sample["eid"]), str(sample["system"])): float(sample[measure.sample_json_key])
            for sample in report.report["samples"]
        }
    except (KeyError, TypeError, ValueError, OverflowError):
        raise not_a_report(report.path) from None


def not_a_report(path: Path | None) -> InputError:
    """Return the error for input that is not a report of the two commands."""
    return InputError(
        "expected the JSON of 'fairjudge fairness coverage --json' or 'proportional --json'",
        path=path,
    )
