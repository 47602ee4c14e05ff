"""The measures of ``fairness coverage``: `COVERAGE` defines which values of each are fairer.

There are two versions of R_EC. ``r_ec`` uses p-values of a test that is valid for sets of any size.
``r_ec_strict`` follows the paper: its p-value is the share of relabellings that are *more* unequal
than the summary. That share can be 0 in a set of three documents, so it has too many false
positives in small sets.

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
    """The samples of a system and their tests; p-values below ``alpha`` are significant."""

    samples: Sequence[SampleCoverage]
    tests: Sequence[PermutationTest]
    alpha: float = ALPHA


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageErrors:
    """The samples of a system (at least one) and the maximum error of each value's coverage."""

    samples: Sequence[SampleCoverage]
    error_rate: float


def equal_coverage_values(rows: CoverageRows) -> FloatArray:
    """Return the Equal Coverage of each sample (equation 5)."""
    return np.array([sample.equal_coverage for sample in rows.samples], dtype=np.float64)


def significance(rows: CoverageRows) -> BoolArray:
    """Return whether the Equal Coverage of each sample is significant."""
    return np.array([test.p_value < rows.alpha for test in rows.tests], dtype=np.bool_)


def strict_significance(rows: CoverageRows) -> BoolArray:
    """Return whether each sample is significant by the paper's p-value, which can be 0."""
    return np.array([test.p_value_strict < rows.alpha for test in rows.tests], dtype=np.bool_)


def mean_equal_coverage_band(errors: CoverageErrors) -> Band:
    """Bound the mean Equal Coverage by the mean of the samples' bounds."""
    bands = [equal_coverage_band(sample, error_rate=errors.error_rate) for sample in errors.samples]
    return Band(
        low=sum(band.low for band in bands) / len(bands),
        high=sum(band.high for band in bands) / len(bands),
    )


CoverageMeasure: TypeAlias = FairnessMeasure[CoverageRows, Contributions, CoverageErrors]

_published_measure = partial(CoverageMeasure, stream="shared")

COVERAGE: Final[FairnessMeasures[CoverageRows, Contributions, CoverageErrors]] = FairnessMeasures(
    "coverage",
    _published_measure(
        key="equal_coverage",
        label="Equal Coverage",
        sample_formula=equal_coverage_values,
        band=mean_equal_coverage_band,
    ),
    _published_measure(key="r_ec", label="R_EC", sample_formula=significance, sample_key="unfair"),
    _published_measure(
        key="r_ec_strict",
        label="R_EC, as published",
        sample_formula=strict_significance,
        sample_key="unfair_strict",
    ),
    _published_measure(key="coverage_parity", label="Coverage Parity", corpus_formula=parity),
)
"""The measures of ``fairness coverage``. To add one, see docs/contributing/measure.md."""
