"""Errors of a judge's scores before and after calibration, and the calibrator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.assessment import (
    ErrorScores,
    ReliabilityBin,
    assess,
    reliability_diagram,
)
from fairjudge.calibration.calibrators import Calibrator, CrossFitted
from fairjudge.calibration.choices import CalibratorName
from fairjudge.calibration.items import Joined
from fairjudge.calibration.jury_report import calibrator_of
from fairjudge.calibration.temperature import DistributionReport, distribution_report
from fairjudge.domain import Undefined
from fairjudge.stats._arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """Errors in units of the labels before and after calibration, and the calibrator itself.

    ``before`` maps the judge's scale to the labels' by a straight line. ``after`` is cross-fitted
    over documents. ``calibrator`` is fitted on all labelled items, to be used on others.
    """

    method: CalibratorName
    n_folds: int
    calibrator: Calibrator | Undefined
    before: ErrorScores | Undefined
    after: ErrorScores | Undefined
    reliability_before: tuple[ReliabilityBin, ...]
    reliability_after: tuple[ReliabilityBin, ...]
    distribution: DistributionReport | Undefined


def calibration_report(
    joined: Joined,
    mapped: FloatArray,
    fitted: CrossFitted | Undefined,
    *,
    method: CalibratorName,
    resampling: Resampling,
    rng: np.random.Generator,
) -> CalibrationReport:
    """Assess scores on the labels' scale (`mapped`) and as calibrated in `fitted`."""
    documents = joined.documents

    def errors(scores: FloatArray) -> ErrorScores | Undefined:
        return assess(
            scores,
            joined.human,
            scale=joined.label_scale,
            documents=documents,
            rng=rng,
            n_resamples=resampling.n_resamples,
            level=resampling.level,
            method=resampling.method,
        )

    def diagram(scores: FloatArray) -> tuple[ReliabilityBin, ...]:
        return reliability_diagram(
            scores, joined.human, documents=documents, level=resampling.level
        )

    after = errors(fitted.calibrated) if isinstance(fitted, CrossFitted) else fitted
    return CalibrationReport(
        method=method,
        n_folds=fitted.n_folds if isinstance(fitted, CrossFitted) else 0,
        calibrator=calibrator_of(joined, method),
        before=errors(mapped),
        after=after,
        reliability_before=diagram(mapped),
        reliability_after=diagram(fitted.calibrated) if isinstance(fitted, CrossFitted) else (),
        distribution=distribution_report(joined, rng=rng, level=resampling.level),
    )
