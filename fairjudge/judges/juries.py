"""Several judges on one item: what they say together, each verdict kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal, TypeAlias, TypeVar

from fairjudge.domain import Undefined, Unscored, Verdict

JuryRule: TypeAlias = Literal["mean", "median", "majority"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryVerdict:
    """What a jury says. ``members`` keeps every member's verdict, unscored ones included.

    ``value`` is ``Undefined`` where no member scored, or where numbers have no majority;
    ``agreement`` is the share of the scored members, in [0, 1], that said exactly `value`.
    """

    value: float | Verdict | Undefined
    members: Mapping[str, float | Verdict | Unscored]
    rule: JuryRule
    n_scored: int
    agreement: float | Undefined


def jury(
    members: Mapping[str, float | Verdict | Unscored], *, rule: JuryRule = "mean"
) -> JuryVerdict:
    """Combine the members' verdicts on one item.

    Unscored members take no part. "majority" needs a strict plurality: for pairs an even split is
    a tie, for numbers it is ``Undefined``. "mean" and "median" are for numbers; on pairs both mean
    the majority, since verdicts have no distance.

    Raises
    ------
    ValueError
        Numbers and pairwise verdicts are mixed.
    """
    scored = [verdict for verdict in members.values() if not isinstance(verdict, Unscored)]
    value = _combined(scored, rule)
    agreement: float | Undefined = Undefined(why="no member scored")
    if scored:
        agreement = sum(verdict == value for verdict in scored) / len(scored)
    return JuryVerdict(
        value=value,
        members=dict(members),
        rule=rule,
        n_scored=len(scored),
        agreement=agreement,
    )


def _combined(scored: list[float | Verdict], rule: JuryRule) -> float | Verdict | Undefined:
    if not scored:
        return Undefined(why="no member scored")
    numbers = [verdict for verdict in scored if not isinstance(verdict, str)]
    words = [verdict for verdict in scored if isinstance(verdict, str)]
    if numbers and words:
        raise ValueError("a jury's verdicts must be all numbers or all pairwise verdicts")
    if words:
        best = _most_common(words)
        return best[0] if len(best) == 1 else "tie"
    if rule == "majority":
        top = _most_common(numbers)
        return top[0] if len(top) == 1 else Undefined(why="the members are evenly split")
    return fmean(numbers) if rule == "mean" else float(median(numbers))


def _most_common(verdicts: list[T]) -> list[T]:
    counts = Counter(verdicts)
    most = max(counts.values())
    return [verdict for verdict, count in counts.items() if count == most]
