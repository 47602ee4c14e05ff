"""Judging from the command line on a server that misbehaves item by item, as real ones do.

Each item ends with its own reason, the run goes on, and the next start asks only for what may be
asked again.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections import Counter
from pathlib import Path

import pytest
from cli_tools import building, cluster, judging, openai, reference, summary, text_of, write_jsonl
from stub_server import Call, Fault, Reply, StubServer

from fairjudge.engine import models

GOOD = Reply(text='{"reasoning": "All of it is there.", "verdict": "4"}')
HALF = '{"reasoning": "The text says that 84 people", "verdict": 1'


def fault(status: int, message: str, **fields: object) -> Fault:
    body = {"error": {"message": message, **fields}}
    return Fault(status=status, body=json.dumps(body).encode())


def body(**fields: object) -> Fault:
    return Fault(body=json.dumps(fields).encode())


LASTING = {
    "moderated": (
        fault(
            403,
            "The chosen model requires moderation and your input was flagged",
            code=403,
            metadata={"reasons": ["violence"], "flagged_input": "84 passengers"},
        ),
        "refused",
    ),
    "filtered by azure": (
        fault(400, "filtered due to the content management policy", code="content_filter"),
        "refused",
    ),
    "filtered by deepseek": (fault(400, "Content Exists Risk"), "refused"),
    "filtered by anthropic": (fault(400, "Output blocked by content filtering policy"), "refused"),
    "stopped by gemini": (Reply(text=HALF, finish_reason="SAFETY"), "refused"),
    "stopped without text": (Reply(text=None, finish_reason="PROHIBITED_CONTENT"), "refused"),
    "refused in a part": (
        body(choices=[{"message": {"content": [{"type": "refusal", "refusal": "I can't."}]}}]),
        "refused",
    ),
    "too long": (fault(400, "the request exceeds the available context size"), "too_long"),
    "too long by 500": (
        fault(500, "input is too large to process. increase the physical batch size", code=500),
        "too_long",
    ),
    "cut off by its limit": (Reply(text=HALF, finish_reason="model_length"), "unparseable"),
}
"""What stays so when it is asked again: the run ends with this reason for good."""
PASSING = {
    "overloaded inside 200": (body(error={"message": "Provider error", "code": 429}), "backend"),
    "a bad gateway inside 200": (body(error={"message": "Upstream", "code": 502}), "backend"),
    "overloaded as anthropic": (body(type="error", error={"type": "overloaded_error"}), "backend"),
    "no choices": (body(choices=None), "backend"),
    "an empty list": (body(choices=[]), "backend"),
    "a page": (Fault(broken="garbage"), "backend"),
    "an empty body": (Fault(body=b""), "backend"),
    "out of resources": (
        Reply(text=HALF, finish_reason="insufficient_system_resource"),
        "backend",
    ),
    "aborted": (Reply(text=HALF, finish_reason="abort"), "backend"),
    "never ended": (Reply(text=HALF, finish_reason=None), "backend"),
    "forbidden for this item": (fault(403, "You may not do this"), "backend"),
    "credits for less": (fault(402, "can only afford 600 tokens"), "backend"),
    "not to its liking": (fault(400, "the prompt is odd"), "backend"),
    "a conflict": (fault(409, "request being processed"), "backend"),
}
"""What may be otherwise when it is asked again."""
FATES = LASTING | PASSING
REASONS = {name: reason for name, (_, reason) in FATES.items()}


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let retries follow one another at once."""
    retrying = functools.partial(models.Retrying, sleep=lambda seconds: asyncio.sleep(0))
    monkeypatch.setattr(models, "Retrying", retrying)


def name_of(call: Call) -> str:
    text = text_of(call)
    if "84 people" in text:  # the attempt to have a reply that was cut off mended
        return "cut off by its limit"
    return next((name for name in FATES if f"Story of {name}." in text), "good")


@pytest.fixture
def material() -> None:
    names = ["good", *FATES]
    write_jsonl(Path("references.jsonl"), [reference(f"e{n}") for n in range(len(names))])
    write_jsonl(
        Path("summaries.jsonl"),
        [{**summary("s", f"e{n}"), "text": f"Story of {name}."} for n, name in enumerate(names)],
    )


