"""Each command that compares labels names the file and the line of one off their scale."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from align_study import write_data
from cli_tools import write_jsonl

STUDY = """\
[data]
clusters = "clusters.jsonl"
summaries = "summaries.jsonl"
labels = "labels.jsonl"

[[judge]]
name = "local"
model = "local"
aspect = "faithfulness"
protocol = "likert"

[calibrate]
resamples = 200
"""
LINE = 17


@pytest.fixture
def data(server):
    """Labels of 1 to 5, and one of 9 on line `LINE`; judgements of the same summaries."""
    write_data()
    labels = [json.loads(row) for row in Path("labels.jsonl").read_text().splitlines()]
    labels[LINE - 1]["value"] = 9
    write_jsonl(Path("labels.jsonl"), labels)
    judged = {"protocol": "likert", "judge": "j", "value": 3, "signature": "j", "scored_by": "llm"}
    rows = [
        {name: label[name] for name in ("eid", "system", "aspect")} | judged for label in labels
    ]
    write_jsonl(Path("judged.jsonl"), rows)
    write_jsonl(Path("other.jsonl"), [row | {"judge": "k", "value": 4} for row in rows])
    Path("study.toml").write_text(STUDY)
    return server


def commands(url: str) -> dict[str, tuple[object, ...]]:
    inputs = ("--references", "clusters.jsonl", "--summaries", "summaries.jsonl")
    labelled = ("--labels", "labels.jsonl")
    model = ("--backend", "openai:stub-model", "--base-url", url)
    aligning = ("calibrate", "align", *inputs, *labelled, "--aspect", "faithfulness", *model)
    return {
        "calibrate": ("calibrate", "judged.jsonl", *labelled),
        "check": ("check", "judged.jsonl", "--baseline", "other.jsonl", *labelled),
        "align": (*aligning, "-o", "aligned"),
        "align --plan": (*aligning, "-o", "aligned", "--plan"),
        "study": ("study", "study.toml"),
        "study --plan": ("study", "study.toml", "--plan"),
        "cascade": (
            *("calibrate", "cascade", "--local", "judged.jsonl", "--judged", "other.jsonl"),
            *(*labelled, "-o", "thresholds.json"),
        ),
        "guarantee": (
            *("calibrate", "cascade", "--local", "judged.jsonl", "--guarantee", "0.9"),
            *(*labelled, "-o", "promise.json"),
        ),
    }


@pytest.mark.parametrize("command", commands(""))
def test_file_and_line_are_named_before_any_call(cli, data, command):
    result = cli(*commands(data.v1)[command], code=1)
    text = " ".join(result.err.split())
    assert f"labels.jsonl:{LINE}: field 'value': the label 9 by 'ann'" in text
    assert data.calls == []


def test_report_names_the_line_of_unusable_labels(cli, data):
    write_jsonl(Path("more.jsonl"), [json.loads(Path("labels.jsonl").read_text().splitlines()[0])])
    cli("report", "judged.jsonl", "more.jsonl", "labels.jsonl", "-o", "page.html", code=0)
    assert f"labels.jsonl:{LINE}: " in Path("page.html").read_text("utf-8")
