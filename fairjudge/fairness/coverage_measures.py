"""The measures of ``fairness coverage``: Equal Coverage, R_EC and Coverage Parity; 0 is fair.

R_EC stands twice: by p-values whose test keeps its level in sets of any size, and as the paper has
it, by the share of relabellings that are *more* unequal than the summary. That can be 0 in a set of
three documents, so of small sets it finds more unfair than chance allows.

Coverage is a probability or a similarity; see `fairjudge.fairness.support`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from fairjudge.fairness.coverage_parity import Contributions, parity
from fairjudge.fairness.equal_coverage import ALPHA, SampleCoverage
from fairjudge.fairness.judge_error import equal_coverage_band
from fairjudge.fairness.measures import Band, FairnessMeasure, FairnessMeasures
from fairjudge.stats._arrays import BoolArray, FloatArray
from fairjudge.stats.permutation import PermutationTest


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRows:
    """The samples of a system, with the test of each; p-values below ``alpha`` are significant."""

    samples: Sequence[SampleCoverage]
    tests: Sequence[PermutationTest]
    alpha: float = ALPHA


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageErrors:
    """The samples of a system, at least one, and by how much each value's coverage may be off."""

    samples: Sequence[SampleCoverage]
    error_rate: float


def equal_coverages(rows: CoverageRows) -> FloatArray:
    """Return the Equal Coverage of each sample (equation 5)."""
    return np.array([sample.equal_coverage for sample in rows.samples], dtype=np.float64)


def significant(rows: CoverageRows) -> BoolArray:
    """Return for each sample whether its Equal Coverage is significant."""
    return np.array([test.p_value < rows.alpha for test in rows.tests], dtype=np.bool_)


def strictly_significant(rows: CoverageRows) -> BoolArray:
    """Return the same by the paper's p-value, which can be 0."""
    return np.array([test.p_value_strict < rows.alpha for test in rows.tests], dtype=np.bool_)


def mean_equal_coverage_band(errors: CoverageErrors) -> Band:
    """Bound the mean Equal Coverage by the mean of the samples' bounds."""
    bands = [equal_coverage_band(sample, error_rate=errors.error_rate) for sample in errors.samples]
    return Band(
        low=sum(band.low for band in bands) / len(bands),
        high=sum(band.high for band in bands) / len(bands),
    )


CoverageMeasure: TypeAlias = FairnessMeasure[CoverageRows, Contributions, CoverageErrors]

_published = partial(CoverageMeasure, stream="shared")

COVERAGE: Final[FairnessMeasures[CoverageRows, Contributions, CoverageErrors]] = FairnessMeasures(
    "coverage",
    _published(
        key="equal_coverage",
        label="Equal Coverage",
        of_sample=equal_coverages,
        band=mean_equal_coverage_band,
    ),
    _published(key="r_ec", label="R_EC", of_sample=significant, sample_key="unfair"),
    _published(
        key="r_ec_strict",
        label="R_EC, as published",
        of_sample=strictly_significant,
        sample_key="unfair_strict",
    ),
    _published(key="coverage_parity", label="Coverage Parity", of_corpus=parity),
)
"""The measures of ``fairness coverage``. To add one, see docs/contributing/measure.md."""
