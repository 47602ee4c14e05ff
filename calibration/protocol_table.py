"""Comparison of protocols: agreement with people, cost, and the recommended one.

DiverseSumm, Table 5: of each way of judging, Kendall's tau-b with people over summaries (of parts,
their means; of pairs, their differences). Which correlation leads is tested by resampling the
documents that all protocols share, the same ones for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from fairjudge.calibration.agreement import Agreement, Resampling, judge_scores, kendall
from fairjudge.calibration.comparison import pairwise_differences
from fairjudge.calibration.grouping import GroupKey
from fairjudge.calibration.items import Joined
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import codes
from fairjudge.stats.bootstrap import WeightedStatistic
from fairjudge.stats.correlation import correlation, document_correlation
from fairjudge.stats.levels import average_summaries
from fairjudge.stats.resampling import adjust_by_name
from fairjudge.text.counting import pluralize

FEWEST_DOCUMENTS = 5
"""Shared documents below which no protocol is said to lead."""
_SHARED = 0.5
"""A protocol with less than this share of the largest number of documents is not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingCost:
    """What the judgements of one way of judging took; the cost is None where it is not known.

    ``n_items`` is how many summaries they score, of themselves, in pairs or by parts; ``why`` says
    why the cost is not known, where that is recorded.
    """

    n_requests: int
    cost_usd: float | None = None
    n_items: int = 0
    why: str = ""

    @property
    def usd_per_item(self) -> float | None:
        """The cost of an item in US dollars; None where it is not known."""
        return self.cost_usd / self.n_items if self.n_items and self.cost_usd is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolRow:
    """One way of judging.

    ``kendall`` is tau-b with people over summaries; ``behind`` the leader's less this one's, on the
    documents that all share: None for the leader. ``adjusted_p_value`` is Holm's over all pairs of
    protocols of the aspect, since the leader is the best of all by the same data.
    """

    group: GroupKey
    kendall: Estimate | Undefined
    asked: JudgingCost | None
    behind: Estimate | Undefined | None
    adjusted_p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolTable:
    """The protocols of one aspect, in the order given.

    ``best`` is the one with the highest correlation, None where none is surely above 0.
    ``cheaper`` is, of those that are not significantly behind it and surely above 0, the one with
    the fewest requests: None where the best itself has.
    """

    aspect: str
    rows: tuple[ProtocolRow, ...]
    n_documents: int
    best: GroupKey | None
    cheaper: GroupKey | None


def protocol_tables(
    groups: Sequence[tuple[Joined, Agreement | Undefined]],
    questions: Mapping[GroupKey, JudgingCost],
    *,
    resampling: Resampling,
    rng: np.random.Generator,
) -> tuple[ProtocolTable, ...]:
    """Return a table for each aspect that was judged in two ways or more."""
    by_aspect: dict[str, list[tuple[Joined, Agreement | Undefined]]] = defaultdict(list)
    for joined, agreement in groups:
        by_aspect[joined.aspect].append((joined, agreement))
    return tuple(
        _table(aspect, groups_of_aspect, questions, resampling, rng)
        for aspect, groups_of_aspect in by_aspect.items()
        if len(groups_of_aspect) > 1
    )


def _table(
    aspect: str,
    groups: Sequence[tuple[Joined, Agreement | Undefined]],
    spending: Mapping[GroupKey, JudgingCost],
    resampling: Resampling,
    rng: np.random.Generator,
) -> ProtocolTable:
    taus = {joined.group: kendall(agreement, "summary") for joined, agreement in groups}
    defined = {key: tau for key, tau in taus.items() if isinstance(tau, Estimate)}
    best = max(defined, key=lambda key: defined[key].value, default=None)
    differences, n_documents = _differences([joined for joined, _ in groups], resampling, rng)
    adjusted = adjust_by_name(differences)
    rows = []
    for key, tau in taus.items():
        behind, p_value = None, None
        if best is not None and key != best:
            pair = (best, key) if (best, key) in differences else (key, best)
            behind, p_value = differences[pair], adjusted.get(pair)
            if isinstance(behind, Estimate) and pair[0] != best:
                behind = _turned(behind)
        rows.append(
            ProtocolRow(
                group=key,
                kendall=tau,
                asked=spending.get(key),
                behind=behind,
                adjusted_p_value=p_value,
            )
        )
    return ProtocolTable(
        aspect=aspect,
        rows=tuple(rows),
        n_documents=n_documents,
        best=best if best is not None and _above_zero(defined[best]) else None,
        cheaper=_cheaper(rows, best, level=resampling.level),
    )


def _above_zero(tau: Estimate | Undefined) -> bool:
    return isinstance(tau, Estimate) and tau.low is not None and tau.low > 0.0


def _cheaper(
    rows: Sequence[ProtocolRow], best: GroupKey | None, *, level: float
) -> GroupKey | None:
    """Return protocols with fewer requests than the best that are not significantly worse."""
    leader = next((row for row in rows if row.group == best), None)
    if leader is None or leader.asked is None or not _above_zero(leader.kendall):
        return None
    fewer = [
        (row.asked.n_requests, row.group)
        for row in rows
        if row.asked is not None
        and row.asked.n_requests < leader.asked.n_requests
        and _above_zero(row.kendall)
        and row.adjusted_p_value is not None
        and row.adjusted_p_value >= 1.0 - level
    ]
    return min(fewer)[1] if fewer else None


def _turned(estimate: Estimate) -> Estimate:
    """Return the difference the other way round."""
    low, high = (None if bound is None else -bound for bound in (estimate.high, estimate.low))
    return replace(estimate, value=-estimate.value, low=low, high=high)


def _differences(
    groups: Sequence[Joined], resampling: Resampling, rng: np.random.Generator
) -> tuple[dict[tuple[GroupKey, GroupKey], Estimate | Undefined], int]:
    """Return the difference of each pair's correlations, and on how many documents."""
    names = {joined.group: set(joined.documents) for joined in groups}
    most = max(map(len, names.values()))
    wide = {
        key: documents
        for key, documents in names.items()
        if documents and len(documents) >= _SHARED * most
    }
    shared = set.intersection(*wide.values()) if wide else set()
    place = {name: number for number, name in enumerate(sorted(shared))}
    why = Undefined(
        why=f"{pluralize(len(shared), 'document')} that all protocols share: "
        f"{FEWEST_DOCUMENTS} are needed"
    )
    statistics: dict[GroupKey, WeightedStatistic | Undefined] = {}
    for joined in groups:
        if joined.group not in wide:
            n = pluralize(len(names[joined.group]), "document")
            statistics[joined.group] = Undefined(why=f"{n}, and others have {most}: not compared")
        elif len(shared) < FEWEST_DOCUMENTS:
            statistics[joined.group] = why
        else:
            statistics[joined.group] = _statistic(joined, place)
    differences = pairwise_differences(
        statistics, n_documents=len(shared), rng=rng, **asdict(resampling)
    )
    return differences, len(shared)


def _statistic(joined: Joined, place: Mapping[str, int]) -> WeightedStatistic | Undefined:
    """Return tau-b over the summaries of some documents, as a statistic of their multiplicities."""
    whole = average_summaries(judge_scores(joined))
    _, names = codes(joined.documents)
    documents = np.array([place.get(str(name), -1) for name in names])[whole.documents]
    rows = np.flatnonzero(documents >= 0)
    first, second = whole.first[rows], whole.second[rows]
    tau = correlation("kendall", first, second, sides=whole.sides)
    if isinstance(tau, Undefined):
        return tau
    return document_correlation("kendall", first, second, documents[rows], n_documents=len(place))
