"""Fitting a cascade's thresholds from files, and the files that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import write_jsonl


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
    return ("cascade", *inputs, "-o", "thresholds.json", "--json", "report.json")


def test_what_the_ends_save_is_said_beside_what_it_costs(cli, files):
    """Two labels of five are at an end: 40 % of the calls, and nothing is lost."""
    done = cli(*files, "--tolerance", "0", "--agreement-tolerance", "0")
    assert done.code == 0, done.err
    report = json.loads(Path("report.json").read_text())
    assert report["saved"]["value"] == pytest.approx(40.0)
    assert report["error_added"]["value"] == 0.0
    assert report["agreement_lost"]["value"] == pytest.approx(0.0, abs=1e-12)
    assert report["kendall"]["costly"] == pytest.approx(1.0)
    kept = json.loads(Path("thresholds.json").read_text())
    assert 1 <= kept["low"] < 3 < kept["high"] <= 5
    text = " ".join(done.out.split())
    assert "percent of calls saved 40.0" in text
    assert "Kendall's tau-b falls by" in text


def test_more_may_be_saved_where_more_may_be_lost(cli, files):
    assert cli(*files, "--tolerance", "1", "--agreement-tolerance", "1").code == 0
    report = json.loads(Path("report.json").read_text())
    assert report["saved"]["value"] == pytest.approx(100.0)
    # Of five labels, 2 and 4 are missed by 1: the mean absolute error grows by 0.4.
    assert report["error_added"]["value"] == pytest.approx(0.4)
    assert report["agreement_lost"]["value"] > 0.05


def test_files_that_do_not_fit_together_are_named(cli, files):
    few = [judgement(n, "local", 3.0) for n in range(8)]
    write_jsonl(Path("local.jsonl"), few)
    done = cli(*files)
    assert done.code == 1
    assert "8 items are in all three files" in done.err
    both = [judgement(0, "local", 3.0), judgement(0, "other", 3.0)]
    write_jsonl(Path("local.jsonl"), both)
    done = cli(*files)
    assert done.code == 1
    assert "expected one judge, aspect and protocol, found 2" in done.err
