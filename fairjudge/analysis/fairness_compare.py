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
from fairjudge.fairness.agreement import (
    ScorerAgreement,
    agreement_over_samples,
    agreement_over_systems,
)
from fairjudge.fairness.overall import Overall, overall
from fairjudge.records.schema import without_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreements:
    """Table 2 for two scorers: over summaries, and over systems."""

    equal_coverage: ScorerAgreement
    coverage_parity: ScorerAgreement


def overall_of_files(paths: Sequence[Path], *, measure: str) -> dict[str, Overall | Undefined]:
    """Return the Overall score of each system over data sets, one report a data set."""
    scores: dict[str, dict[str, float]] = {}
    for path in paths:
        if path.stem in scores:
            raise InputError(f"two data sets are called {path.stem!r}; rename one", path=path)
        scores[path.stem] = _by_system(read_report(path), measure, path)
    return overall(scores)


def agreement_of_files(first: Path, second: Path, *, seed: int) -> Agreements:
    """Compare two reports on the same summaries by different scorers."""
    rng = np.random.default_rng(seed)
    one, other = read_report(first), read_report(second)
    return Agreements(
        equal_coverage=agreement_over_samples(
            _by_sample(one, first), _by_sample(other, second), rng=rng
        ),
        coverage_parity=agreement_over_systems(
            _by_system(one, "coverage_parity", first),
            _by_system(other, "coverage_parity", second),
            rng=rng,
        ),
    )


def read_report(path: Path) -> Mapping[str, Any]:
    """Return the object in a JSON file."""
    try:
        found = parse(read_bytes(path).decode("utf-8"))
    except (JsonError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as JSON: {error}", path=path) from None
    if not isinstance(found, dict):
        raise InputError("expected the JSON of a fairness command", path=path)
    return without_schema(found, path)


def _by_system(report: Mapping[str, Any], measure: str, path: Path) -> dict[str, float]:
    """Return the measure of each system that has one."""
    try:
        found = {name: system[measure]["value"] for name, system in report["systems"].items()}
        return {name: float(value) for name, value in found.items() if value is not None}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise _not_a_report(path) from None


def _by_sample(report: Mapping[str, Any], path: Path) -> dict[tuple[str, str], float]:
    try:
        return {
            (str(sample["eid"]), str(sample["system"])): float(sample["equal_coverage"])
            for sample in report["samples"]
        }
    except (KeyError, TypeError, ValueError, OverflowError):
        raise _not_a_report(path) from None


def _not_a_report(path: Path) -> InputError:
    return InputError("expected what 'fairjudge fairness coverage --json' writes", path=path)
