"""A promise of agreement, from labels to a live cascade."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_tools import reference, summary, text_of, write_jsonl
from stub_server import Reply

N, SURE = 60, 45
"""Pairs, and how many of them the cheap judge tells whatever their order."""
ASKED = ("judge", "--references", "references.jsonl", "--summaries", "summaries.jsonl",
         "--aspect", "coverage", "--protocol", "pairwise")  # fmt: skip


def number(call) -> int:
    return int(re.search(r"document (\d+)", text_of(call))[1])


def pairs(call) -> Reply:
    """Whose summary is good wins; the cheap judge takes the first of the later documents."""
    good_first = text_of(call).index("good") < text_of(call).index("bad")
    if call.body["model"] == "cheap" and number(call) >= SURE:
        return Reply(text="Verdict: 1")
    return Reply(text=f"Verdict: {1 if good_first else 2}")


@pytest.fixture
def promised(cli, server):
    server.answer = pairs
    eids = [f"d{n}" for n in range(N)]
    write_jsonl(Path("references.jsonl"), [reference(eid) for eid in eids])
    items = [
        {**summary(system, eid), "text": f"A {text} text on document {n}."}
        for n, eid in enumerate(eids)
        for system, text in (("x", "good"), ("y", "bad"))
    ]
    write_jsonl(Path("summaries.jsonl"), items)
    people = [
        {"eid": eid, "system_a": "x", "system_b": "y", "aspect": "coverage", "annotator": "p",
         "value": "a"}
        for eid in eids
    ]  # fmt: skip
    write_jsonl(Path("people.jsonl"), people)
    cli(*ASKED, *backend(server, "cheap"), "-o", "cheap.jsonl", code=0)
    cli("calibrate", "cascade", "--local", "cheap.jsonl", "--labels", "people.jsonl",
               "--guarantee", "0.8", "-o", "kept.json", code=0)  # fmt: skip
    server.calls.clear()
    return server


def backend(server, name: str) -> tuple[str, ...]:
    return ("--backend", f"openai:{name}", "--base-url", server.v1)


def test_better_judge_is_called_if_the_first_is_uncertain(cli, promised):
    cli(*ASKED, *backend(promised, "strong"), "--cascade", "kept.json", "-o", "out.jsonl", code=0)
    assert {call.body["model"] for call in promised.calls} == {"strong"}  # the first is cached
    assert sorted(number(call) for call in promised.calls) == [
        n for n in range(SURE, N) for _ in "ab"
    ]
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert len(rows) == 2 * N
    assert {row["judge"] for row in rows} == {"cascade(openai:cheap>openai:strong)"}
    assert [row["routed"] for row in rows] == ["first"] * 2 * SURE + ["judge"] * 2 * (N - SURE)
    assert {row["value"] for row in rows} == {"a"}
    assert rows[0]["first_confidence"] == 1.0


def test_each_judge_call_is_counted_once_at_its_price(cli, promised):
    Path("prices.toml").write_text(
        "".join(
            f'[[price]]\nmodel = "openai:{name}"\ninput = {usd}\noutput = {usd}\n'
            'date = 2026-01-01\nsource = "test"\n'
            for name, usd in (("cheap", 1000.0), ("strong", 5000.0))
        )
    )
    cli(*ASKED, *backend(promised, "strong"), "--cascade", "kept.json", "-o", "out.jsonl",
               "--prices", "prices.toml", "--cache", "new", "--json", "out.json",
               code=0)  # fmt: skip
    report = json.loads(Path("out.json").read_text())
    (cost,) = report["costs"]
    requests = [call.body["model"] for call in promised.calls]
    assert (requests.count("cheap"), requests.count("strong")) == (2 * N, 2 * (N - SURE))
    for spent in (report["spent"], cost):
        assert spent["n_calls"] == len(requests)
        assert spent["tokens"]["input"] == 11 * len(requests)
        # 18 tokens a call
        usd = 0.018 * requests.count("cheap") + 0.09 * requests.count("strong")
        assert spent["cost_usd"] == pytest.approx(usd)


def test_plan_reports_the_maximum_cost(cli, promised):
    command = ("batch", "plan", *ASKED[1:], *backend(promised, "strong"), "--cascade", "kept.json")
    result = cli(*command, "--json", "-", code=0)
    first, better = json.loads(result.out)["models"]
    assert (first["model"], first["calls"], first["cached"]) == ("openai:cheap", 0, 2 * N)
    assert (better["model"], better["calls"]) == ("openai:strong", 2 * N)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": None}, "accepts no answer"),
        ({"aspect": "faithfulness"}, "the guarantee is for faithfulness by pairwise"),
        ({"signature": "parser:4"}, "cannot be run here"),
        ({"signature": None}, "cannot be run here"),
    ],
)
def test_mismatched_guarantee_raises(cli, promised, change, message):
    data = json.loads(Path("kept.json").read_text())
    Path("kept.json").write_text(json.dumps(data | change))
    result = cli(
        *ASKED, *backend(promised, "strong"), "--cascade", "kept.json", "-o", "out.jsonl", code=1
    )
    assert message in result.err
    assert promised.calls == []


def test_guarantee_for_another_prompt_raises(cli, promised):
    text = Path("kept.json").read_text()
    Path("kept.json").write_text(text.replace("coverage-pairwise.v3", "coverage-pairwise.v2"))
    result = cli(
        *ASKED, *backend(promised, "strong"), "--cascade", "kept.json", "-o", "out.jsonl", code=1
    )
    assert "the guarantee was fitted for another judge" in result.err
