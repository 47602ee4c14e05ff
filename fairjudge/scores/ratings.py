"""Judgements without their texts, which suffice for scores; a million of them fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from sys import intern
from typing import Any, TypeAlias

from fairjudge.domain import Judgement, Order, ProtocolName, ScoredBy, UnscoredReason, Value
from fairjudge.protocols import ranked_pairs


@dataclass(frozen=True, slots=True)
class Rating:
    """A judgement's value with its item and judge; fields as in `Judgement`."""

    eid: str
    system: str | None
    system_a: str | None
    system_b: str | None
    aspect: str
    unit: str
    order: Order | None
    protocol: ProtocolName
    judge: str
    value: Value | None
    unscored: UnscoredReason | None
    scored_by: ScoredBy
    probabilities: Mapping[str, float] | None
    repeat: int | None = None
    variant: str | None = None
    without_probabilities: str | None = None
    systems: tuple[str, ...] | None = None
    ranking: tuple[str, ...] | None = None


ScoreRow: TypeAlias = Judgement | Rating
"""A row from which scores are computed."""


_RATING_OF = attrgetter(*(field.name for field in fields(Rating)))


def rating_of(judgement: Judgement) -> Rating:
    """Return `judgement` without its texts; repeated names share memory."""
    values: list[Any] = [intern(v) if type(v) is str else v for v in _RATING_OF(judgement)]
    return Rating(*values)


def n_summaries_scored(rows: Iterable[ScoreRow]) -> int:
    """Count the summaries with a score, alone, in a pair, in a ranking or for a part."""
    return len(
        {
            (row.eid, system)
            for row in rows
            if row.unscored is None
            for system in row.systems or (row.system, row.system_a, row.system_b)
            if system is not None
        }
    )


def split_ranking(rating: Rating) -> Iterator[Rating]:
    """Yield `rating` itself or, if it is a ranking, its pairs."""
    if rating.systems is None:
        yield rating
        return
    for a, b, value in ranked_pairs(rating.systems, rating.ranking):
        yield replace(rating, systems=None, ranking=None, system_a=a, system_b=b, value=value)
