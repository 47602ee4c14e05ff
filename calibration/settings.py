"""The choices of an analysis."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.choices import CalibratorName, CovariateName
from fairjudge.calibration.replaceability import COST_MARGINS
from fairjudge.calibration.scales import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every choice of an analysis.

    ``epsilon`` is the cost margin of the alternative annotator test; ``planned_documents`` is how
    many documents label plans take the judge to have scored; ``families`` are names of families of
    systems, each with a shell pattern of system names, the first that fits counting;
    ``label_scale`` is inferred from the labels where it is None; ``covariates`` are what juries
    and regressions know of a summary beside judges' scores; ``strata`` names the grouping of
    documents in whose shares labelled documents are weighed.
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
