"""Judgements without their texts: all that scores are computed from, small enough for a million."""

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


Rated: TypeAlias = Judgement | Rating
"""What can be scored."""


_RATING_OF = attrgetter(*(field.name for field in fields(Rating)))


def rating_of(judgement: Judgement) -> Rating:
    """Return `judgement` without its texts; names that recur share their memory."""
    values: list[Any] = [intern(v) if type(v) is str else v for v in _RATING_OF(judgement)]
    return Rating(*values)


def n_summaries_scored(rows: Iterable[Rated]) -> int:
    """Count the summaries that have a score, of themselves, in a pair, in a ranking or by parts."""
    return len(
        {
            (row.eid, system)
            for row in rows
            if row.unscored is None
            for system in row.systems or (row.system, row.system_a, row.system_b)
            if system is not None
        }
    )


def pairs_of(rating: Rating) -> Iterator[Rating]:
    """Yield `rating` itself, or the pairs of a ranking as `as_pairs` does."""
    if rating.systems is None:
        yield rating
        return
    for a, b, value in ranked_pairs(rating.systems, rating.ranking):
        yield replace(rating, systems=None, ranking=None, system_a=a, system_b=b, value=value)
