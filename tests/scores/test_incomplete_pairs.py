"""Systems compared in pairs by an incomplete design are ranked by strengths, never by win rates."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from recorded_pairs import recorded_pairs

from fairjudge.analysis.ranking import ranking_report
from fairjudge.analysis.reporting import make_report
from fairjudge.domain import Judgement, Undefined
from fairjudge.reports.findings import board_findings, to_board
from fairjudge.reports.leaderboard_table import leaderboard_parts
from fairjudge.reports.tables import TextTable
from fairjudge.scores.aggregate import system_scores
from fairjudge.scores.leaderboards import leaderboards, unranked_note
from fairjudge.scores.strengths import strengths

DATA = Path(__file__).parents[3] / "shared" / "data" / "summeval"


def ranks_of(rows):
    """Return the best and the worst rank of each system of one leaderboard that has them."""
    (board,) = leaderboards(rows)
    return {entry.score.system: entry.ranks for entry in board.standings if entry.ranks}


def both_orders(eid: str, a: str, b: str, value: str) -> list[Judgement]:
    of = {"eid": eid, "system_a": a, "system_b": b, "aspect": "relevance", "judge": "j"}
    return [
        Judgement.model_validate(of | {"protocol": "pairwise", "order": order, "value": value})
        for order in ("ab", "ba")
    ]


def weak_opponents() -> list[Judgement]:
    """best beats good 3 to 2, good beats weak 4 to 1, weak beats worst 4 to 1.

    Win rates: best .60, good .60, weak .50, worst .20. Strengths: best is log 1.5 above good,
    good log 4 above weak, weak log 4 above worst.
    """
    rows = []
    for pair, won in ((("best", "good"), 3), (("good", "weak"), 4), (("weak", "worst"), 4)):
        for n in range(5):
            rows += both_orders(f"e{n}", *pair, "a" if n < won else "b")
    return rows


def test_strengths_rank_correctly_where_win_rates_do_not():
    scores = system_scores(weak_opponents())
    assert [score.system for score in scores] == ["best", "good", "weak", "worst"]
    assert all(score.ranked for score in scores)
    values = [score.strength for score in scores]
    # a tree of pairs: each difference is the log-odds of its own pair
    gaps = [first - second for first, second in pairwise(values)]
    assert gaps == pytest.approx([0.405, 1.386, 1.386], abs=2e-3)
    assert scores[0].to_json()["strength"] == values[0]


def test_a_complete_design_keeps_its_win_rates():
    rows = [
        row
        for n in range(5)
        for a, b in (("x", "y"), ("x", "z"), ("y", "z"))
        for row in both_orders(f"e{n}", a, b, "a" if n else "b")
    ]
    assert strengths(rows) is None
    assert [score.strength for score in system_scores(rows)] == [None, None, None]
    assert "strength" not in system_scores(rows)[0].to_json()
    # a pair that was asked for but has no score makes no design incomplete
    lost = rows[0].model_copy(update={"value": None, "unscored": "refused"})
    assert strengths([lost, *rows[1:]]) is None


def test_systems_that_are_never_compared_have_no_leader():
    rows = [
        row
        for n in range(6)
        for a, b in (("a", "b"), ("c", "d"))
        for row in both_orders(f"e{n}", a, b, "a" if n else "b")
    ]
    scores = system_scores(rows)
    assert not any(score.ranked for score in scores)
    assert "2 sets that are never compared" in str(unranked_note(scores))
    assert ranks_of(rows) == {}
    (board,) = leaderboards(rows, n_resamples=50)
    assert isinstance(board.ranking, Undefined)
    text = board_findings(to_board(board))
    assert text[0].startswith("No system leads: not every pair of systems is compared")
    assert not any("highest" in sentence for sentence in text)


def test_systems_that_share_no_cluster_have_no_leader():
    """Means over different clusters are no ranking, also where there are equally many."""
    of = {"aspect": "relevance", "judge": "j", "protocol": "likert"}
    rows = [
        Judgement.model_validate(of | {"eid": f"{system}{n}", "system": system, "value": value})
        for system, value in (("a", 5), ("b", 2))
        for n in range(6)
    ]
    scores = system_scores(rows)
    assert not any(score.ranked for score in scores)
    assert unranked_note(scores) == "No system is ranked: a and b share no cluster."
    assert ranks_of(rows) == {}
    (board,) = leaderboards(rows, n_resamples=50)
    assert all(standing.behind is None for standing in board.standings)
    assert board_findings(to_board(board))[0] == ("No system leads: a and b share no cluster.")


def test_sentence_uses_the_ranks_of_the_table():
    (board,) = leaderboards(weak_opponents(), n_resamples=50)
    sentence = board_findings(to_board(board))[0]
    assert sentence.startswith("best has the highest strength in relevance; good")
    (table,) = [
        part
        for group in leaderboard_parts([board])
        for part in getattr(group, "parts", ())
        if isinstance(part, TextTable)
    ]
    heads = [column.heading for column in table.columns]
    assert heads[:4] == ["system", "rank", "strength [95 %]", "win rate [95 %]"]
    assert "difference to best" not in heads
    may_be_first = {row[0] for row in table.rows if re.match(r"1(-|$)", row[1])}
    assert {"best", "good"} <= may_be_first


@pytest.mark.skipif(not DATA.exists(), reason="the shared SummEval data are not here")
def test_report_and_rank_agree_on_real_pairs(tmp_path):
    """Of real replies M8 wins most of its pairs, and is 7th by strength; people put it 8th."""
    rows = recorded_pairs(DATA / "pairwise_gpt-3.5_relevance.jsonl")
    judged = [Judgement.model_validate(row) for row in rows]
    ranked = ranking_report(judged, level=0.95, seed=0)["groups"][0]["systems"]
    names = [item["system"] for item in ranked]
    assert names.index("M8") == 6
    assert [score.system for score in system_scores(judged)] == names
    assert ranks_of(judged) == {
        item["system"]: (item["best_rank"], item["worst_rank"]) for item in ranked
    }
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    page = make_report(path).html
    assert f"{names[0]} has the highest strength in relevance" in page
    assert "M8 has the highest" not in page
