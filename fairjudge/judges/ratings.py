"""Judgements without their texts: all that scores are computed from, small enough for a million."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from sys import intern
from typing import TypeAlias

from fairjudge.domain import (
    Judgement,
    Order,
    ProtocolName,
    ScoredBy,
    UnscoredReason,
    Value,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """What a judgement says of its item, and who says so; fields are as in `Judgement`."""

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


Rated: TypeAlias = Judgement | Rating
"""What can be scored."""


def rating_of(judgement: Judgement) -> Rating:
    """Return `judgement` without its texts; names that recur share their memory."""
    return Rating(
        eid=intern(judgement.eid),
        system=_interned(judgement.system),
        system_a=_interned(judgement.system_a),
        system_b=_interned(judgement.system_b),
        aspect=intern(judgement.aspect),
        unit=intern(judgement.unit),
        order=judgement.order,
        protocol=judgement.protocol,
        judge=intern(judgement.judge),
        value=judgement.value,
        unscored=judgement.unscored,
        scored_by=judgement.scored_by,
        probabilities=judgement.probabilities,
        repeat=judgement.repeat,
        variant=_interned(judgement.variant),
    )


def _interned(name: str | None) -> str | None:
    return None if name is None else intern(name)
