"""Settings of a calibration analysis."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.choices import CalibratorName, CovariateName
from fairjudge.calibration.replaceability import COST_MARGINS
from fairjudge.calibration.scales import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a calibration analysis.

    ``epsilon`` is the cost margin of the alternative annotator test. ``planned_documents`` is the
    number of documents that label plans assume the judge to score. ``families`` are pairs of a
    family's name and a shell pattern of system names; the first match counts. ``label_scale`` is
    inferred from the labels if None. ``covariates`` are predictors of juries and regressions.
    ``strata`` is the grouping of documents used for post-stratification.
    """

    annotators: tuple[str, ...] = ("*",)
    resampling: Resampling = field(default_factory=Resampling)
    calibrator: CalibratorName = "isotonic"
    n_folds: int = 10
    epsilon: float = COST_MARGINS["expert"]
    planned_documents: int = 1000
    families: tuple[tuple[str, str], ...] = ()
    label_scale: Scale | None = None
    n_disagreements: int = 20
    covariates: tuple[CovariateName, ...] = ()
    strata: str | None = None
    seed: int = 0
