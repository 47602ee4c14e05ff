"""Reconciling both orders, and system scores with unscored items: values worked out by hand."""

from __future__ import annotations

import pytest

from fairjudge.domain import Judgement, Undefined
from fairjudge.scores.aggregate import PairVerdict, reconcile, system_scores, with_pair_verdicts
from fairjudge.scores.leaderboards import leaderboards, missing_ranks_note, shared_clusters_note


def ranks_of(rows):
    """Return the best and the worst rank of each system of one leaderboard that has them."""
    (board,) = leaderboards(rows)
    return {entry.score.system: entry.ranks for entry in board.standings if entry.ranks}


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
def test_both_orders_are_combined(ab, ba, verdict):
    assert reconcile(ab, ba) == verdict


def single(eid, system, value, unit="summary", protocol="likert"):
    return Judgement(
        eid=eid, system=system, aspect="coverage", protocol=protocol, unit=unit, judge="j",
        value=value, unscored=None if value is not None else "refused",
    )  # fmt: skip


def test_repeats_of_an_item_are_averaged_before_items():
    """Item x: (1 + 3) / 2 = 2, its refused repeat apart; item y: 5; so 3.5, and not (1+3+5)/3."""
    rows = [single("e", "s", value, "sentence:0") for value in (1, 3, None)]
    rows = [row.model_copy(update={"repeat": n}) for n, row in enumerate(rows)]
    rows.append(single("e", "s", 5, "sentence:1").model_copy(update={"repeat": 0}))
    (score,) = system_scores(rows)
    assert (score.mean, score.n_judged, score.n_unscored) == (3.5, 2, 0)


def test_each_repeat_of_a_pair_is_matched_with_its_reverse_order():
    """Repeat 0 is a win in both orders, repeat 1 names the first place twice: (1 + 0.5) / 2."""
    texts = [("ab", "a", 0), ("ba", "a", 0), ("ab", "a", 1), ("ba", "b", 1)]
    rows = [pair(o, value).model_copy(update={"repeat": n}) for o, value, n in texts]
    best, worst = system_scores(rows)
    assert (best.system, best.mean, worst.mean) == ("s", 0.75, 0.25)
    assert [row.flipped for row in with_pair_verdicts(rows)] == [False, False, True, True]


def pair(order, value, eid="e", a="s", b="t"):
    return Judgement(
        eid=eid, system_a=a, system_b=b, order=order, aspect="coverage", protocol="pairwise",
        judge="j", value=value, unscored=None if value is not None else "refused",
    )  # fmt: skip


def test_units_are_averaged_per_cluster_and_then_clusters():
    scores = system_scores(
        [single("e", "s", 1, "answer:0.0"), single("e", "s", 3, "answer:0.1"), single("f", "s", 5)]
    )
    # e: (1 + 3) / 2 = 2; f: 5; mean 3.5
    assert [(s.system, s.mean, s.n_clusters, s.n_judged) for s in scores] == [("s", 3.5, 2, 3)]


def test_an_unscored_unit_is_counted_and_bounds_the_mean():
    (score,) = system_scores([single("e", "s", 4), single("f", "s", None)])
    # scored mean 4; with the missing one at 1: 2.5, at 5: 4.5
    assert (score.mean, score.low, score.high, score.n_unscored) == (4, 2.5, 4.5, 1)


def test_system_without_scores_is_undefined_and_last():
    scores = system_scores([single("e", "s", None), single("e", "t", 1)])
    assert [s.system for s in scores] == ["t", "s"]
    assert isinstance(scores[1].mean, Undefined)
    assert scores[1].n_unscored == 1


def test_no_judgements_give_an_empty_leaderboard():
    assert system_scores([]) == ()


def test_win_rates_count_ties_as_half_and_win_plus_tie_as_0_75():
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


def test_pair_rows_contain_the_combined_verdict():
    rows = with_pair_verdicts([pair("ab", "a"), pair("ba", "b"), single("e", "s", 3)])
    assert [row.to_json().get("flipped") for row in rows] == [True, True, None]
    assert [row.to_json().get("verdict") for row in rows] == ["tie", "tie", None]
    assert [row.value for row in rows] == ["a", "b", 3]


