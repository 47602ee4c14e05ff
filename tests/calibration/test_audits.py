"""Audits of pairs and of lengthened summaries, row by row."""

from __future__ import annotations

import pytest
from builders import make_judgement

from fairjudge.calibration.audits import EXTENDED, audit_position, audit_verbosity
from fairjudge.domain import Judgement


def pair(value, order, *, eid="d", a="s", b="s" + EXTENDED, **fields):
    return make_judgement(eid=eid, system_a=a, system_b=b, order=order, value=value, **fields)


def score(value, system, *, eid="d", **more):
    return Judgement(
        eid=eid, system=system, aspect="coverage", protocol="likert", judge="j", value=value, **more
    )


def verbosity(rows):
    (audit,) = audit_verbosity(rows)
    return audit.bias.original.value, audit.bias.extended.value


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("when_original_first", "when_extended_first", "shares"),
    [
        (["s"], ["s"], (1.0, 0.0)),
        (["s+"], ["s+"], (0.0, 1.0)),
        (["s"], ["s+"], (0.0, 0.0)),
        (["s"], ["tie"], (0.0, 0.0)),
        (["tie"], ["s+"], (0.0, 0.0)),
        (["s+", "s+", "s"], ["s+"], (0.0, 1.0)),  # of repeats the mean
        (["s+", "s"], ["s+"], (0.0, 0.0)),
    ],
)
def test_side_winning_in_both_orders_is_preferred(
    turned, when_original_first, when_extended_first, shares
):
    """Whichever of the two is called a; repeats of one order are no other order."""
    a, b = ("s" + EXTENDED, "s") if turned else ("s", "s" + EXTENDED)
    sides = {"s": "b" if turned else "a", "s+": "a" if turned else "b", "tie": "tie"}
    orders = ("ba", "ab") if turned else ("ab", "ba")
    rows = [
        pair(sides[verdict], order, a=a, b=b, repeat=n)
        for order, items in zip(orders, (when_original_first, when_extended_first), strict=True)
        for n, verdict in enumerate(items)
    ]
    assert verbosity(rows) == shares


def test_pairs_with_one_order_or_no_verdict_are_counted():
    orders = [pair("a", "ab"), pair("a", "ba")]
    lost = [
        pair(None, "ab", eid="e", unscored="refused"),
        pair(None, "ba", eid="e", unscored="refused"),
    ]
    (audit,) = audit_verbosity(
        [*orders, *lost, pair("a", "ab", eid="f"), pair("a", "ab", eid="g", repeat=1)]
    )
    assert (audit.bias.n, audit.n_unscored, audit.n_unmatched) == (1, 2, 2)
    (clean,) = audit_verbosity(orders)
    assert (clean.n_unscored, clean.n_unmatched) == (0, 0)


def test_pairs_of_different_systems_are_excluded_from_verbosity():
    rows = [
        pair("a", "ab", b="other"),
        pair("a", "ba", b="other"),
        pair("b", "ab", b="other" + EXTENDED),
        pair("b", "ba", b="other" + EXTENDED),
    ]
    assert audit_verbosity(rows) == ()


def test_repeated_scores_are_averaged_and_missing_ones_counted():
    """Original (2 + 5) / 2 = 3.5 against 3: preferred, though it was scored lower once."""
    rows = [
        score(2, "s", repeat=0),
        score(5, "s", repeat=1),
        score(3, "s" + EXTENDED),
        score(None, "s", eid="e", unscored="refused"),
        score(3, "s" + EXTENDED, eid="e"),
    ]
    (audit,) = audit_verbosity(rows)
    assert audit.bias.original.value == 1.0
    assert (audit.bias.n, audit.n_unscored, audit.n_unmatched) == (1, 1, 1)


def test_each_unit_is_compared_with_the_same_unit_of_the_variant():
    rows = [
        score(2, "s", unit="sentence:0"),
        score(3, "s" + EXTENDED, unit="sentence:0"),
        score(4, "s", unit="sentence:1"),
        score(1, "s" + EXTENDED, unit="sentence:1"),
    ]
    assert verbosity(rows) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("values", "part"), [((3.0, 3.5), "close"), ((3.0, 3.6), "far apart"), ((4.0, 3.5), "close")]
)
def test_half_a_point_apart_is_close(values, part):
    rows = [pair("a", "ab", b="t"), pair("a", "ba", b="t")]
    quality = {("d", "s"): values[0], ("d", "t"): values[1]}
    (audit,) = audit_position(rows, quality=quality)
    assert list(audit.by_closeness) == [part]


@pytest.mark.parametrize("is_known", ["s", "t"])
def test_pair_with_unlabelled_side_is_neither_close_nor_far(is_known):
    (audit,) = audit_position(
        [pair("a", "ab", b="t"), pair("a", "ba", b="t")], quality={("d", is_known): 3.0}
    )
    assert audit.by_closeness == {}
    assert audit.bias.consistency.n == 1


def test_reported_level_matches_the_intervals():
    rows = [item for d in range(8) for item in (pair("a", "ab", eid=f"d{d}", b="t"),
                                              pair("a", "ba", eid=f"d{d}", b="t"))]  # fmt: skip
    (usual,) = audit_position(rows)
    (lower,) = audit_position(rows, level=0.8)
    assert (usual.bias.consistency.level, lower.bias.consistency.level) == (0.95, 0.8)
    assert lower.bias.consistency.low > usual.bias.consistency.low
    long = [score(v, s, eid=f"d{d}") for d in range(8) for v, s in ((3, "s"), (2, "s" + EXTENDED))]
    assert audit_verbosity(long)[0].bias.original.level == 0.95
    assert audit_verbosity(long, level=0.8)[0].bias.original.level == 0.8