def reasons() -> dict[str, str | None]:
    rows = [json.loads(line) for line in Path("judgements.jsonl").read_text().splitlines()]
    names = ["good", *FATES]
    return {names[int(row["eid"][1:])]: row["unscored"] for row in rows}


def calls_by_name(server: StubServer) -> Counter[str]:
    return Counter(name_of(call) for call in server.calls)


def test_each_failed_item_has_a_reason_and_only_some_are_retried(cli, server, material):
    server.answer = lambda call: FATES[name_of(call)][0] if name_of(call) in FATES else GOOD
    # One after the other, so that the good item is the first to be answered.
    cli(*judging(server, concurrency=1), code=3)
    assert reasons() == {"good": None, **REASONS}
    calls = calls_by_name(server)
    assert {name: calls[name] for name in LASTING if name != "cut off by its limit"} == {
        name: 1 for name in LASTING if name != "cut off by its limit"
    }

    server.calls.clear()
    cli(*judging(server, concurrency=1), code=3)
    assert set(calls_by_name(server)) == set(PASSING)
    assert reasons() == {"good": None, **REASONS}

    server.calls.clear()
    server.answer = lambda call: GOOD
    last = cli(*judging(server))
    assert last.code == 3  # refused, too long and cut off stay
    assert calls_by_name(server) == dict.fromkeys(PASSING, 1)
    assert reasons() == {"good": None, **REASONS, **dict.fromkeys(PASSING)}


HALVES = {
    "judgements": HALF,
    "checklists": '{"entries": [{"group": 1, "covered": true}, {"group": 2, "cov',
    "pairs": '{"reasoning": "The first one says that 84 people", "verdict": "1',
    "summaries": "The bridge closed. Nobody",
    "questions": '{"questions": ["Why did the bridge close?", "Who',
    "units": '{"units": ["The bridge is closed.", "The rain',
}
"""What a reply looks like that a server broke off."""


@pytest.mark.parametrize("reason", [None, "abort", "OTHER", "error", "SAFETY"])
@pytest.mark.parametrize(
    ("half", "options"),
    [
        ("judgements", ()),
        ("judgements", ("--protocol", "binary")),
        ("judgements", ("--expected",)),
        ("judgements", ("--samples", "2")),
        ("judgements", ("--repeats", "2")),
        ("pairs", ("--protocol", "pairwise")),
        ("checklists", ("--protocol", "checklist")),
    ],
)
def test_truncated_reply_gives_no_verdict_and_is_not_cached(cli, server, half, options, reason):
    write_jsonl(Path("references.jsonl"), [reference()])
    write_jsonl(Path("summaries.jsonl"), [summary("s"), summary("t")])
    server.answer = lambda call: Reply(text=HALVES[half], finish_reason=reason)
    cli(*judging(server), *options, code=3)
    rows = [json.loads(line) for line in Path("judgements.jsonl").read_text().splitlines()]
    right = "refused" if reason == "SAFETY" else "backend"
    assert {(row["value"], row["unscored"]) for row in rows} == {(None, right)}
    server.calls.clear()
    cli(*judging(server), *options)
    assert bool(server.calls) == (right == "backend")


@pytest.mark.parametrize("reason", [None, "abort", "error", "SAFETY"])
@pytest.mark.parametrize("command", ["summarize", "build"])
def test_truncated_text_is_no_summary_or_reference(cli, server, command, reason):
    write_jsonl(Path("clusters.jsonl"), [cluster()])
    half = HALVES["summaries" if command == "summarize" else "questions"]
    server.answer = lambda call: Reply(text=half, finish_reason=reason)
    asked_for = ("summarize", "clusters.jsonl", "-o", "references.jsonl", *openai(server))
    line = asked_for if command == "summarize" else building(server)
    result = cli(*line, code=3)
    assert ("refused" if reason == "SAFETY" else "backend") in result.out
    server.calls.clear()
    cli(*line)
    assert bool(server.calls) == (reason != "SAFETY" or command == "summarize")
