"""What calibration can be asked for, by name."""

from __future__ import annotations

from typing import Literal, TypeAlias

CalibratorName: TypeAlias = Literal["isotonic", "logistic", "linear", "ordinal"]
"""The curves from a judge's scores to people's."""

SequenceName: TypeAlias = Literal["spending", "betting"]
"""How the intervals of a judge that is watched are made to hold at all looks at once."""

CovariateName: TypeAlias = Literal["length", "overlap", "lead", "answers"]
"""What may be known of a summary beside judges' scores: how long it is, and what words it shares.

With its cluster's articles, with their leads, with the answers of its reference.
"""
