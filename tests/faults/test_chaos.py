"""A server of which every fifth reply goes wrong: nothing is lost, and nothing made up."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from pathlib import Path

import pytest
from cli_tools import finish, journalist, judging, reference, start, summary, text_of, write_jsonl
from json_files import read_json, read_judgements
from stub_server import Fault, Reply

WRONG = {
    "429": Fault(status=429, message="slow down", headers={"retry-after-ms": "5"}),
    "500": Fault(status=500, message="oops"),
    "stall": Fault(broken="stall"),
    "reset": Fault(broken="reset"),
    "truncated": Fault(broken="truncate"),
    "page": Fault(broken="garbage"),
    "400": Fault(status=400, message="the prompt is not to my liking"),
    "too long": Fault(status=400, message="maximum context length is 4096 tokens"),
    "empty": Reply(text=""),
    "null": Reply(text=None),
    "refusal": Reply(text=None, refusal="I will not rate this."),
    "plain refusal": "I'm sorry, but I can't help with rating this.",
    "filtered": Reply(text="", finish_reason="content_filter"),
    "cut off": Reply(text="The summary covers", finish_reason="length"),
    "off the scale": "Verdict: 11",
    "noise": "%%%% \x00\ud800 ]]}{{ <|end|>",
}
"""What goes wrong, by name."""
PASSING = {"429", "500", "stall", "reset", "truncated", "page"}
"""Asked again until it works: these leave nothing unscored."""
REASONS = {
    "400": "backend",
    "too long": "too_long",
    "empty": "unparseable",
    "null": "unparseable",
    "refusal": "refused",
    "plain refusal": "refused",
    "filtered": "refused",
    "cut off": "unparseable",
    "off the scale": "off_scale",
    "noise": "unparseable",
}


class Chaos:
    """Goes wrong for every fifth prompt, always in the same way; passing faults only once each."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def fate(self, text: str) -> str | None:
        number = int(hashlib.sha256(text.encode()).hexdigest(), 16)
        return list(WRONG)[number // 5 % len(WRONG)] if number % 5 == 0 else None

    def __call__(self, call):
        text = text_of(call)
        if "<reply " in text:  # the attempt to have a reply mended, which fails too
            return "no"
        with self._lock:
            self._counts[text] += 1
            n_before = self._counts[text] - 1
        fate = self.fate(text)
        if fate is None or (fate in PASSING and n_before):
            return journalist(call)
        return WRONG[fate]


@pytest.mark.parametrize(
    "n_items", [300, pytest.param(2000, marks=pytest.mark.slow)], ids=["short", "2000-items"]
)
def test_every_item_ends_judged_or_unscored_with_its_reason(server, n_items):
    chaos = Chaos()
    server.answer = chaos
    write_jsonl(Path("references.jsonl"), [reference()])
    systems = [f"s{n}" for n in range(n_items)]
    write_jsonl(Path("summaries.jsonl"), [summary(system) for system in systems])
    patience = ("--timeout", "3", "--max-unscored", "1")
    command = (*judging(server, concurrency=16), *patience, "--json", "report.json")
    result = finish(start(*command), timeout=500)
    assert result.code == 0, result.err
    rows = read_judgements()
    assert [row["system"] for row in rows] == systems

    prompts = {}
    for call in server.calls:
        text = text_of(call)
        if "<reply " not in text:
            (system,) = re.findall(r" (s\d+) says that the rain did it", text)
            prompts[system] = text
    expected: Counter[str] = Counter()
    for row in rows:
        fate = chaos.fate(prompts[row["system"]])
        reason = None if fate is None else REASONS.get(fate)
        assert row["unscored"] == reason, (fate, row)
        assert (row["value"] is None) == (reason is not None)
        if reason is not None:
            expected[reason] += 1
            assert row["detail"]
    report = read_json("report.json")
    assert report["n_judgements"] == n_items
    assert report["n_unscored"] == sum(expected.values())
    assert sum(system["n_unscored"] for system in report["systems"].values()) == sum(
        expected.values()
    )
    # about a fifth of 300 prompts in 15 ways: each way came at least once, or the test tests little
    fates = {chaos.fate(text) for text in prompts.values()} - {None}
    assert len(fates) >= 10
