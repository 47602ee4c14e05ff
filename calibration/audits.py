"""Audits of position and verbosity bias, from judgements without labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fairjudge.calibration.grouping import GroupFields, GroupKey, group_judgements
from fairjudge.calibration.labels import SIGNS, ItemKey, exact_mean, item_key, order_by_name
from fairjudge.calibration.length import VerbosityBias, verbosity_bias
from fairjudge.domain import SWAPPED, Estimate, Judgement, Order, Undefined, Verdict
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats.intervals import clustered_wilson, share_difference

EXTENDED = ":extended"
"""Suffix of the name of a system whose summaries are another system's, made longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BothOrders:
    """One pair judged in both orders; verdicts are in terms of a and b, not positions.

    ``when_a_first`` is the verdict with system_a first, ``when_b_first`` with system_b first.
    """

    document: Hashable
    system_a: str
    system_b: str
    when_a_first: Verdict
    when_b_first: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """Shares of pairs, in [0, 1], which sum to 1.

    * ``first``: the first summary won in both orders;
    * ``second``: the second summary won in both orders;
    * ``consistency``: the same verdict in both orders, including two ties;
    * ``one_tie``: a tie in only one order.

    ``first_minus_second`` has the p-value of the test that ``first`` and ``second`` are equal.
    """

    n_pairs: int
    first: Estimate | Undefined
    second: Estimate | Undefined
    consistency: Estimate | Undefined
    one_tie: Estimate | Undefined
    first_minus_second: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionAudit(GroupFields):
    """Position bias of one judge, aspect, protocol and unit; also by systems and by closeness.

    ``n_one_order`` counts pairs with a verdict in only one order, which are excluded.
    ``n_unknown_order`` counts judgements without the order of the summaries. ``n_repeated`` counts
    re-runs of a pair in the same order; the last one is used.
    """

    bias: PositionBias
    n_unscored: int
    n_one_order: int
    n_unknown_order: int
    n_repeated: int
    by_systems: Mapping[str, PositionBias]
    by_closeness: Mapping[str, PositionBias]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbosityAudit(GroupFields):
    """Verbosity bias of one judge, aspect, protocol and unit.

    ``scores`` maps each system and version (``"original"`` or ``"extended"``) to counts of scores
    (DiverseSumm, Figure 25); it is empty for pairs.
    """

    bias: VerbosityBias
    n_unscored: int
    n_unmatched: int
    scores: Mapping[str, Mapping[str, Mapping[str, int]]]


def audit_position(
    judgements: Iterable[Judgement],
    *,
    quality: Mapping[tuple[str, str], float] | None = None,
    tolerance: float = 0.5,
    level: float = 0.95,
) -> tuple[PositionAudit, ...]:
    """Measure position bias of every judge and aspect with pairwise judgements.

    With `quality`, the human value of each (eid, system), pairs are also split into those that
    differ by at most `tolerance` and the others.
    """
    return tuple(
        _audit_group_position(group, rows, quality or {}, tolerance, level=level)
        for group, rows in group_judgements(judgements).items()
        if PROTOCOLS[group.protocol].paired
    )


def audit_verbosity(
    judgements: Iterable[Judgement], *, level: float = 0.95
) -> tuple[VerbosityAudit, ...]:
    """Measure verbosity bias: compare each system ``X`` with the system ``X`` + `EXTENDED`.

    For single judgements, the version with the strictly higher score is preferred; for pairs, the
    version that wins in both orders. Re-runs are averaged first. Groups without extended summaries
    are omitted.
    """
    audits = [
        _audit_group_verbosity(group, rows, level)
        for group, rows in group_judgements(judgements).items()
    ]
    return tuple(audit for audit in audits if audit.bias.n or audit.n_unmatched)


def _audit_group_position(
    group: GroupKey,
    rows: Sequence[Judgement],
    quality: Mapping[tuple[str, str], float],
    tolerance: float,
    *,
    level: float,
) -> PositionAudit:
    pairs, counts = _join_orders(rows)

    def split_pairs(name: Callable[[BothOrders], str | None]) -> dict[str, PositionBias]:
        pairs_by_part: dict[str, list[BothOrders]] = defaultdict(list)
        for pair in pairs:
            if (part := name(pair)) is not None:
                pairs_by_part[part].append(pair)
        return {
            part: position_bias(pairs_of_part, level=level)
            for part, pairs_of_part in pairs_by_part.items()
        }

    def closeness(pair: BothOrders) -> str | None:
        quality_a = quality.get((str(pair.document), pair.system_a))
        quality_b = quality.get((str(pair.document), pair.system_b))
        if quality_a is None or quality_b is None:
            return None
        return "close" if abs(quality_a - quality_b) <= tolerance else "far apart"

    return PositionAudit(
        **group._asdict(),
        bias=position_bias(pairs, level=level, n_excluded=counts["one_order"]),
        n_unscored=counts["unscored"],
        n_one_order=counts["one_order"],
        n_unknown_order=counts["unknown"],
        n_repeated=counts["repeated"],
        by_systems=split_pairs(lambda pair: f"{pair.system_a} vs {pair.system_b}"),
        by_closeness=split_pairs(closeness),
    )


