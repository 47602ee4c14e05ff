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
    """The combined verdict of a jury.

    ``value`` is ``Undefined`` if no member scored; ``agreement`` is the share of the scored
    members, in [0, 1], whose verdict is exactly `value`; ``split`` is True if the rule is a
    majority and several verdicts are the most frequent.
    """

    value: float | Verdict | Undefined
    n_scored: int
    agreement: float | Undefined
    split: bool = False


def jury(
    members: Mapping[str, float | Verdict | Unscored], *, rule: JuryRule = "mean"
) -> JuryVerdict:
    """Combine the members' verdicts on one item.

    Unscored members are excluded. "majority" is the most frequent verdict. If several verdicts are,
    the result is "tie" for pairs and the mean of these verdicts for numbers (0.5 for a yes and a
    no), and ``split`` is True. "mean" and "median" apply to numbers; for pairs both are the
    majority, since pairwise verdicts have no distance. Raises `ValueError` if numbers and pairwise
    verdicts are mixed.
    """
    verdicts = [verdict for verdict in members.values() if not isinstance(verdict, Unscored)]
    if not verdicts:
        undefined = Undefined(why="no member scored")
        return JuryVerdict(value=undefined, n_scored=0, agreement=undefined)
    value = _combine(verdicts, rule)
    is_majority = rule == "majority" or isinstance(verdicts[0], str)
    return JuryVerdict(
        value=value,
        n_scored=len(verdicts),
        agreement=sum(verdict == value for verdict in verdicts) / len(verdicts),
        split=is_majority and len(_most_common(verdicts)) > 1,
    )


def _combine(verdicts: list[float | Verdict], rule: JuryRule) -> float | Verdict:
    numbers = [verdict for verdict in verdicts if not isinstance(verdict, str)]
    pairwise_verdicts = [verdict for verdict in verdicts if isinstance(verdict, str)]
    if numbers and pairwise_verdicts:
        raise ValueError("a jury's verdicts must be all numbers or all pairwise verdicts")
    if pairwise_verdicts:
        best = _most_common(pairwise_verdicts)
        return best[0] if len(best) == 1 else "tie"
    if rule == "majority":
        return fmean(_most_common(numbers))
    return fmean(numbers) if rule == "mean" else float(median(numbers))


def _most_common(verdicts: Sequence[T]) -> list[T]:
    counts = Counter(verdicts)
    max_count = max(counts.values(), default=0)
    return [verdict for verdict, count in counts.items() if count == max_count]
