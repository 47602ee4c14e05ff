"""Fitting a cascade's thresholds from files, and the files that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import write_jsonl
from json_files import read_json, read_rows


def judgement(n: int, judge: str, value: float, **more: object) -> dict:
    return {
        "eid": f"d{n // 4}",
        "system": f"s{n % 4}",
        "aspect": "faithfulness",
        "unit": "summary",
        "protocol": "likert",
        "judge": judge,
        "value": value,
        "unscored": None,
        "raw": None,
        "scored_by": "llm",
        "probabilities": None,
        "signature": judge,
        **more,
    }


@pytest.fixture
def files() -> tuple[object, ...]:
    """Labels go 1 to 5 in turn; the local scorer knows the ends and says 3 in between."""
    labels = [n % 5 + 1 for n in range(200)]
    local = [float(label if label in {1, 5} else 3) for label in labels]
    rows = [
        {"eid": f"d{n // 4}", "system": f"s{n % 4}", "aspect": "faithfulness", "annotator": "a"}
        | {"value": label, "unit": "summary"}
        for n, label in enumerate(labels)
    ]
    write_jsonl(Path("labels.jsonl"), rows)
    write_jsonl(Path("local.jsonl"), [judgement(n, "local", v) for n, v in enumerate(local)])
    write_jsonl(Path("llm.jsonl"), [judgement(n, "llm", v) for n, v in enumerate(labels)])
    inputs = ("--local", "local.jsonl", "--judged", "llm.jsonl", "--labels", "labels.jsonl")
    return ("calibrate", "cascade", *inputs, "-o", "thresholds.json", "--json", "report.json")


def test_saved_calls_are_reported_with_added_error(cli, files):
    """Two labels of five are at an end: 40 % of the calls, and nothing is lost."""
    result = cli(*files, "--tolerance", "0", "--agreement-tolerance", "0", code=0)
    report = read_json("report.json")
    assert report["saved"]["value"] == pytest.approx(40.0)
    assert report["error_added"]["value"] == 0.0
    assert report["agreement_lost"]["value"] == pytest.approx(0.0, abs=1e-12)
    assert report["kendall"]["costly"] == pytest.approx(1.0)
    data = read_json("thresholds.json")
    assert 1 <= data["low"] < 3 < data["high"] <= 5
    text = " ".join(result.out.split())
    assert "which saves 40.0 [" in text
    assert "loss in Kendall's tau-b:" in text


def test_higher_tolerance_saves_more(cli, files):
    assert cli(*files, "--tolerance", "1", "--agreement-tolerance", "1").code == 0
    report = read_json("report.json")
    assert report["saved"]["value"] == pytest.approx(100.0)
    # Of five labels, 2 and 4 are missed by 1: the mean absolute error grows by 0.4.
    assert report["error_added"]["value"] == pytest.approx(0.4)
    assert report["agreement_lost"]["value"] > 0.05


def test_mismatched_files_are_named(cli, files):
    few = [judgement(n, "local", 3.0) for n in range(8)]
    write_jsonl(Path("local.jsonl"), few)
    result = cli(*files, code=1)
    assert "in all three files: 8 items" in result.err
    rows = [judgement(0, "local", 3.0), judgement(0, "other", 3.0)]
    write_jsonl(Path("local.jsonl"), rows)
    result = cli(*files, code=1)
    assert "expected one judge, aspect, protocol and unit, found 2" in result.err


def paired(n: int, order: str, value: str) -> dict:
    row = {"eid": f"d{n}", "system_a": "x", "system_b": "y", "aspect": "coverage"}
    return {**row, "order": order, "protocol": "pairwise", "judge": "j", "value": value}


@pytest.fixture
def promised() -> tuple[object, ...]:
    """Of 120 pairs, 80 are told alike in both orders, and rightly; 40 by their place alone."""
    rows = [
        paired(n, order, "a" if n < 80 or order == "ab" else "b")
        for n in range(120)
        for order in ("ab", "ba")
    ]
    write_jsonl(Path("pairs.jsonl"), rows)
    label = {"system_a": "x", "system_b": "y", "aspect": "coverage", "annotator": "p"}
    labels = [{**label, "eid": f"d{n}", "value": "a" if n % 3 else "b"} for n in range(80, 120)]
    labels += [{**label, "eid": f"d{n}", "value": "a"} for n in range(80)]
    write_jsonl(Path("people.jsonl"), labels)
    return (
        "calibrate",
        "cascade",
        "--local",
        "pairs.jsonl",
        "--labels",
        "people.jsonl",
        "-o",
        "kept.json",
    )


def test_guarantee_accepts_only_order_consistent_answers(cli, promised):
    result = cli(
        *promised, "--guarantee", "0.9", "--json", "out.json", "--ask", "ask.jsonl", code=0
    )
    report = read_json("out.json")
    assert report["kept"]["value"] == pytest.approx(80 / 120)
    assert report["agreement"]["value"] == 1.0
    assert report["overall"]["value"] == pytest.approx(80 / 120)
    text = read_rows("ask.jsonl")
    assert {row["eid"] for row in text} == {f"d{n}" for n in range(80, 120)}
    assert read_json("kept.json")["threshold"] == report["threshold"] > 0
    assert "agree with humans at least 90 %" in result.out


def test_too_few_labels_give_no_guarantee(cli, promised):
    lines = Path("people.jsonl").read_text().splitlines()[:20]
    Path("people.jsonl").write_text("\n".join(lines) + "\n")
    result = cli(*promised, "--guarantee", "0.9", code=1)
    assert "39 are needed even if all agree" in result.err


def test_costly_judge_is_required_without_a_guarantee(cli, promised):
    assert cli(*promised).code == 2
