"""The sentences that come first, rule by rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairjudge.domain import Judgement
from fairjudge.reports.findings import Board, board_findings, rank_rivals, to_board
from fairjudge.scores.leaderboards import leaderboards

BOARD = Board(
    aspect="coverage",
    systems=["a", "b", "c"],
    rivals=[],
    unranked=[],
    n_clusters=20,
    n_items=60,
    reasons={},
    by_default=False,
)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {},
            "a has the highest mean in coverage; the difference to every other system is "
            "significant (95 %).",
        ),
        (
            {"n_clusters": 14},
            "a has the highest mean in coverage; the 95 % interval of every other system's "
            "difference excludes 0, but intervals from 14 clusters are too narrow.",
        ),
        (
            {"n_clusters": 5, "by_rank": True},
            "a has the highest mean in coverage; no other system may rank first (95 %; but "
            "intervals from 5 clusters are too narrow).",
        ),
        (
            {"n_clusters": 15, "by_rank": True},
            "a has the highest mean in coverage; no other system may rank first (95 %).",
        ),
        (
            {"rivals": ["b"]},
            "a has the highest mean in coverage; the difference to b is not significant (95 %).",
        ),
        (
            {"rivals": list("bcdef")},
            "a has the highest mean in coverage; the difference to b, c, d and 2 more is not "
            "significant (95 %).",
        ),
        (
            {"rivals": None, "n_clusters": 1},
            "a has the highest mean in coverage; too few clusters (1) to compare systems.",
        ),
        (
            {"n_level": 2},
            "a and b tie for first place in coverage; the difference to every other system is "
            "significant (95 %).",
        ),
        (
            {"n_level": 2, "rivals": ["b", "c"]},
            "a and b tie for first place in coverage; the difference to c is not significant "
            "(95 %).",
        ),
        (
            {"rivals": ["b"], "by_rank": True},
            "a has the highest mean in coverage; b may rank first too (95 %).",
        ),
        ({"n_level": 3, "rivals": ["b", "c"]}, "a, b and c tie for first place in coverage."),
        (
            {"n_level": 2, "rivals": None, "n_clusters": 2},
            "a and b tie for first place in coverage; too few clusters (2) to compare systems.",
        ),
        (
            {"systems": ["a"]},
            "Only a can be ranked: there is no system to compare.",
        ),
        ({"systems": []}, "No system has a score."),
        ({"unranked": ["z"]}, "Judged on fewer clusters, and not compared: z."),
        ({}, "Every item has a score."),
        (
            {"reasons": {"refused": 2, "unparseable": 1}},
            "3 of 60 items (5 %) are without a score: 2 refused, 1 unparseable.",
        ),
        ({"reasons": {"refused": 1}}, "1 of 60 items (2 %) is without a score: 1 refused."),
        (
            {"reasons": {"refused": 4}},
            "Next: find out why these have no score; their scores may change the ranking.",
        ),
        (
            {"rivals": None, "n_clusters": 2},
            "Next: judge at least 5 clusters; significance takes dozens.",
        ),
        (
            {"by_default": True},
            "Next: an LLM as judge, or human labels for 'fairjudge calibrate'.",
        ),
        (
            {"reasons": {"refused": 3}},  # 5 % is not much yet
            "Next: 'fairjudge calibrate' measures how far this judge agrees with human labels.",
        ),
    ],
)
def test_each_rule_has_its_sentence(changed, sentence):
    assert sentence in board_findings(replace(BOARD, **changed))


def test_no_judgements_give_no_findings():
    assert board_findings(replace(BOARD, n_items=0)) == ()


def test_systems_that_may_share_first_rank_are_rivals():
    ranges = {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert rank_rivals(ranges, ["a", "b", "c"]) == ["b"]
    assert rank_rivals({}, ["a", "b"]) is None


def rated(system: str, n_clusters: int, value: float) -> list[Judgement]:
    return [
        Judgement(
            eid=f"e{n}", system=system, aspect="coverage", unit="summary", protocol="likert",
            judge="j", value=value + 0.1 * (n % 3),
        )
        for n in range(n_clusters)
    ]  # fmt: skip


def test_page_names_significantly_worse_systems():
    rows = [*rated("good", 10, 4.0), *rated("bad", 10, 2.0), *rated("few", 3, 4.5)]
    (board,) = leaderboards(rows)
    result = to_board(board)
    assert (result.systems, result.rivals, result.unranked) == (["good", "bad"], [], ["few"])
    (board,) = leaderboards([*rated("one", 10, 3.0), *rated("two", 10, 3.0)])
    assert to_board(board).rivals == ["two"]
    (board,) = leaderboards([*rated("one", 4, 3.0), *rated("two", 4, 1.0)])
    assert to_board(board).rivals is None
