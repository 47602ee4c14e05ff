"""Comparison of protocols: agreement with human labels, cost, and recommendation.

As in DiverseSumm, Table 5, agreement is Kendall's tau-b over summaries (means of parts, differences
of pairs). Differences between protocols are tested by resampling the documents that all of them
share, with the same resamples for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from fairjudge.calibration.agreement import Agreement, Resampling, judge_scores, kendall
from fairjudge.calibration.comparison import pairwise_differences
from fairjudge.calibration.grouping import GroupKey
from fairjudge.calibration.items import JoinedItems
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import codes
from fairjudge.stats.bootstrap import WeightedStatistic
from fairjudge.stats.correlation import correlation, document_correlation
from fairjudge.stats.levels import average_summaries
from fairjudge.stats.resampling import adjust_by_name
from fairjudge.text.counting import pluralize

MIN_DOCUMENTS = 5
"""Minimum number of shared documents for comparing protocols."""
_MIN_DOCUMENT_SHARE = 0.5
"""Minimum share of the largest number of documents for a protocol to be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingCost:
    """The cost of the judgements of one protocol; ``cost_usd`` is None if unknown.

    ``n_items`` is the number of scored summaries, whether scored whole, in pairs or by parts.
    ``why`` is the recorded reason for an unknown cost.
    """

    n_requests: int
    cost_usd: float | None = None
    n_items: int = 0
    why: str = ""

    @property
    def usd_per_item(self) -> float | None:
        """The cost per item in US dollars; None if unknown."""
        return self.cost_usd / self.n_items if self.n_items and self.cost_usd is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolRow:
    """One protocol of the table.

    ``kendall`` is tau-b with human values over summaries. ``behind`` is the leader's tau-b minus
    this one's, on the shared documents; None for the leader. ``adjusted_p_value`` is Holm-adjusted
    over all pairs of protocols of the aspect, since the leader is chosen on the same data.
    """

    group: GroupKey
    kendall: Estimate | Undefined
    asked: JudgingCost | None
    behind: Estimate | Undefined | None
    adjusted_p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolTable:
    """The protocols of one aspect, in input order.

    ``best`` has the highest correlation; None if that is not significantly above 0. ``cheaper`` has
    the fewest requests among the protocols that are not significantly worse, and significantly
    above 0; None if no such protocol has fewer requests than the best.
    """

    aspect: str
    rows: tuple[ProtocolRow, ...]
    n_documents: int
    best: GroupKey | None
    cheaper: GroupKey | None


def protocol_tables(
    groups: Sequence[tuple[JoinedItems, Agreement | Undefined]],
    costs: Mapping[GroupKey, JudgingCost],
    *,
    resampling: Resampling,
    rng: np.random.Generator,
) -> tuple[ProtocolTable, ...]:
    """Return a table for each aspect with two or more protocols; `costs` are by group."""
    by_aspect: dict[str, list[tuple[JoinedItems, Agreement | Undefined]]] = defaultdict(list)
    for items, agreement in groups:
        by_aspect[items.aspect].append((items, agreement))
    return tuple(
        _table(aspect, groups_of_aspect, costs, resampling, rng)
        for aspect, groups_of_aspect in by_aspect.items()
        if len(groups_of_aspect) > 1
    )


def _table(
    aspect: str,
    groups: Sequence[tuple[JoinedItems, Agreement | Undefined]],
    costs: Mapping[GroupKey, JudgingCost],
    resampling: Resampling,
    rng: np.random.Generator,
) -> ProtocolTable:
    tau_by_group = {items.group: kendall(agreement, "summary") for items, agreement in groups}
    defined_taus = {key: tau for key, tau in tau_by_group.items() if isinstance(tau, Estimate)}
    best = max(defined_taus, key=lambda key: defined_taus[key].value, default=None)
    differences, n_documents = _protocol_differences(
        [items for items, _ in groups], resampling, rng
    )
    adjusted_p_values = adjust_by_name(differences)
    rows = []
    for key, tau in tau_by_group.items():
        behind, p_value = None, None
        if best is not None and key != best:
            pair = (best, key) if (best, key) in differences else (key, best)
            behind, p_value = differences[pair], adjusted_p_values.get(pair)
            if isinstance(behind, Estimate) and pair[0] != best:
                behind = _negate(behind)
        rows.append(
            ProtocolRow(
                group=key,
                kendall=tau,
                asked=costs.get(key),
                behind=behind,
                adjusted_p_value=p_value,
            )
        )
    return ProtocolTable(
        aspect=aspect,
        rows=tuple(rows),
        n_documents=n_documents,
        best=best if best is not None and _is_above_zero(defined_taus[best]) else None,
        cheaper=_cheaper_protocol(rows, best, level=resampling.level),
    )


