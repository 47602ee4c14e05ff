"""The measures of every bias command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fairjudge.bias.entity_analysis import ENTITIES
from fairjudge.bias.measures import BiasMeasures
from fairjudge.bias.representation import DISTINGUISHABILITY
from fairjudge.bias.word_lists import WORDS

FAMILIES: Final[Mapping[str, BiasMeasures[Any]]] = {
    measures.name: measures for measures in (WORDS, ENTITIES, DISTINGUISHABILITY)
}
"""Maps the name of a command to its measures."""
