"""Statements on which values of measures are fairer, made from the measures' own directions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from fairjudge.stats.measures import Direction, Measure

Statements: TypeAlias = Mapping[Direction, str]

VALUES: Final[Statements] = MappingProxyType({"lower": "0 is fair", "higher": "higher is fairer"})
DIFFERENCES: Final[Statements] = MappingProxyType(
    {"lower": "below 0 is fairer", "higher": "above 0 is fairer"}
)
PLANTED: Final[Statements] = MappingProxyType(
    {"lower": "far above 0 for a valid scorer", "higher": "far below 0 for a valid scorer"}
)
"""The difference of biased and balanced pseudo-summaries."""


def title_with_direction(
    title: str, measures: Collection[Measure], statements: Statements = VALUES
) -> str:
    """Return `title` with the statement that holds for all `measures`, if there is one."""
    directions = {measure.direction for measure in measures}
    return f"{title}; {statements[directions.pop()]}" if len(directions) == 1 else title


def direction_notes(
    measures: Collection[Measure], statements: Statements = VALUES
) -> Iterator[str]:
    """Yield the statement for the measures of each direction, if directions differ."""
    for direction, statement in statements.items():
        labels = [measure.label for measure in measures if measure.direction == direction]
        if labels and len(labels) < len(measures):
            yield f"{', '.join(labels)}: {statement}."
