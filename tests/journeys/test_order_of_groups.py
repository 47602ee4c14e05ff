"""``audit order --of groups`` from the command line: a judge that leans to what is listed first.

A server on loopback judges: by what the summary says, wherever a group stands; by chance; or as the
first, but for calling the first third of each list covered.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
from cli_tools import cluster, openai, summary, text_of, write_jsonl
from stub_server import StubServer

N_CLUSTERS, N_GROUPS = 15, 9


def write_world() -> tuple[str, ...]:
    references = [
        cluster(f"e{n}", 1)
        | {
            "question_answers": [
                {
                    "question": f"What about matter {q}?",
                    "answer_groups": [[{"aid": f"e{n}0", "answer": f"Fact {q} of e{n}."}]],
                }
                for q in range(N_GROUPS)
            ]
        }
        for n in range(N_CLUSTERS)
    ]
    write_jsonl(Path("r.jsonl"), references)
    write_jsonl(Path("s.jsonl"), [summary("s", f"e{n}") for n in range(N_CLUSTERS)])
    return ("audit", "order", "--of", "groups", "--references", "r.jsonl", "--summaries", "s.jsonl")


def chance(text: str) -> bool:
    return sha256(text.encode()).digest()[0] % 2 == 0


def reader(kind: str):
    """Return what answers: ``steady``, by ``chance``, or leaning to the ``first`` third."""

    def answer(call) -> str:
        text = text_of(call)
        groups = re.findall(r"^Group (\d+):\n.*?: (Fact \d+ of e\d+)\.", text, re.MULTILINE)
        entries = []
        for number, fact in groups:
            verdict = chance(fact + (text if kind == "chance" else ""))
            if kind == "first" and int(number) <= len(groups) / 3:
                verdict = True
            entries.append(
                {
                    "group": int(number),
                    "quote": "The bridge is closed." if verdict else "",
                    "wordings": [],
                    "verdict": "covered" if verdict else "no",
                }
            )
        return json.dumps({"entries": entries})

    return answer


@pytest.mark.parametrize("limit", ["25", "3"])
def test_judge_favouring_the_first_groups_is_detected(cli, server: StubServer, limit):
    server.answer = reader("first")
    command = (*write_world(), *openai(server), "--groups-per-call", limit, "--json", "o.json")
    result = cli(*command, code=0)
    assert len(server.calls) == 3 * N_CLUSTERS * (1 if limit == "25" else 3)
    report = json.loads(Path("o.json").read_text("utf-8"))
    assert report["by_place"]["first"]["value"] == 1.0
    # Half of the groups are covered by what the summary says: the lean adds the other half.
    assert report["first_minus_last"]["low"] > 0.2
    assert report["first_minus_last"]["value"] == pytest.approx(0.5, abs=0.15)
    assert report["changed"]["low"] > 0
    assert "Groups are covered more often when listed first" in result.out
    assert "group middle" in result.out


@pytest.mark.parametrize("kind", ["steady", "chance"])
def test_unbiased_judge_is_not_reported(cli, server: StubServer, kind):
    server.answer = reader(kind)
    result = cli(*write_world(), *openai(server), "--json", "o.json", code=0)
    report = json.loads(Path("o.json").read_text("utf-8"))
    assert report["first_minus_last"]["low"] <= 0 <= report["first_minus_last"]["high"]
    assert (report["changed"]["value"] == 0) == (kind == "steady")
    assert "No significant effect of the group's position" in result.out


def test_group_order_audit_needs_summaries_and_three_groups(cli, server: StubServer):
    command = write_world()
    result = cli(*command[:-2], *openai(server))
    assert (result.code, "pass --summaries" in result.err) == (1, True), result.err
    few = [cluster("e0", 1) | {"question_answers": [
        {"question": "What?", "answer_groups": [[{"aid": "e00", "answer": "It."}]]}
    ]}]  # fmt: skip
    write_jsonl(Path("r.jsonl"), few)
    write_jsonl(Path("s.jsonl"), [summary("s", "e0")])
    result = cli(*command, *openai(server))
    assert (result.code, "three or more groups in a call" in result.err) == (1, True), result.err
    assert not server.calls