def _is_above_zero(tau: Estimate | Undefined) -> bool:
    return isinstance(tau, Estimate) and tau.low is not None and tau.low > 0.0


def _cheaper_protocol(
    rows: Sequence[ProtocolRow], best: GroupKey | None, *, level: float
) -> GroupKey | None:
    """Return the protocol with the fewest requests that is not significantly worse than `best`."""
    leader = next((row for row in rows if row.group == best), None)
    if leader is None or leader.asked is None or not _is_above_zero(leader.kendall):
        return None
    candidates = [
        (row.asked.n_requests, row.group)
        for row in rows
        if row.asked is not None
        and row.asked.n_requests < leader.asked.n_requests
        and _is_above_zero(row.kendall)
        and row.adjusted_p_value is not None
        and row.adjusted_p_value >= 1.0 - level
    ]
    return min(candidates)[1] if candidates else None


def _negate(estimate: Estimate) -> Estimate:
    """Return the negative of a difference."""
    low, high = (None if bound is None else -bound for bound in (estimate.high, estimate.low))
    return replace(estimate, value=-estimate.value, low=low, high=high)


def _protocol_differences(
    groups: Sequence[JoinedItems], resampling: Resampling, rng: np.random.Generator
) -> tuple[dict[tuple[GroupKey, GroupKey], Estimate | Undefined], int]:
    """Return the difference of correlations of each pair, and the number of shared documents."""
    documents_by_group = {items.group: set(items.documents) for items in groups}
    max_documents = max(map(len, documents_by_group.values()))
    eligible_groups = {
        key: documents
        for key, documents in documents_by_group.items()
        if documents and len(documents) >= _MIN_DOCUMENT_SHARE * max_documents
    }
    shared_documents = set.intersection(*eligible_groups.values()) if eligible_groups else set()
    index_by_document = {name: number for number, name in enumerate(sorted(shared_documents))}
    too_few = Undefined(
        why=f"{pluralize(len(shared_documents), 'document')} that all protocols share: "
        f"{MIN_DOCUMENTS} are needed"
    )
    statistics: dict[GroupKey, WeightedStatistic | Undefined] = {}
    for items in groups:
        if items.group not in eligible_groups:
            n = pluralize(len(documents_by_group[items.group]), "document")
            statistics[items.group] = Undefined(
                why=f"{n}, and others have {max_documents}: not compared"
            )
        elif len(shared_documents) < MIN_DOCUMENTS:
            statistics[items.group] = too_few
        else:
            statistics[items.group] = _tau_statistic(items, index_by_document)
    differences = pairwise_differences(
        statistics, n_documents=len(shared_documents), rng=rng, **asdict(resampling)
    )
    return differences, len(shared_documents)


def _tau_statistic(
    items: JoinedItems, index_by_document: Mapping[str, int]
) -> WeightedStatistic | Undefined:
    """Return tau-b over summaries as a function of multiplicities of the indexed documents."""
    scores = average_summaries(judge_scores(items))
    _, names = codes(items.documents)
    documents = np.array([index_by_document.get(str(name), -1) for name in names])[scores.documents]
    rows = np.flatnonzero(documents >= 0)
    first, second = scores.first[rows], scores.second[rows]
    tau = correlation("kendall", first, second, sides=scores.sides)
    if isinstance(tau, Undefined):
        return tau
    return document_correlation(
        "kendall", first, second, documents[rows], n_documents=len(index_by_document)
    )
