"""Combine several judges' verdicts on one item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal, TypeAlias, TypeVar

from fairjudge.domain import Undefined, Unscored, Verdict

JuryRule: TypeAlias = Literal["mean", "median", "majority"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryVerdict:
    """What a jury says.

    ``value`` is ``Undefined`` where no member scored; ``agreement`` is the share of the scored
    members, in [0, 1], that said exactly `value`; ``split`` says that a majority was asked for and
    several verdicts were the most frequent.
    """

    value: float | Verdict | Undefined
    n_scored: int
    agreement: float | Undefined
    split: bool = False


def jury(
    members: Mapping[str, float | Verdict | Unscored], *, rule: JuryRule = "mean"
) -> JuryVerdict:
    """Combine the members' verdicts on one item.

    Unscored members are excluded. "majority" takes the most frequent verdict. Where several are, a
    tie is a tie: for pairs the verdict is "tie", for numbers it is the mean of those that are most
    frequent (of a yes and a no, 0.5), and ``split`` says so. "mean" and "median" are for numbers;
    on pairs both mean the majority, since verdicts have no distance. `ValueError` where numbers and
    pairwise verdicts are mixed.
    """
    scored = [verdict for verdict in members.values() if not isinstance(verdict, Unscored)]
    if not scored:
        nothing = Undefined(why="no member scored")
        return JuryVerdict(value=nothing, n_scored=0, agreement=nothing)
    value = _combined(scored, rule)
    voted = rule == "majority" or isinstance(scored[0], str)
    return JuryVerdict(
        value=value,
        n_scored=len(scored),
        agreement=sum(verdict == value for verdict in scored) / len(scored),
        split=voted and len(_most_common(scored)) > 1,
    )


def _combined(scored: list[float | Verdict], rule: JuryRule) -> float | Verdict:
    numbers = [verdict for verdict in scored if not isinstance(verdict, str)]
    words = [verdict for verdict in scored if isinstance(verdict, str)]
    if numbers and words:
        raise ValueError("a jury's verdicts must be all numbers or all pairwise verdicts")
    if words:
        best = _most_common(words)
        return best[0] if len(best) == 1 else "tie"
    if rule == "majority":
        return fmean(_most_common(numbers))
    return fmean(numbers) if rule == "mean" else float(median(numbers))


def _most_common(verdicts: Sequence[T]) -> list[T]:
    counts = Counter(verdicts)
    most = max(counts.values(), default=0)
    return [verdict for verdict, count in counts.items() if count == most]
