"""What a provider's prompt cache saves: most of what is sent was sent before, and is billed so."""

from __future__ import annotations

import json
import threading

import pytest
from cli_tools import write_jsonl
from invoking import run
from json_files import read_json
from stub_server import Reply

FIRST, STEP = 4096, 512


class PromptCache:
    """A server that knows beginnings of prompts again: from 4,096 characters on, by steps of 512.

    It counts four characters a token.
    """

    def __init__(self):
        self._beginnings = set()
        self._lock = threading.Lock()
        self.characters = self.cached = 0
        self.texts = []

    def __call__(self, call):
        text = "\n".join(message["content"] for message in call.body["messages"])
        with self._lock:
            beginnings = [text[:end] for end in range(FIRST, len(text) + 1, STEP)]
            cached = max(
                (len(beginning) for beginning in beginnings if beginning in self._beginnings),
                default=0,
            )
            self._beginnings.update(beginnings)
            self.texts.append(text)
            self.characters += len(text)
            self.cached += cached
        usage = {"prompt_tokens_details": {"cached_tokens": cached // 4}}
        return Reply(text="Verdict: 4", input_tokens=len(text) // 4, output_tokens=5, usage=usage)


@pytest.fixture
def server(stub, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    stub.answer = PromptCache()
    return stub


@pytest.fixture
def material(tmp_path):
    """Two clusters of four articles of about 13,000 characters, and 12 summaries of each."""
    clusters = [
        {
            "eid": f"e{c}",
            "articles": [
                {"aid": str(n), "title": f"Title {n}", "domain": f"outlet{n}.org",
                 "content": f"Sentence {c} of article {n} says what it says. " * 300}
                for n in range(4)
            ],
        }
        for c in range(2)
    ]  # fmt: skip
    summaries = [
        {"eid": f"e{c}", "system": f"s{n}", "text": f"Summary {n} of event {c}. " * 20}
        for c in range(2)
        for n in range(12)
    ]
    write_jsonl(tmp_path / "clusters.jsonl", clusters)
    write_jsonl(tmp_path / "summaries.jsonl", summaries)
    return (
        *("--references", tmp_path / "clusters.jsonl"),
        *("--summaries", tmp_path / "summaries.jsonl"),
        *("--aspect", "faithfulness", "--protocol", "likert"),
    )


def judged(tmp_path, server, material, *, cache, command="judge", rest=()):
    url = ("--base-url", server.v1)
    model = ("--backend", "openai:m", *url, "--cache", tmp_path / cache)
    output = ("-o", tmp_path / "out.jsonl", "--json", tmp_path / "report.json")
    result = run(*command.split(), *material, *model, *output, *rest)
    return result, read_json(tmp_path / "report.json")


def test_requests_on_the_same_articles_share_most_of_their_prefix(tmp_path, server, material):
    answer = server.answer
    _, planned = judged(tmp_path, server, material, cache="a", command="batch plan")
    result, report = judged(tmp_path, server, material, cache="a")
    assert len(answer.texts) == 24
    assert answer.cached / answer.characters > 0.85
    tokens = report["spent"]["tokens"]
    assert tokens["input"] == sum(len(text) // 4 for text in answer.texts)
    assert tokens["cached_input"] == answer.cached // 4
    assert (
        f"Tokens in: {tokens['input']:,}, of them cached by the provider: "
        f"{tokens['cached_input']:,}, out: 120" in result.output
    )
    share = planned["cached_input_tokens"] / planned["input_tokens"]
    assert share == pytest.approx(tokens["cached_input"] / tokens["input"], abs=0.03)


def test_batch_file_contains_the_requests(tmp_path, server, material):
    batch = tmp_path / "calls.jsonl"
    judged(tmp_path, server, material, cache="a", command="batch plan", rest=("--batch", batch))
    judged(tmp_path, server, material, cache="a")
    bodies = [json.loads(line)["body"] for line in batch.read_text().splitlines()]
    texts = ["\n".join(item["content"] for item in body["messages"]) for body in bodies]
    assert sorted(texts) == sorted(server.answer.texts)


def test_later_runs_with_the_same_cache_reuse_sent_prefixes(tmp_path, server, material):
    answer = server.answer
    judged(tmp_path, server, material, cache="a")
    n_cached = answer.cached
    judged(tmp_path, server, material, cache="a", rest=("--seed", "1", "--run", tmp_path / "run"))
    assert len(answer.texts) == 48
    assert sorted(answer.texts[:24]) == sorted(answer.texts[24:])
    assert answer.cached - n_cached > 24 * FIRST


def test_replies_are_found_in_a_cache_with_another_secret(tmp_path, server, material):
    answer = server.answer
    _, first = judged(tmp_path, server, material, cache="a")
    run("cache", "export", tmp_path / "replies.jsonl", "--cache", tmp_path / "a")
    run("cache", "import", tmp_path / "replies.jsonl", "--cache", tmp_path / "b")
    _, second = judged(tmp_path, server, material, cache="b")
    assert len(answer.texts) == 24
    assert (second["spent"]["n_calls"], second["spent"]["n_cached"]) == (0, 24)
    assert second["signature"] == first["signature"]
    judged(tmp_path, server, material, cache="c")
    assert not set(answer.texts[:24]) & set(answer.texts[24:])  # other marks


def test_planned_cost_includes_cache_reads_and_writes(tmp_path, server, material):
    """claude-sonnet-4-5: $3.00 in, $0.30 cached, $3.75 written, $15.00 out, a million tokens."""
    model = ("--backend", "anthropic:claude-sonnet-4-5", "--cache", tmp_path / "a")
    target = ("-o", tmp_path / "out.jsonl", "--json", tmp_path / "plan.json")
    run("batch", "plan", *material, *model, *target)
    plan = read_json(tmp_path / "plan.json")
    # of 12 requests 11 read what the first wrote, so a cluster's written tokens are a 22nd
    n_read, n_written = plan["cached_input_tokens"], plan["cached_input_tokens"] / 11
    n_plain = plan["input_tokens"] - n_read - n_written
    expected = (n_plain * 3 + n_read * 0.3 + n_written * 3.75 + plan["output_tokens"] * 15) / 1e6
    assert plan["cost_usd"] == pytest.approx(expected)
    assert plan["cost_usd"] < plan["input_tokens"] * 3 / 1e6 / 2