def test_a_system_scored_on_fewer_clusters_is_listed_and_not_ranked():
    """t has the best mean, on one cluster of three."""
    rows = [single(eid, "s", value) for eid, value in (("a", 3), ("b", 4), ("c", 2))]
    rows += [single(eid, "u", value) for eid, value in (("a", 1), ("b", 2), ("c", 2))]
    scores = system_scores([*rows, single("a", "t", 5)])
    assert [(score.system, score.ranked) for score in scores] == [
        ("s", True),
        ("u", True),
        ("t", False),
    ]
    boards = leaderboards([*rows, single("a", "t", 5)], n_resamples=200)
    assert [standing.behind is None for standing in boards[0].standings] == [True, False, True]


def test_system_is_ranked_if_few_clusters_are_unscored():
    """90 % of the fullest system's clusters is enough, one cluster less is not."""
    for n, least in ((10, 9), (11, 10), (19, 18), (20, 18), (100, 90)):
        for n_few, ranked in ((least, True), (least - 1, False)):
            rows = [*_rated("all", [3] * n), *_rated("few", [2] * n_few)]
            scores = {score.system: score for score in system_scores(rows)}
            assert scores["few"].ranked is ranked, (n, n_few)
            assert scores["all"].n_shared == (n_few if ranked else n)


def test_systems_are_compared_on_shared_clusters():
    """Of nine clusters that both have b is 0.5 better in each; on a tenth, which a lacks, b has -5.

    Means are (9 * 4.5 - 5) / 10 = 3.55 for b and 4 for a.
    """
    rows = [*_rated("a", [4] * 9), *_rated("b", [4.5] * 9 + [-5.0])]
    scores = system_scores(rows, scale_range=(-5.0, 5.0))
    assert [(score.system, score.shared_mean) for score in scores] == [("b", 4.5), ("a", 4.0)]
    assert [score.mean for score in scores] == [3.55, 4.0]
    assert ranks_of(rows) == {"b": (1, 1), "a": (2, 2)}
    (board,) = leaderboards(rows, n_resamples=200)
    behind = board.standings[1].behind
    assert (behind.value, behind.low, board.standings[1].significant) == (0.5, 0.5, True)
    assert "9 clusters that all ranked" in shared_clusters_note(scores)


def test_no_shared_cluster_gives_no_ranks():
    """Eleven systems, each lacking another one of eleven clusters: every two share nine of them."""
    systems = [f"s{n:02}" for n in range(11)]
    rows = [
        row.model_copy(update={"eid": f"e{place}"})
        for n, system in enumerate(systems)
        for place, row in enumerate(_rated(system, [3] * 11))
        if place != n
    ]
    scores = system_scores(rows)
    assert not any(score.ranked for score in scores)
    assert scores[0].why == "all 11 systems together share no cluster"
    assert ranks_of(rows) == {}


def test_too_few_shared_clusters_give_no_ranks_and_a_note():
    rows = [*_rated("a", [3, 4, 3, 4]), *_rated("b", [1, 2, 1, 2])]
    (board,) = leaderboards(rows, n_resamples=50)
    assert [standing.ranks for standing in board.standings] == [None, None]
    assert [standing.mean.low for standing in board.standings] == [None, None]
    assert missing_ranks_note(board) == (
        "Too few clusters (< 5) for confidence intervals; no ranks shown."
    )


def _rated(system, values):
    return [
        Judgement(eid=f"e{n}", system=system, aspect="coverage", protocol="likert", judge="j",
                  value=value, signature="s")
        for n, value in enumerate(values)
    ]  # fmt: skip


def test_rank_ranges_follow_from_the_intervals():
    """Of two alike and one far below, the first two share ranks 1 to 2."""
    alike = [_rated("a", [4, 3, 4, 3, 4, 3]), _rated("b", [3, 4, 3, 4, 3, 4])]
    rows = [row for items in (*alike, _rated("c", [1, 2, 1, 2, 1, 2])) for row in items]
    assert ranks_of(rows) == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert ranks_of(rows[:4] + rows[12:16]) == {}, "four clusters rank nobody"
