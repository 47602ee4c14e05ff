"""Reconciling both orders, and system scores with unscored items: values worked out by hand."""

from __future__ import annotations

import pytest

from fairjudge.domain import Judgement, Undefined
from fairjudge.judges.aggregate import PairVerdict, reconcile, system_scores, with_pair_verdicts


@pytest.mark.parametrize(
    ("ab", "ba", "verdict"),
    [
        ("a", "a", PairVerdict(verdict="a")),
        ("b", "b", PairVerdict(verdict="b")),
        ("tie", "tie", PairVerdict(verdict="tie")),
        ("a", "b", PairVerdict(verdict="tie", flipped=True)),
        ("b", "a", PairVerdict(verdict="tie", flipped=True)),
        ("a", "tie", PairVerdict(verdict="a", confidence=0.5)),
        ("tie", "b", PairVerdict(verdict="b", confidence=0.5)),
        ("a", None, PairVerdict(verdict=None)),
        (None, None, PairVerdict(verdict=None)),
    ],
)
def test_both_orders_together(ab, ba, verdict):
    assert reconcile(ab, ba) == verdict


def test_strict_turns_a_win_with_a_tie_into_a_tie():
    assert reconcile("a", "tie", tie_rule="strict") == PairVerdict(verdict="tie")


def single(eid, system, value, unit="summary", protocol="likert"):
    return Judgement(
        eid=eid, system=system, aspect="coverage", protocol=protocol, unit=unit, judge="j",
        value=value, unscored=None if value is not None else "refused",
    )  # fmt: skip


def pair(order, value, eid="e", a="s", b="t"):
    return Judgement(
        eid=eid, system_a=a, system_b=b, order=order, aspect="coverage", protocol="pairwise",
        judge="j", value=value, unscored=None if value is not None else "refused",
    )  # fmt: skip


def test_units_are_averaged_within_a_cluster_and_clusters_among_themselves():
    scores = system_scores(
        [single("e", "s", 1, "answer:0.0"), single("e", "s", 3, "answer:0.1"), single("f", "s", 5)]
    )
    # e: (1 + 3) / 2 = 2; f: 5; mean 3.5
    assert [(s.system, s.mean, s.n_clusters, s.n_judged) for s in scores] == [("s", 3.5, 2, 3)]


def test_an_unscored_unit_is_counted_and_bounds_the_mean():
    (score,) = system_scores([single("e", "s", 4), single("f", "s", None)])
    # scored mean 4; with the missing one at 1: 2.5, at 5: 4.5
    assert (score.mean, score.low, score.high, score.n_unscored) == (4, 2.5, 4.5, 1)


def test_a_system_without_any_score_is_undefined_and_last():
    scores = system_scores([single("e", "s", None), single("e", "t", 1)])
    assert [s.system for s in scores] == ["t", "s"]
    assert isinstance(scores[1].mean, Undefined)
    assert scores[1].n_unscored == 1


def test_no_judgements_give_no_lines():
    assert system_scores([]) == ()


def test_win_rates_count_ties_as_half_and_half_confidence_as_three_quarters():
    judgements = [
        pair("ab", "a"), pair("ba", "a"),  # s wins: 1, 0
        pair("ab", "a", "f"), pair("ba", "b", "f"),  # flipped: 0.5 each
        pair("ab", "tie", "g"), pair("ba", "b", "g"),  # t at half confidence: 0.25, 0.75
        pair("ab", "a", "h"), pair("ba", None, "h"),  # unscored
    ]  # fmt: skip
    scores = {score.system: score for score in system_scores(judgements)}
    assert scores["s"].mean == pytest.approx((1 + 0.5 + 0.25) / 3)
    assert scores["t"].mean == pytest.approx((0 + 0.5 + 0.75) / 3)
    assert (scores["s"].low, scores["s"].high) == (1.75 / 4, 2.75 / 4)
    assert scores["s"].n_unscored == scores["t"].n_unscored == 1


def test_rows_of_a_pair_carry_what_both_orders_say():
    rows = with_pair_verdicts([pair("ab", "a"), pair("ba", "b"), single("e", "s", 3)])
    assert [row.to_json().get("flipped") for row in rows] == [True, True, None]
    assert [row.to_json().get("verdict") for row in rows] == ["tie", "tie", None]
    assert [row.value for row in rows] == ["a", "b", 3]
