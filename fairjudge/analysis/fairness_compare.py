"""Comparing coverage reports: over data sets, and between scorers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairjudge.datasets._json import JsonError, parse
from fairjudge.datasets._source import read_bytes
from fairjudge.domain import Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.overall_score import Overall, overall
from fairjudge.fairness.scorer_agreement import (
    ScorerAgreement,
    agreement_over_samples,
    agreement_over_systems,
)
from fairjudge.records.results import Json, figure
from fairjudge.records.schema import without_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreements:
    """Table 2 for two scorers: over summaries, and over systems."""

    equal_coverage: ScorerAgreement
    coverage_parity: ScorerAgreement


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenReport:
    """The JSON of a fairness command, with what it is called and the file, where it is of one."""

    name: str
    report: Mapping[str, Any]
    path: Path | None = None


def overall_of(reports: Sequence[GivenReport], *, measure: str) -> dict[str, Overall | Undefined]:
    """Return the Overall score of each system over data sets, one report a data set."""
    scores: dict[str, dict[str, float]] = {}
    for one in reports:
        if one.name in scores:
            raise InputError(f"two data sets are called {one.name!r}; rename one", path=one.path)
        scores[one.name] = _by_system(one, measure)
    return overall(scores)


def overall_json(found: Mapping[str, Overall | Undefined], *, measure: str) -> Json:
    """Return the JSON of ``fairness overall``."""
    return {
        "measure": measure,
        "systems": {
            system: figure(score)
            if isinstance(score, Undefined)
            else {"value": score.value, "normalised": dict(score.normalised)}
            for system, score in found.items()
        },
    }


def agreement_of(first: GivenReport, second: GivenReport, *, seed: int) -> Agreements:
    """Compare two reports on the same summaries by different scorers."""
    rng = np.random.default_rng(seed)
    return Agreements(
        equal_coverage=agreement_over_samples(_by_sample(first), _by_sample(second), rng=rng),
        coverage_parity=agreement_over_systems(
            _by_system(first, "coverage_parity"), _by_system(second, "coverage_parity"), rng=rng
        ),
    )


def agreement_json(found: Agreements) -> Json:
    """Return the JSON of ``fairness agreement``."""
    named = {"equal_coverage": found.equal_coverage, "coverage_parity": found.coverage_parity}
    return {
        name: {"n": one.n, "n_unmatched": one.n_unmatched} | figure(one.rho, keep=())
        for name, one in named.items()
    }


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


def _by_sample(given: GivenReport) -> dict[tuple[str, str], float]:
    try:
        return {
            (str(sample["eid"]), str(sample["system"])): float(sample["equal_coverage"])
            for sample in given.report["samples"]
        }
    except (KeyError, TypeError, ValueError, OverflowError):
        raise _not_a_report(given.path) from None


def _not_a_report(path: Path | None) -> InputError:
    return InputError("expected what 'fairjudge fairness coverage --json' writes", path=path)
