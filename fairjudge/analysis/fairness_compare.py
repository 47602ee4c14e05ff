"""Comparing coverage reports: over data sets, and between scorers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from fairjudge.datasets._json import JsonError, parse
from fairjudge.datasets._source import read_bytes
from fairjudge.domain import Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.measures import FairnessMeasure, FairnessMeasures
from fairjudge.fairness.overall_score import Overall, Scaling, overall
from fairjudge.fairness.registry import FAMILIES
from fairjudge.fairness.scorer_agreement import (
    ScorerAgreement,
    agreement_over_samples,
    agreement_over_systems,
)
from fairjudge.records.results import Json, figure
from fairjudge.records.schema import without_schema
from fairjudge.stats.correlation import CorrelationName

TOGETHER = " with "
"""Between the names of two measures that are compared with each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenReport:
    """The JSON of a fairness command, with what it is called and the file, where it is of one."""

    name: str
    report: Mapping[str, Any]
    path: Path | None = None


def overall_of(
    reports: Sequence[GivenReport], *, measure: str, scaling: Scaling = "range"
) -> dict[str, Overall | Undefined]:
    """Return the Overall score of each system over data sets, or scorers, one report each."""
    scores: dict[str, dict[str, float]] = {}
    for one in reports:
        if one.name in scores:
            raise InputError(f"two data sets are called {one.name!r}; rename one", path=one.path)
        scores[one.name] = _by_system(one, measure)
    return overall(scores, scaling=scaling)


def overall_json(
    found: Mapping[str, Overall | Undefined], *, measure: str, scaling: Scaling = "range"
) -> Json:
    """Return the JSON of ``fairness overall``."""
    head = {} if scaling == "range" else {"scaling": scaling}
    return head | {
        "measure": measure,
        "systems": {
            system: figure(score)
            if isinstance(score, Undefined)
            else {"value": score.value, "normalised": dict(score.normalised)}
            for system, score in found.items()
        },
    }


def agreement_of(
    first: GivenReport,
    second: GivenReport | None,
    *,
    seed: int,
    correlation: CorrelationName = "spearman",
) -> dict[str, ScorerAgreement]:
    """Correlate the measures of reports on the same summaries, by name.

    Of two reports of one command each measure is compared with itself: by summary where it has a
    number for each, else by system (coverage fairness, Table 2). Of ``coverage`` and
    ``proportional`` every two measures by summary are compared (Table 8), and without a second
    report those of the first among themselves (FairSumm, Table 9).
    """
    rng = np.random.default_rng(seed)
    ours, theirs = _family(first), _family(first if second is None else second)
    over_samples = partial(agreement_over_samples, rng=rng, correlation=correlation)
    found: dict[str, ScorerAgreement] = {}
    if second is None or ours is not theirs:
        pairs = [(one, other) for one in _compared(ours) for other in _compared(theirs)]
        if second is None:
            pairs = list(combinations(_compared(ours), 2))
        for one, other in pairs:
            mine, others = _by_sample(first, one), _by_sample(second or first, other)
            found[f"{one.key}{TOGETHER}{other.key}"] = over_samples(mine, others)
        return found
    for measure in _compared(ours):
        mine, others = _by_sample(first, measure), _by_sample(second, measure)
        found[measure.key] = over_samples(mine, others)
    for measure in ours.of_corpora:
        found[measure.key] = agreement_over_systems(
            _by_system(first, measure.key),
            _by_system(second, measure.key),
            rng=rng,
            correlation=correlation,
        )
    return found


def agreement_json(
    found: Mapping[str, ScorerAgreement], *, correlation: CorrelationName = "spearman"
) -> Json:
    """Return the JSON of ``fairness agreement``."""
    head = {} if correlation == "spearman" else {"correlation": correlation}
    return head | {
        name: {"n": one.n, "n_unmatched": one.n_unmatched} | figure(one.rho, keep=())
        for name, one in found.items()
    }


def _family(given: GivenReport) -> FairnessMeasures[Any, Any, Any]:
    family = FAMILIES.get(str(given.report.get("measure", COVERAGE.name)))
    if family is None:
        raise _not_a_report(given.path)
    return family


def _compared(
    family: FairnessMeasures[Any, Any, Any],
) -> tuple[FairnessMeasure[Any, Any, Any], ...]:
    """Return the measures with a number for each summary; verdicts on coverage are not ordered."""
    shown = (measure for measure in family.of_samples if measure.shown)
    return tuple(measure for measure in shown if measure.key not in {"r_ec", "r_ec_strict"})


def read_report(path: Path) -> Mapping[str, Any]:
    """Return the object in a JSON file."""
    try:
        found = parse(read_bytes(path).decode("utf-8"))
    except (JsonError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as JSON: {error}", path=path) from None
    if not isinstance(found, dict):
        raise InputError("expected the JSON of a fairness command", path=path)
    return without_schema(found, path)


def _by_system(given: GivenReport, measure: str) -> dict[str, float]:
    """Return the measure of each system that has one."""
    try:
        found = {name: system[measure]["value"] for name, system in given.report["systems"].items()}
        return {name: float(value) for name, value in found.items() if value is not None}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise _not_a_report(given.path) from None


def _by_sample(
    given: GivenReport, measure: FairnessMeasure[Any, Any, Any]
) -> dict[tuple[str, str], float]:
    try:
        return {
            (str(sample["eid"]), str(sample["system"])): float(sample[measure.in_samples])
            for sample in given.report["samples"]
        }
    except (KeyError, TypeError, ValueError, OverflowError):
        raise _not_a_report(given.path) from None


def _not_a_report(path: Path | None) -> InputError:
    return InputError(
        "expected what 'fairjudge fairness coverage --json' or 'proportional --json' writes",
        path=path,
    )
