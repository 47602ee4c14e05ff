"""A try before the whole: what a run would cost, its first items, and then the rest, once each."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import write_jsonl
from json_files import read_json, read_rows

import fairjudge as fj

EVENTS = ("dam", "strike", "fair")
SYSTEMS = ("x", "y")


@pytest.fixture(autouse=True)
def files() -> None:
    text = "The dam above Dunmere broke at noon, and two thousand people had to leave, said {}."
    write_jsonl(Path("c.jsonl"), [
        {"eid": e, "articles": [{"aid": n, "content": text.format(f"{e} {n}")} for n in "ab"]}
        for e in EVENTS
    ])  # fmt: skip
    write_jsonl(Path("s.jsonl"), [
        {"eid": e, "system": s, "text": f"{e} by {s}."} for e in EVENTS for s in SYSTEMS
    ])  # fmt: skip


def judging(*more: object) -> tuple[object, ...]:
    return (
        "judge", "--references", "c.jsonl", "--summaries", "s.jsonl", "--aspect", "faithfulness",
        "--reference-unit", "articles", "-o", "j.jsonl", "--json", "found.json", *more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("protocol", "limit", "n_first", "n_all"),
    [("likert", 4, 4, 6), ("likert", 1, 1, 6), ("pairwise", 2, 4, 6), ("likert", 99, 6, 6)],
)
def test_trial_of_first_items_then_remainder_without_repeats(
    cli, server, protocol, limit, n_first, n_all
):
    server.answer = lambda _: "Verdict: 1"
    backend = ("--backend", "openai:m", "--base-url", f"{server.url}/v1")
    command = judging("--protocol", protocol, "--run", "run", *backend)
    by_name = {}
    for plan in (("--plan",), ("--plan", "--limit", limit)):
        assert cli(*command, *plan).code == 0
        by_name[plan] = read_json("found.json")["calls"]
    assert list(by_name.values()) == [n_all, n_first]
    assert server.calls == []
    assert not Path("j.jsonl").exists()
    result = cli(*command, "--limit", limit, code=0)
    assert len(server.calls) == n_first
    assert len(Path("j.jsonl").read_text().splitlines()) == n_first
    assert ("Partial run:" in result.out) == (n_first < n_all)
    first = read_rows("j.jsonl")
    assert {row["eid"] for row in first[:2]} == {"dam"}
    result = cli(*command, code=0)
    assert len(server.calls) == n_all
    assert "Partial run:" not in result.out
    every = read_rows("j.jsonl")
    assert len(every) == n_all
    assert every[:n_first] == first
    assert cli(*command, "--limit", limit).code == 0  # less again: nothing is asked or lost
    assert cli(*command).code == 0
    assert len(server.calls) == n_all


def test_python_trial_can_be_continued(server):
    model = fj.Model("openai:m", base_url=f"{server.url}/v1")
    judge = fj.Judge(model, aspect="faithfulness", protocol="likert", reference_unit="articles")
    assert len(judge("c.jsonl", "s.jsonl", run="run", limit=3)) == 3
    assert len(judge("c.jsonl", "s.jsonl", run="run")) == 6
    assert len(server.calls) == 6
    with pytest.raises(fj.FairJudgeError, match="limit: expected 1 or more"):
        judge("c.jsonl", "s.jsonl", limit=0)


def test_build_and_summarize_report_planned_calls(cli, server):
    backend = ("--backend", "openai:m", "--base-url", f"{server.url}/v1", "--json", "found.json")
    for command in (("build", "c.jsonl"), ("summarize", "c.jsonl", "--strategy", "extract")):
        result = cli(*command, "-o", "out.jsonl", *backend, "--plan", code=0)
        assert "Planned" in result.out
        planned = read_json("found.json")["calls"]
        assert planned >= len(EVENTS)
        assert server.calls == []
        assert not Path("out.jsonl").exists()
        if command[0] == "summarize":  # of a build it is at most as many as planned
            assert cli(*command, "-o", "out.jsonl", *backend).code == 0
            assert len(server.calls) == planned
