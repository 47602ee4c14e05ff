"""All fairness measures, by the command that computes them and by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.measures import FairnessMeasure, FairnessMeasures
from fairjudge.fairness.proportional import PROPORTIONAL

FAMILIES: Final[Mapping[str, FairnessMeasures[Any, Any, Any]]] = {
    family.name: family for family in (COVERAGE, PROPORTIONAL)
}
"""Maps ``measure`` in the JSON of a fairness command to its measures."""


def shown_measures() -> dict[str, FairnessMeasure[Any, Any, Any]]:
    """Return every measure shown in tables, by key; keys are unique across families."""
    return {measure.key: measure for family in FAMILIES.values() for measure in family.shown}
