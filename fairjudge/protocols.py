"""Protocols: which summaries a judge sees, in which orders, and what its verdicts mean.

Files, options and signatures contain the name of a protocol; its properties are in `Protocol`.
The possible answers are in `fairjudge.scales`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:  # imported by options, hence by `fairjudge --help`
    from fairjudge.domain import Judgement, Order, ProtocolName, Verdict

_Item = TypeVar("_Item")
VerdictKind: TypeAlias = Literal["rating", "yes_no", "preference", "items"]
"""A number on a scale, yes or no, the better of two summaries, or one verdict per list item."""
BOTH_ORDERS: tuple[Order, Order] = ("ab", "ba")


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One way to ask a judge for a verdict.

    ``prompt`` is the suffix of the names of its prompts. ``n_shown`` is the number of summaries per
    task, or None for all of a cluster. ``score_range`` is the lowest and highest score of a system
    on the default scale. ``score_meaning`` describes a system's score for readers; ``meanings``
    maps aspects to descriptions that differ from it.
    """

    name: ProtocolName
    verdict: VerdictKind
    prompt: str = "single"
    n_shown: Literal[1, 2] | None = 1
    score_range: tuple[float, float] = (0.0, 1.0)
    score_meaning: str
    meanings: Mapping[str, str] = field(default_factory=dict, hash=False)

    def meaning_of(self, aspect: str) -> str:
        """Return the description of a system's score for `aspect`."""
        return self.meanings.get(aspect, self.score_meaning)

    @property
    def paired(self) -> bool:
        """Whether a judgement states which of two summaries is better."""
        return self.verdict == "preference"

    @property
    def listwise(self) -> bool:
        """Whether one judgement ranks all summaries of a cluster; `as_pairs` splits it."""
        return self.n_shown is None

    @property
    def graded(self) -> bool:
        """Whether judgements are numbers on a scale of several levels."""
        return self.verdict == "rating"

    @property
    def yes_no(self) -> bool:
        """Whether judgements are 1 for yes and 0 for no."""
        return self.verdict == "yes_no"

    @property
    def itemized(self) -> bool:
        """Whether a judgement lists one verdict per answer group or statement."""
        return self.verdict == "items"

    @property
    def categorical(self) -> bool:
        """Whether verdicts are categories, so that agreement means equal verdicts."""
        return self.yes_no or self.paired

    @property
    def judges_parts(self) -> bool:
        """Whether a judged text may be part of a summary, such as a sentence."""
        return self.graded or self.yes_no

    @property
    def orders(self) -> tuple[Order | None, ...]:
        """The orders in which a prompt shows summaries; None for a single summary."""
        return (None,) if self.n_shown == 1 else BOTH_ORDERS

    def sides(self, summaries: Sequence[_Item]) -> Iterator[tuple[_Item, ...]]:
        """Yield the tuples of one cluster's `summaries` that one prompt shows."""
        if self.n_shown is None:
            return iter([tuple(summaries)] if len(summaries) > 1 else [])
        return combinations(summaries, self.n_shown)

    def n_verdicts(self, n_summaries: int) -> int:
        """Return the number of verdicts on one cluster's summaries, over all orders."""
        return len(self.orders) * math.comb(n_summaries, 2 if self.paired else 1)


PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        protocol.name: protocol
        for protocol in (
            Protocol(
                name="likert",
                verdict="rating",
                score_range=(1.0, 5.0),
                score_meaning="mean rating",
            ),
            Protocol(name="binary", verdict="yes_no", score_meaning="share of yes"),
            Protocol(
                name="pairwise",
                prompt="pairwise",
                verdict="preference",
                n_shown=2,
                score_meaning="win rate (a tie is half a win)",
            ),
            Protocol(
                name="checklist",
                verdict="items",
                score_meaning="share of answer groups covered (one covered in part is a half)",
                meanings=MappingProxyType({"faithfulness": "share of statements supported"}),
            ),
            Protocol(
                name="ranking",
                verdict="preference",
                prompt="ranking",
                n_shown=None,
                score_meaning="win rate in rankings (a half where both orders disagree)",
            ),
        )
    }
)
"""Every protocol by its name in files."""


def ranked_pairs(
    systems: Sequence[str], ranking: Sequence[str] | None
) -> Iterator[tuple[str, str, Verdict | None]]:
    """Yield each pair of `systems` with the winner, or None without a ranking."""
    rank_of = {name: number for number, name in enumerate(ranking or ())}
    for a, b in combinations(systems, 2):
        yield a, b, None if ranking is None else "a" if rank_of[a] < rank_of[b] else "b"


def as_pairs(rows: Iterable[Judgement]) -> Iterator[Judgement]:
    """Yield `rows`, with each ranking split into judgements of its pairs, which keep ``ranking``.

    In the order ``"ab"`` the prompt shows the first of a pair before the second, in ``"ba"`` after
    it, as for pairwise judgements.
    """
    for row in rows:
        if row.systems is None:
            yield row
            continue
        common = {name: value for name, value in row.to_json().items() if name != "systems"}
        for a, b, value in ranked_pairs(row.systems, row.ranking):
            pair = {"system_a": a, "system_b": b, "value": value}
            yield type(row).model_validate(common | pair)


def protocol_label(protocol: str, unit: str) -> str:
    """Return the protocol's name for tables, such as ``"binary by answer"`` for judged parts."""
    return protocol if unit in {"", "summary"} else f"{protocol} by {unit}"
