"""From articles and summaries to a page that names what summaries contradict, and by which article.

A server on loopback builds the references and judges. It reads each summary, so that verdicts hang
on the words it is shown: one summary is right and cites its article, one states a wrong number.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_tools import cluster, journalist, openai, text_of, write_jsonl
from stub_server import Call, Reply

RIGHT = "The old bridge closed on Monday. The city council blames the heavy rain."
WRONG = "The old bridge closed on Friday. The city council denies the rain. Nine people died."
JUDGE = ("--references", "references.json", "--summaries", "summaries.jsonl")
MONDAY = "The old bridge closed on Monday"


def statements(text: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for number, sentence in re.findall(r"^\[(\d+)\] (.+)$", text, re.MULTILINE):
        row = {"sentence": int(number), "statement": sentence, "articles": [2, 1], "quote": MONDAY,
               "verdict": "supported", "grave": False}  # fmt: skip
        if "Friday" in sentence or "denies" in sentence:
            row |= {"verdict": "contradicted", "grave": True}
        if "Nine" in sentence:
            row |= {"verdict": "absent", "articles": [], "quote": ""}
        rows.append(row)
    return rows


def groups(text: str) -> list[dict[str, object]]:
    summary = text[text.index("<summary ") :]
    contradicts = "denies the rain" in summary
    rows: list[dict[str, object]] = []
    for number in range(1, int(re.search(r"These are (\d+) groups", text)[1]) + 1):
        row = {"group": number, "quote": "", "wordings": [], "verdict": "no"}
        if number == 1 and contradicts:
            row |= {"quote": "denies the rain", "verdict": "contradicted"}
        if number == 1 and not contradicts:
            row |= {"quote": "blames the heavy rain", "verdict": "covered"}
        rows.append(row)
    return rows


def answer(call: Call) -> Reply:
    text = text_of(call)
    if '{"entries"' not in text:
        return Reply(text=journalist(call))
    rows = statements(text) if "List the statements of" in text else groups(text)
    return Reply(text=json.dumps({"entries": rows}))


@pytest.fixture
def judged(cli, server, own_home) -> list[str]:
    """Build and judge both aspects; return what was printed."""
    server.answer = answer
    write_jsonl(Path("clusters.jsonl"), [cluster()])
    cites = [{"text": "The old bridge closed on Monday.", "articles": ["bridge0"]}]
    write_jsonl(
        Path("summaries.jsonl"),
        [
            {"eid": "bridge", "system": "right", "text": RIGHT, "citations": cites},
            {"eid": "bridge", "system": "wrong", "text": WRONG},
        ],
    )
    cli("build", "clusters.jsonl", "-o", "references.json", *openai(server), code=0)
    printed = []
    for aspect in ("coverage", "faithfulness"):
        out = ("-o", f"{aspect}.jsonl", "--json", f"{aspect}.json")
        more = ("--aspect", aspect, "--protocol", "checklist", "--derive", "likert")
        result = cli("judge", *JUDGE, *more, *out, *openai(server), code=0)
        printed.append(result.out)
    assert not server.errors
    return printed


def test_errors_are_shown_from_judge_to_page(cli, judged):
    covered, supported = judged
    assert "Groups of answers that a summary contradicts" in covered
    assert "denies the rain" in covered
    assert "wrong: 3 of 3 statements that articles do not support" in " ".join(supported.split())

    rows = [json.loads(line) for line in Path("coverage.jsonl").read_text().splitlines()]
    lists = {row["system"]: row["checklist"] for row in rows if row["protocol"] == "checklist"}
    assert [entry.get("contradicted", False) for entry in lists["wrong"]].count(True) == 1
    assert not any("contradicted" in entry for entry in lists["right"])

    data = json.loads(Path("faithfulness.json").read_text())
    by_system = {group["system"]: group for group in data["statements"]}
    assert {name: group["share"]["value"] for name, group in by_system.items()} == {
        "right": 1.0, "wrong": 0.0,
    }  # fmt: skip
    first = by_system["wrong"]["errors"][0]
    assert (first["verdict"], first["grave"], first["quote"]) == ("contradicted", True, MONDAY)
    assert first["articles"] == ["bridge1.example", "bridge0.example"]
    citations = by_system["right"]["citations"]
    assert (citations["borne_out"], citations["n_sentences"]) == (0.5, 2)  # the second cites none
    ratings = {name: system["mean"] for name, system in data["derived"]["likert"].items()}
    assert ratings == {"right": 5.0, "wrong": 1.0}

    result = cli(
        "audit", "statements", "faithfulness.jsonl", "--references", "references.json", code=0
    )
    assert "bridge1.example" in result.out

    cli(
        "report", "coverage.jsonl", "faithfulness.jsonl", "references.json", "summaries.jsonl",
        "-o", "report.html", code=0,
    )  # fmt: skip
    html = Path("report.html").read_text("utf-8")
    assert "wrong contradicts 1 of" in html
    assert "scores by coverage only; of 3 statements 2 contradicted, 1 in no article" in html
    assert "Statements and the articles" in html
    assert "bridge1.example" in html
