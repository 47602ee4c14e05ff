"""Names of calibrators, confidence sequences and covariates."""

from __future__ import annotations

from typing import Literal, TypeAlias

CalibratorName: TypeAlias = Literal["isotonic", "logistic", "linear", "ordinal"]
"""Calibration curves, which map a judge's scores to human scores."""

SequenceName: TypeAlias = Literal["spending", "betting"]
"""Methods for intervals that are simultaneously valid over all looks at a monitored judge."""

CovariateName: TypeAlias = Literal["length", "overlap", "lead", "answers"]
"""Covariates of a summary: its length, and its word overlap with articles, leads and answers."""