def position_bias(
    pairs: Sequence[BothOrders], *, level: float = 0.95, n_excluded: int = 0
) -> PositionBias:
    """Measure position bias (DiverseSumm Table 3), with intervals over documents.

    Shares are Undefined without pairs. `n_excluded` is the number of pairs without both verdicts.
    """
    kinds = np.array([_pair_kind(pair) for pair in pairs], dtype=object)
    documents = [pair.document for pair in pairs]

    def share(kind: str) -> Estimate | Undefined:
        return clustered_wilson(
            (kinds == kind).astype(np.float64), documents, level=level, n_excluded=n_excluded
        )

    return PositionBias(
        n_pairs=len(pairs),
        first=share("first"),
        second=share("second"),
        consistency=share("consistent"),
        one_tie=share("one_tie"),
        first_minus_second=share_difference(
            kinds == "first", kinds == "second", documents, level=level, n_excluded=n_excluded
        ),
    )


def _pair_kind(pair: BothOrders) -> str:
    first_verdict, second_verdict = pair.when_a_first, pair.when_b_first
    if first_verdict == second_verdict:
        return "consistent"
    if "tie" in {first_verdict, second_verdict}:
        return "one_tie"
    return "first" if first_verdict == "a" else "second"


def _join_orders(rows: Sequence[Judgement]) -> tuple[list[BothOrders], Counter[str]]:
    """Join the two orders of each pair, with systems sorted by name; count excluded judgements."""
    verdicts: dict[ItemKey, dict[Order, Verdict]] = defaultdict(dict)
    counts: Counter[str] = Counter()
    for row in rows:
        key, sign = item_key(row)
        order = order_by_name(row, sign)
        if not isinstance(row.value, str):
            counts["unscored"] += 1
        elif order is None:
            counts["unknown"] += 1
        else:
            counts["repeated"] += order in verdicts[key]
            verdicts[key][order] = row.value if sign > 0 else SWAPPED[row.value]
    pairs = [
        BothOrders(
            document=key[0],
            system_a=key[1],
            system_b=key[2],
            when_a_first=by_order["ab"],
            when_b_first=by_order["ba"],
        )
        for key, by_order in verdicts.items()
        if len(by_order) == 2
    ]
    counts["one_order"] = len(verdicts) - len(pairs)
    return pairs, counts


def _audit_group_verbosity(
    group: GroupKey, rows: Sequence[Judgement], level: float
) -> VerbosityAudit:
    measure_preferences = (
        _pair_preferences if PROTOCOLS[group.protocol].paired else _score_preferences
    )
    preferences, n_unmatched, n_unscored = measure_preferences(rows)
    return VerbosityAudit(
        **group._asdict(),
        bias=verbosity_bias(
            [preference for _, preference in preferences],
            [eid for eid, _ in preferences],
            level=level,
        ),
        n_unscored=n_unscored,
        n_unmatched=n_unmatched,
        scores={} if PROTOCOLS[group.protocol].paired else _score_counts(rows),
    )


def _score_counts(rows: Sequence[Judgement]) -> dict[str, dict[str, dict[str, int]]]:
    """Count scores by system, version and score, for systems that have both versions."""
    counts: dict[str, dict[str, Counter[float]]] = defaultdict(lambda: defaultdict(Counter))
    for row in rows:
        if row.system is not None and isinstance(row.value, int | float):
            version = "extended" if row.system.endswith(EXTENDED) else "original"
            counts[row.system.removesuffix(EXTENDED)][version][float(row.value)] += 1
    return {
        system: {
            version: {f"{score:g}": n for score, n in sorted(counts.items())}
            for version, counts in sorted(versions.items(), reverse=True)
        }
        for system, versions in counts.items()
        if len(versions) == 2
    }


_Preferences: TypeAlias = tuple[list[tuple[str, float]], int, int]
"""(document, preference for the original) per summary; numbers of unmatched, of unscored."""


def _score_preferences(rows: Sequence[Judgement]) -> _Preferences:
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    n_unscored = 0
    for row in rows:
        if row.value is None or isinstance(row.value, str):
            n_unscored += 1
        elif row.system is not None:
            values[row.eid, row.system, row.unit].append(row.value)
    extended_keys = [key for key in values if key[1].endswith(EXTENDED)]
    original_key = {key: (key[0], key[1].removesuffix(EXTENDED), key[2]) for key in extended_keys}
    differences = [
        (key[0], exact_mean(values[original_key[key]]) - exact_mean(values[key]))
        for key in extended_keys
        if original_key[key] in values
    ]
    return differences, len(extended_keys) - len(differences), n_unscored


def _pair_preferences(rows: Sequence[Judgement]) -> _Preferences:
    values: dict[tuple[str, str, str], dict[bool, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    n_unscored = 0
    for row in rows:
        a, b = str(row.system_a), str(row.system_b)
        if EXTENDED not in {b.removeprefix(a), a.removeprefix(b)}:
            continue
        if not isinstance(row.value, str):
            n_unscored += 1
            continue
        original_is_a = b == a + EXTENDED
        preference = SIGNS[row.value] if original_is_a else -SIGNS[row.value]
        key = (row.eid, a if original_is_a else b, row.unit)
        values[key][(row.order == "ab") is original_is_a].append(preference)
    differences = []
    for (eid, *_), orders in values.items():
        if len(orders) == 2:
            low, high = sorted(map(exact_mean, orders.values()))
            differences.append((eid, low if low > 0 else min(high, 0.0)))
    return differences, len(values) - len(differences), n_unscored
