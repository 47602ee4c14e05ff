"""Ranking systems from a file of pairwise judgements."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import write_jsonl
from json_files import read_json


def pair(n: int, a: str, b: str, value: str | None, order: str = "ab") -> dict:
    return {
        "eid": f"d{n}",
        "system_a": a,
        "system_b": b,
        "order": order,
        "aspect": "coverage",
        "unit": "summary",
        "protocol": "pairwise",
        "judge": "j",
        "value": value,
        "unscored": None if value else "unparseable",
    }


def test_better_system_leads_and_position_effect_is_separated(cli):
    """Of 20 documents in both orders, A wins both in 14, whatever stands first wins both in 6."""
    rows = []
    for n in range(20):
        first = ("a", "b") if n < 6 else ("a", "a")
        rows += [pair(n, "A", "B", first[0]), pair(n, "A", "B", first[1], "ba")]
    write_jsonl(Path("pairs.jsonl"), rows)
    result = cli("rank", "pairs.jsonl", "--json", "out.json", code=0)
    assert "Ranking by j, coverage" in result.out
    assert "Being shown first adds" in result.out
    (group,) = read_json("out.json")["groups"]
    assert [item["system"] for item in group["systems"]] == ["A", "B"]
    assert group["systems"][0]["win_rate"]["value"] == pytest.approx(34 / 40)
    assert [(item["best_rank"], item["worst_rank"]) for item in group["systems"]] == [
        (1, 1),
        (2, 2),
    ]
    assert group["position_effect"]["value"] > 0


def test_many_unscored_pairs_exit_with_3_and_are_counted(cli):
    rows = [pair(n, "A", "B", "a" if n % 2 else "b") for n in range(8)]
    write_jsonl(Path("pairs.jsonl"), [*rows, pair(9, "A", "B", None), pair(10, "A", "B", None)])
    result = cli("rank", "pairs.jsonl", code=3)
    assert "Excluded: 2 without a score." in result.out


def test_no_pairs_give_a_one_line_error(cli):
    row = {"eid": "d", "system": "A", "aspect": "coverage", "protocol": "likert", "judge": "j"}
    write_jsonl(Path("ratings.jsonl"), [{**row, "value": 3}])
    result = cli("rank", "ratings.jsonl", code=1)
    assert "needs judgements of pairs or rankings" in result.err


def test_uncompared_systems_are_reported(cli):
    write_jsonl(Path("pairs.jsonl"), [pair(1, "A", "B", "a"), pair(2, "C", "D", "a")])
    result = cli("rank", "pairs.jsonl", code=0)
    assert "No ranking: systems fall into 2 sets that are never compared." in result.out
