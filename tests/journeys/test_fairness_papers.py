"""From reviews to the tables of the fairness papers: summarize, measure, compare, ask people.

The summarizer is a server on loopback that praises, unless its prompt asks to be fair to moods.
Support is the packaged model's, so all but the summaries is what a user without a key has.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import openai, text_of, write_jsonl
from stub_server import Call, Reply, StubServer

N = 8
OWN = "stub-model-direct"
PRAISE, BLAME = "The soup was lovely.", "The waiter was rude."


def reviewer(call: Call) -> Reply:
    text = text_of(call)
    assert "Write one summary of these reviews" in text  # no news
    fair = "fairly represents the sources of all these groups" in text
    return Reply(text=f"{PRAISE} {BLAME}" if fair else PRAISE)


@pytest.fixture
def inputs(cli, server: StubServer) -> None:
    rows = [
        {
            "eid": f"c{n}",
            "articles": [
                {"aid": "p1", "content": PRAISE, "attributes": {"mood": "pos"}},
                {"aid": "p2", "content": f"Table {n}. {PRAISE}", "attributes": {"mood": "pos"}},
                {"aid": "n1", "content": BLAME, "attributes": {"mood": "neg"}},
                {"aid": "n2", "content": f"Evening {n}. {BLAME}", "attributes": {"mood": "neg"}},
            ],
        }
        for n in range(N)
    ]
    write_jsonl(Path("c.jsonl"), rows)
    server.answer = reviewer
    cli(
        "summarize", "c.jsonl", "-o", "s.jsonl", *openai(server), "--kind", "reviews",
        "--fair-wording", "undefined", "--sweep", "fair=mood", code=0,
    )  # fmt: skip


def measured(cli, command: str, *options: str) -> dict:
    files = ("c.jsonl", "--summaries", "s.jsonl", "--attribute", "mood")
    cli("fairness", command, *files, "--json", f"{command}.json", *options, code=0)
    return json.loads(Path(f"{command}.json").read_text("utf-8"))


@pytest.mark.local_model
def test_reviews_to_human_agreement_of_measures(cli, inputs):
    coverage = measured(cli, "coverage", "--scorer", "entailment", "--save-supports", "m.jsonl")
    shares = measured(cli, "proportional")
    plain, fair = (coverage["systems"][name] for name in (OWN, f"{OWN}+fair=mood"))
    assert plain["coverage_by_value"]["pos"]["difference"]["value"] > 0.3
    assert abs(fair["coverage_by_value"]["pos"]["difference"]["value"]) < 0.1
    # Four reviews, two of each: 6 relabellings, 2 as unequal as the observed. None is more so.
    assert (plain["r_ec"]["value"], plain["r_ec_strict"]["value"]) == (0.0, 1.0)
    assert shares["systems"][OWN]["bur"]["value"] == 100.0

    result = cli("fairness", "compare", "coverage.json", "proportional.json", "--baseline", OWN,
               "--json", "-")  # fmt: skip
    changes = json.loads(result.out)["systems"][f"{OWN}+fair=mood"]
    assert changes["equal_coverage"]["relative"] < -0.5
    assert changes["bur"]["relative"] == -1.0

    leanings = [
        {"eid": f"c{n}", "system": OWN, "leaning": "pos", "annotator": annotator}
        for n in range(N)
        for annotator in "abc"
    ]
    write_jsonl(Path("l.jsonl"), leanings)
    result = cli(
        "fairness",
        "people",
        "coverage.json",
        "proportional.json",
        "--leanings",
        "l.jsonl",
        "--json",
        "p.json",
        code=0,
    )
    people = json.loads(Path("p.json").read_text("utf-8"))["systems"][OWN]
    assert (people["n"], people["summaries"]["neither"]) == (N, N)  # both see what people see
    assert people["groups"]["coverage_parity"] == 1.0

    facts = [
        {"eid": f"c{n}", "system": f"{OWN}+fair=mood", "facts": [["pos"], ["neg"], []]}
        for n in range(N)
    ]
    write_jsonl(Path("f.jsonl"), facts)
    by_people = measured(cli, "proportional", "--scorer", "people:f.jsonl", "--max-unscored", "1")
    assert by_people["systems"][f"{OWN}+fair=mood"]["bur"]["value"] == 0.0
    assert by_people["systems"][OWN]["excluded_by_reason"] == {"unscored": N}

    pages = ("coverage.json", "p.json", "-o", "page.html")
    assert cli("report", *pages).code == 0
    page = Path("page.html").read_text("utf-8")
    assert "Which measures agree better with humans" in page
