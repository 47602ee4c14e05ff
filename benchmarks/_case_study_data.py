"""The data that the case study reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from fairjudge.domain import Judgement

ASPECTS = ("consistency", "relevance")
CHARACTERS_PER_TOKEN = 4
"""OpenAI's rule of thumb for English."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """One protocol's judgements, with the numbers of unparsable replies and of tokens."""

    judgements: tuple[Judgement, ...]
    n_replies: int
    n_repeated: int
    input_tokens: float
    output_tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All results that the document reports."""

    replies: Mapping[str, Replies]
    groups: Mapping[tuple[str, str], Json]
    comparisons: Sequence[Json]
    position: Sequence[Json]


def best_protocol(study: Study) -> str:
    """Return the protocol with the highest pooled Spearman, averaged over aspects."""
    return max(
        study.replies, key=lambda name: fmean(rho(study, name, aspect) for aspect in ASPECTS)
    )


def rho(study: Study, name: str, aspect: str) -> float:
    """Return the pooled Spearman correlation with the experts."""
    return float(study.groups[name, aspect]["agreement"]["pooled"]["spearman"]["value"])
