"""What calibration can be asked for, by name."""

from __future__ import annotations

from typing import Literal, TypeAlias

CalibratorName: TypeAlias = Literal["isotonic", "logistic", "linear", "ordinal"]
"""The curves from a judge's scores to people's."""

SequenceName: TypeAlias = Literal["spending", "betting"]
"""How the intervals of a judge that is watched are made to hold at all looks at once."""

CovariateName: TypeAlias = Literal["length", "overlap"]
"""What a jury may know of a summary beside its members' scores: words, and words shared."""
