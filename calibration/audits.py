"""Audits of judgements alone, without labels: position, verbosity, and how many were unscored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from fairjudge.calibration.length import VerbosityBias, verbosity_bias
from fairjudge.calibration.position import BothOrders, PositionBias, position_bias
from fairjudge.domain import Judgement, Verdict

EXTENDED = ":extended"
"""A system's name with this ending is that system's summary written twice."""
_SIGNS: dict[Verdict, float] = {"a": 1.0, "b": -1.0, "tie": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionAudit:
    """Position bias of one judge and aspect; ``breakdown`` maps a slice to its own figures.

    ``n_one_order`` counts pairs with a verdict in one order alone, which take no part;
    ``n_unknown_order`` judgements that do not say which summary stood first; ``n_repeated``
    re-runs of a pair in the same order, of which the last counts.
    """

    judge: str
    aspect: str
    bias: PositionBias
    n_unscored: int
    n_one_order: int
    n_unknown_order: int
    n_repeated: int
    by_systems: Mapping[str, PositionBias]
    by_closeness: Mapping[str, PositionBias]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbosityAudit:
    """Verbosity bias of one judge, aspect and protocol."""

    judge: str
    aspect: str
    protocol: str
    bias: VerbosityBias
    n_unscored: int
    n_unmatched: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseAudit:
    """How many judgements of one judge, aspect and protocol have no score, and why."""

    judge: str
    aspect: str
    protocol: str
    n_judgements: int
    unscored: Mapping[str, int]
    scored_by: Mapping[str, int]


def audit_position(
    judgements: Iterable[Judgement],
    *,
    quality: Mapping[tuple[str, str], float] | None = None,
    close_within: float = 0.5,
    level: float = 0.95,
) -> tuple[PositionAudit, ...]:
    """Measure position bias of every judge and aspect with pairwise judgements.

    Parameters
    ----------
    quality
        Where given, the human value of each (eid, system): pairs are also split at a difference of
        `close_within`.
    """
    groups: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for row in judgements:
        if row.protocol == "pairwise":
            groups[row.judge, row.aspect].append(row)
    return tuple(
        _position(judge, aspect, rows, quality, close_within, level=level)
        for (judge, aspect), rows in groups.items()
    )


def audit_verbosity(
    judgements: Iterable[Judgement], *, level: float = 0.95
) -> tuple[VerbosityAudit, ...]:
    """Measure verbosity bias: systems named ``X`` against ``X`` + `EXTENDED`.

    Single judgements: which of the two scores is strictly higher. Pairs: which side wins in both
    orders. Re-runs are averaged first. Groups without extended summaries are left out.
    """
    groups: dict[tuple[str, str, str], list[Judgement]] = defaultdict(list)
    for row in judgements:
        groups[row.judge, row.aspect, row.protocol].append(row)
    found = [
        _pair_verbosity(key, rows, level) if key[2] == "pairwise" else _verbosity(key, rows, level)
        for key, rows in groups.items()
    ]
    return tuple(audit for audit in found if audit.bias.n or audit.n_unmatched)


def audit_parse(judgements: Iterable[Judgement]) -> tuple[ParseAudit, ...]:
    """Count judgements without a score by reason, for every judge, aspect and protocol."""
    groups: dict[tuple[str, str, str], list[Judgement]] = defaultdict(list)
    for row in judgements:
        groups[row.judge, row.aspect, row.protocol].append(row)
    return tuple(
        ParseAudit(
            judge=judge,
            aspect=aspect,
            protocol=protocol,
            n_judgements=len(rows),
            unscored=dict(Counter(row.unscored for row in rows if row.unscored is not None)),
            scored_by=dict(Counter(row.scored_by for row in rows if row.unscored is None)),
        )
        for (judge, aspect, protocol), rows in groups.items()
    )


def _position(
    judge: str,
    aspect: str,
    rows: Sequence[Judgement],
    quality: Mapping[tuple[str, str], float] | None,
    close_within: float,
    *,
    level: float,
) -> PositionAudit:
    collected = _collect(rows)
    pairs, counts = collected.pairs, collected.counts

    def split(name: Callable[[BothOrders], str | None]) -> dict[str, PositionBias]:
        parts: dict[str, list[BothOrders]] = defaultdict(list)
        for pair in pairs:
            part = name(pair)
            if part is not None:
                parts[part].append(pair)
        return {part: position_bias(some, level=level) for part, some in parts.items()}

    def closeness(pair: BothOrders) -> str | None:
        ends = [
            (quality or {}).get((str(pair.document), system))
            for system in (pair.system_a, pair.system_b)
        ]
        if ends[0] is None or ends[1] is None:
            return None
        return "close" if abs(ends[0] - ends[1]) <= close_within else "far apart"

    return PositionAudit(
        judge=judge,
        aspect=aspect,
        bias=position_bias(pairs, level=level, n_excluded=counts["one_order"]),
        n_unscored=counts["unscored"],
        n_one_order=counts["one_order"],
        n_unknown_order=counts["unknown"],
        n_repeated=counts["repeated"],
        by_systems=split(lambda pair: f"{pair.system_a} vs {pair.system_b}"),
        by_closeness=split(closeness),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Collected:
    pairs: tuple[BothOrders, ...]
    counts: Counter[str]


def _collect(rows: Sequence[Judgement]) -> _Collected:
    """Bring the two orders of each pair together."""
    verdicts: dict[tuple[str, str, str, str], dict[bool, Verdict]] = defaultdict(dict)
    counts: Counter[str] = Counter()
    for row in rows:
        if not isinstance(row.value, str):
            counts["unscored"] += 1
        elif row.order is None:
            counts["unknown"] += 1
        else:
            key, a_first, verdict = _in_name_order(row, row.value)
            counts["repeated"] += a_first in verdicts[key]
            verdicts[key][a_first] = verdict
    pairs = tuple(
        BothOrders(
            document=key[0],
            system_a=key[1],
            system_b=key[2],
            when_a_first=both[True],
            when_b_first=both[False],
        )
        for key, both in verdicts.items()
        if len(both) == 2
    )
    counts["one_order"] = len(verdicts) - len(pairs)
    return _Collected(pairs=pairs, counts=counts)


def _in_name_order(
    row: Judgement, value: Verdict
) -> tuple[tuple[str, str, str, str], bool, Verdict]:
    """Return the pair with its systems by name, whether the first stood first, and the verdict."""
    first, second, a_first = str(row.system_a), str(row.system_b), row.order == "ab"
    if first <= second:
        return (row.eid, first, second, row.unit), a_first, value
    flipped: dict[Verdict, Verdict] = {"a": "b", "b": "a", "tie": "tie"}
    return (row.eid, second, first, row.unit), not a_first, flipped[value]


def _verbosity(
    group: tuple[str, str, str], rows: Sequence[Judgement], level: float
) -> VerbosityAudit:
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    unscored = 0
    for row in rows:
        if row.value is None or isinstance(row.value, str):
            unscored += 1
        elif row.system is not None:
            values[row.eid, row.system, row.unit].append(row.value)
    longer = [key for key in values if key[1].endswith(EXTENDED)]
    base = {key: (key[0], key[1].removesuffix(EXTENDED), key[2]) for key in longer}
    matched = [key for key in longer if base[key] in values]
    preferences = [_mean(values[base[key]]) - _mean(values[key]) for key in matched]
    return VerbosityAudit(
        judge=group[0],
        aspect=group[1],
        protocol=group[2],
        bias=verbosity_bias(preferences, [key[0] for key in matched], level=level),
        n_unscored=unscored,
        n_unmatched=len(longer) - len(matched),
    )


def _pair_verbosity(
    group: tuple[str, str, str], rows: Sequence[Judgement], level: float
) -> VerbosityAudit:
    found: dict[tuple[str, str, str], dict[bool, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    unscored = 0
    for row in rows:
        a, b = str(row.system_a), str(row.system_b)
        if EXTENDED not in {b.removeprefix(a), a.removeprefix(b)}:
            continue
        if not isinstance(row.value, str):
            unscored += 1
            continue
        original_is_a = b == a + EXTENDED
        towards = _SIGNS[row.value] if original_is_a else -_SIGNS[row.value]
        key = (row.eid, a if original_is_a else b, row.unit)
        found[key][(row.order == "ab") is original_is_a].append(towards)
    both = {key: orders for key, orders in found.items() if len(orders) == 2}
    preferences = []
    for orders in both.values():
        means = [_mean(some) for some in orders.values()]
        preferences.append(min(means) if min(means) > 0 else min(max(means), 0.0))
    return VerbosityAudit(
        judge=group[0],
        aspect=group[1],
        protocol=group[2],
        bias=verbosity_bias(preferences, [key[0] for key in both], level=level),
        n_unscored=unscored,
        n_unmatched=len(found) - len(both),
    )


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
