"""What the fairness measures can be asked for, by name."""

from __future__ import annotations

from typing import Literal, TypeAlias

CoverageVariant: TypeAlias = Literal["paper", "released"]
"""As the paper defines coverage fairness, or as its authors' code measures it."""
