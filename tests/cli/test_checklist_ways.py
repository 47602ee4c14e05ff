"""Checklists by every way that judgements are made: one call a summary, and the same rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_tools import (
    Done,
    Usual,
    journalist,
    openai,
    prompts_of,
    reference,
    summary,
    text_of,
    write_jsonl,
)
from json_files import read_rows
from stub_server import Reply

EIDS, SYSTEMS = ("bridge", "dam"), ("s0", "s1", "s2")
N = len(EIDS) * len(SYSTEMS)
INPUTS = ("--references", "references.jsonl", "--summaries", "summaries.jsonl")
ASKED = (*INPUTS, "--preset", "recommended", "--aspect", "coverage")


@pytest.fixture(autouse=True)
def inputs(own_home: None) -> None:
    write_jsonl(Path("references.jsonl"), [reference(eid) for eid in EIDS])
    rows = [summary(system, eid) for eid in EIDS for system in SYSTEMS]
    write_jsonl(Path("summaries.jsonl"), rows)


def batch_results(name: str) -> Path:
    """Answer a batch file as the provider would."""

    class Asked:
        def __init__(self, body: dict[str, Any]) -> None:
            self.body = body

    results = []
    for line in read_rows(name):
        message = {"role": "assistant", "content": journalist(Asked(line["body"]))}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = {"model": line["body"]["model"], "choices": [choice]}
        response = {"status_code": 200, "body": body}
        results.append({"custom_id": line["custom_id"], "response": response, "error": None})
    return write_jsonl(Path("results.jsonl"), results)


def in_pieces(cli, server, *options: object) -> Done:
    """Stop for want of calls, twice, and go on."""
    for _ in range(2):
        cli("judge", *ASKED, *openai(server), "-o", "j.jsonl", "--max-calls", 2, *options, code=3)
    return cli("judge", *ASKED, *openai(server), "-o", "j.jsonl", *options)


def by_batch(cli, server, *options: object) -> Done:
    """Write the calls as a batch, load its results, and judge from them alone."""
    items = [option for option in options if option not in {"--run", "named"}]
    cli("batch", "plan", *ASKED, *openai(server), "--batch", "batch.jsonl", *items, code=0)
    loaded = cli("batch", "load", batch_results("batch.jsonl"), *items)
    assert (loaded.code, loaded.out) == (0, f"{N} replies stored, 0 lines without a reply\n")
    return cli("judge", *ASKED, *openai(server), "-o", "j.jsonl", *options)


def at_once(cli, server, *options: object) -> Done:
    return cli("judge", *ASKED, *openai(server), "-o", "j.jsonl", *options)


@pytest.mark.parametrize("stored", [False, True], ids=["folder", "store"])
@pytest.mark.parametrize("way", [at_once, in_pieces, by_batch])
def test_every_mode_gives_equal_rows_with_one_call_per_summary(cli, server, request, way, stored):
    where = ("--store", request.getfixturevalue("store_url"), "--run", "named") if stored else ()
    result = way(cli, server, *where)
    assert result.code == 0, result.err
    assert len(server.calls) == (0 if way is by_batch else N)
    assert set(prompts_of(server).values()) <= {1}
    again = cli("judge", *ASKED, *openai(server), "-o", "again.jsonl", *where)
    assert (again.code, "Calls: 0" in again.out) == (0, True)
    cli(
        *("judge", *ASKED, *openai(server), "-o", "fresh.jsonl", "--cache", "fresh"),
        *("--run", "fresh"),
        code=0,
    )
    text = Path("fresh.jsonl").read_bytes()
    assert Path("j.jsonl").read_bytes() == text == Path("again.jsonl").read_bytes()
    assert [row["value"] for row in read_rows("j.jsonl")] == [0.5] * N


def test_each_jury_member_keeps_its_checklist(cli, server):
    server.answer = lambda call: (
        Reply(text=None, refusal="no") if call.body["model"] == "shy" else journalist(call)
    )
    members = ("--backend", "openai:bold", "--backend", "openai:shy", "--backend", "local")
    url = ("--base-url", server.v1)
    derive = ("--derive", "likert", "--derive", "pairwise")
    cli("judge", *ASKED, *members, *url, "-o", "j.jsonl", *derive, "--max-unscored", "1", code=0)
    assert len(server.calls) == 2 * N
    rows = [row for row in read_rows("j.jsonl") if row["protocol"] == "checklist"]
    jury, bold, shy, local = (rows[N * n : N * (n + 1)] for n in range(4))
    assert {row["unscored"] for row in shy} == {"refused"}
    assert all(len(row["checklist"]) == 4 for row in (*bold, *local))
    for together, *single in zip(jury, bold, local, strict=True):
        assert together["value"] == pytest.approx(sum(row["value"] for row in single) / 2)
        assert (together["n_scored"], "checklist" in together) == (2, False)
    judges = {row["judge"] for row in read_rows("j.jsonl") if row["protocol"] == "pairwise"}
    assert judges == {row["judge"] for row in rows}


def test_cascade_escalates_uncertain_items_and_every_row_has_a_checklist(cli, server):
    cli("judge", *ASKED, "-o", "local.jsonl", code=0)
    values = sorted(row["value"] for row in read_rows("local.jsonl"))
    Path("thresholds.json").write_text(json.dumps({"low": -1, "high": values[-1]}))
    cli(
        *("judge", *ASKED, *openai(server), "-o", "j.jsonl", "--cascade", "thresholds.json"), code=0
    )
    rows = read_rows("j.jsonl")
    routed = [row["routed"] for row in rows]
    assert routed.count("judge") == len(server.calls) < N
    assert {len(row["checklist"]) for row in rows} == {4}
    assert {row["judge"] for row in rows if row["routed"] == "local"} == {rows[0]["judge"]}


def test_fallback_scorer_fills_in_missing_checklists(cli, server):
    server.answer = lambda call: (
        Reply(text=None, refusal="no") if "s1 says" in text_of(call) else journalist(call)
    )
    cli("judge", *ASKED, *openai(server), "-o", "j.jsonl", "--fallback", "embedding", code=0)
    assert len(server.calls) == N
    items = [
        (row["system"], row["scored_by"], len(row["checklist"])) for row in read_rows("j.jsonl")
    ]
    assert items == [
        (system, "embedding" if system == "s1" else "llm", 4) for _ in EIDS for system in SYSTEMS
    ]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--samples", 3), "--samples does not go with --protocol checklist"),
        (("--token-probabilities",), "--token-probabilities does not go with --protocol checklist"),
        (("--scale", "own.toml"), "--scale does not go with --protocol checklist"),
        (("--prompt", "own.md"), "--prompt does not go with --protocol checklist"),
        (("--reference-unit", "qa_pair"), "requires coverage against all QA pairs"),
        (("--text-unit", "sentence"), "single sentences are judged by likert or binary"),
        (
            ("--aspect", "faithfulness", "--protocol", "checklist"),
            "requires coverage against all QA",
        ),
        (("--backend", "systemone:m"), "a decision model cannot write a checklist"),
    ],
)
@pytest.mark.parametrize("command", ["judge", "batch plan"])
def test_unsupported_checklist_options_raise_before_any_call(cli, server, command, options, why):
    Path("own.toml").write_text("")
    Path("own.md").write_text("")
    usual = map(Usual, (*ASKED, *openai(server)))
    result = cli(*command.split(), *usual, "-o", "j.jsonl", *options)
    assert (result.code, why in result.err) == (1, True), result.err
    assert server.calls == []
