"""A new user sets up the gate in CI, by the command and by the pytest fixture, and then breaks it.

Each break must fail closed, with a message that names what is wrong. The judge is a server on
loopback that reads the document's number from the prompt: people say yes to every odd document.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_tools import openai, reference, summary, text_of, write_jsonl
from json_files import read_rows
from stub_server import Call, Reply, StubServer

N = 40
GATE = ("check", "new.jsonl", "--baseline", "baseline.jsonl", "--labels", "labels.jsonl")
TEST = """
def test_the_judge_still_agrees_with_people(fairjudge_check):
    fairjudge_check("new.jsonl", "labels.jsonl", baseline="baseline.jsonl")
"""


def number(call: Call) -> int:
    return int(re.search(r"document (\d+)", text_of(call))[1])


def right(call: Call) -> Reply:
    return Reply(text=f"Verdict: {'yes' if number(call) % 2 else 'no'}")


def wrong_on_every_third(call: Call) -> Reply:
    return Reply(text=f"Verdict: {'yes' if (number(call) % 2) ^ (number(call) % 3 == 0) else 'no'}")


def silent_on_every_third(call: Call) -> Reply:
    asked_again = "document" not in text_of(call)  # for the verdict alone
    silent = asked_again or number(call) % 3 == 0
    return Reply(text="I would rather talk about lunch.") if silent else right(call)


@pytest.fixture
def judge(cli, server: StubServer) -> Callable[..., int]:
    """Judge the anchors with what the server says today."""

    def run(answer: Callable[[Call], Reply], *more: str, aspect: str = "coverage") -> int:
        server.answer = answer
        cache = Path(f"cache-of-{answer.__name__}")
        result = cli(
            *("judge", "--references", "references.jsonl", "--summaries", "summaries.jsonl"),
            *("--aspect", aspect, "--protocol", "binary", "--cache", cache, "-o", "new.jsonl"),
            *openai(server),
            *more,
        )
        return result.code

    return run


@pytest.fixture(autouse=True)
def anchors(judge, cli) -> None:
    """Anchors of forty documents, their labels, and a baseline of a judge that is right."""
    eids = [str(n) for n in range(N)]
    write_jsonl(Path("references.jsonl"), [reference(eid) for eid in eids])
    write_jsonl(
        Path("summaries.jsonl"),
        [{**summary("s", eid), "text": f"A text on document {eid}."} for eid in eids],
    )
    of = {"system": "s", "aspect": "coverage", "annotator": "ann"}
    write_jsonl(Path("labels.jsonl"), [of | {"eid": eid, "value": int(eid) % 2} for eid in eids])
    assert judge(right) == 0
    result = cli(
        *("check", "new.jsonl", "--baseline", "new.jsonl"),
        *("--labels", "labels.jsonl", "--save", "baseline.jsonl"),
        code=0,
    )
    assert "In short: Passed." in result.out


def fixture_says(test: str = TEST) -> str:
    """Run a user's test with the fixture in a process of its own; return what pytest printed."""
    Path("conftest.py").write_text('pytest_plugins = ["fairjudge.pytest_plugin"]\n')
    Path("test_judge.py").write_text(test)
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_judge.py"]
    result = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == (0 if "1 passed" in result.stdout else 1), (
        result.stdout + result.stderr
    )
    return result.stdout


def test_an_unchanged_judge_passes_both_ways(cli):
    cli(*GATE, code=0)
    assert "1 passed" in fixture_says()


def test_a_worse_model_fails_with_the_table(cli, judge):
    assert judge(wrong_on_every_third) == 0
    result = cli(*GATE, code=4)
    assert "Failed: it agrees with human labels less than before." in result.out
    text = fixture_says()
    assert "1 failed" in text
    assert "fairjudge: worse" in text
    # 40 documents, 14 of them multiples of 3: 26 / 40 right
    assert re.search(r"share of(?: equal)?\s+1\.00\s+0\.65", text), text
    assert "TextTable(" not in text


def test_a_model_that_stops_answering_fails(cli, judge):
    assert judge(silent_on_every_third) == 3
    result = cli(*GATE, code=3)
    assert "14 of 40 anchors (35.0 %) without a score after." in result.out
    assert "14 of 40 anchors" in fixture_says()
    assert cli(*GATE, "--max-unscored", "0.4").code == 0


def test_unjudged_anchors_fail(cli, judge):
    summaries = read_rows("summaries.jsonl")
    write_jsonl(Path("summaries.jsonl"), summaries[:24])
    assert judge(right) == 0
    result = cli(*GATE, code=3)
    assert "16 of 40 anchors (40.0 %) without a score after." in result.out
    assert "Not judged at all: 16, such as eid '24', 's', 'summary'." in result.out
    assert "fairjudge: unscored" in fixture_says()
    silent = cli(*GATE, "--json", "-", code=3)
    assert json.loads(silent.out)["outcome"] == "unscored"
    assert "16 of 40 anchors" in silent.err


def test_labels_with_other_ids_raise_and_name_both(cli):
    labels = [row | {"eid": f"doc-{row['eid']}"} for row in read_rows("labels.jsonl")]
    write_jsonl(Path("labels.jsonl"), labels)
    result = cli(*GATE, code=1)
    assert "eid '0'" in result.err
    assert "eid 'doc-0'" in result.err
    assert "no judged item matches any labelled item" in fixture_says()


def test_changed_aspect_raises(cli, judge):
    assert judge(right, aspect="faithfulness") == 0
    result = cli(*GATE, code=1)
    assert "after it: faithfulness by binary" in result.err
    assert "not after it: coverage by binary" in result.err
    assert "1 failed" in fixture_says()


def test_a_baseline_of_other_anchors_fails(cli):
    baseline = read_rows("baseline.jsonl")
    write_jsonl(Path("baseline.jsonl"), [row | {"eid": f"old-{row['eid']}"} for row in baseline])
    result = cli(*GATE, code=1)
    assert "eid 'old-0'" in result.err
    write_jsonl(Path("baseline.jsonl"), baseline[:4])
    result = cli(*GATE, code=3)
    assert "36 of 40 anchors (90.0 %) without a score in the baseline." in result.out


def test_jury_member_missing_since_the_baseline_raises(cli):
    rows = read_rows("baseline.jsonl")
    second = [row | {"judge": "second"} for row in rows]
    write_jsonl(Path("baseline.jsonl"), [*rows, *second])
    result = cli(*GATE, code=1)
    assert "judged before the change and not after it: coverage by binary (second)" in result.err


def test_ids_turned_into_floats_match(cli):
    lines = ["eid,system,aspect,annotator,value"]
    lines += [f"{n}.0,s,coverage,ann,{n % 2}" for n in range(N)]
    Path("labels.csv").write_text("\n".join(lines))
    result = cli(
        "check", "new.jsonl", "--baseline", "baseline.jsonl", "--labels", "labels.csv", code=0
    )
    assert f"{N} anchors judged both times" in result.out


def test_fixture_accepts_the_arguments_of_the_call(judge):
    assert judge(silent_on_every_third) == 3
    text = fixture_says(TEST.replace('.jsonl")', '.jsonl", max_unscored=0.4, margin=0.1)'))
    assert "1 passed" in text
