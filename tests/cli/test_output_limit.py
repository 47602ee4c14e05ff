"""The limit on a reply's tokens: who asks with which, and what is said of a reply that it ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import building, judging, openai
from stub_server import Reply


def asking(command, server):
    if command == "build":
        return building(server)
    if command == "judge":
        return judging(server)
    inputs = {"summarize": "clusters.jsonl", "fairness split": "summaries.jsonl"}
    return (*command.split(), inputs[command], "-o", f"{command}.jsonl", *openai(server))


@pytest.mark.parametrize(
    ("command", "default"),
    [
        ("build", {2224, 8000, 6000}),  # 1024 and 300 for each of 4 questions; answers; groups
        ("judge", {1024}),
        ("summarize", {1024}),
        ("fairness split", {2048}),
    ],
)
def test_every_request_carries_the_limit(
    cli, clusters, references, summaries, server, command, default
):
    assert cli(*asking(command, server)).code == 0
    assert {call.body["max_tokens"] for call in server.calls} == default
    server.calls.clear()
    assert cli(*asking(command, server), "--max-output-tokens", "300").code == 0
    assert {call.body["max_tokens"] for call in server.calls} == {300}


def test_different_limit_gives_a_different_signature(cli, references, summaries, server):
    def signatures(*options):
        assert cli(*judging(server), *options).code == 0
        rows = map(json.loads, Path("judgements.jsonl").read_text().splitlines())
        return {row["signature"] for row in rows}

    (default,) = signatures()
    assert "max_output_tokens" not in default
    (limited,) = signatures("--max-output-tokens", "300")
    assert "|max_output_tokens:300|" in limited


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (
            "Let us begin with the first answer, which",
            "no verdict found; it was cut off by the limit on its tokens (max_output_tokens)",
        ),
        (
            "",
            "EmptyReplyError: the reply has no text (finish reason 'length': all of "
            "max_output_tokens was used for other output, such as reasoning)",
        ),
    ],
)
def test_truncated_reply_is_reported(cli, references, summaries, server, text, detail):
    server.answer = lambda call: Reply(text=text, finish_reason="length")
    assert cli(*judging(server), "--max-unscored", "1").code == 0
    rows = [json.loads(line) for line in Path("judgements.jsonl").read_text().splitlines()]
    assert {(row["unscored"], row["detail"]) for row in rows} == {("unparseable", detail)}


def test_build_reports_truncated_replies(cli, clusters, server):
    server.answer = lambda call: Reply(text='{"questions": [', finish_reason="length")
    result = cli(*building(server), "--run", "mine", "--max-unscored", "1")
    assert "no question in the reply; it was cut off by the limit on its tokens" in result.out


def test_truncated_summary_is_discarded(cli, clusters, server):
    server.answer = lambda call: Reply(text="The bridge closed. Nobody", finish_reason="length")
    result = cli(*asking("summarize", server), "--max-unscored", "1")
    assert Path("summarize.jsonl").read_text() == ""
    assert "unparseable: no whole text; it was cut off by the limit on its tokens" in result.out
