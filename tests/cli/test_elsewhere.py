"""Replies whose text is elsewhere, thinking marks in the text, and prompts cut off: over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import article, as_sent, judging, summary, write_jsonl
from json_files import read_json, read_judgements
from raw_server import chat, http, raw_server
from stub_server import Fault, Reply

from fairjudge.backends.token_counts import count_tokens

ANSWER = '{"reasoning":"All of it is there.","verdict":"4"}'
THOUGHTS = "The summary misses much.\nVerdict: 2\n"


def replying(body: bytes):
    """Answer each request with `body`."""

    def serve(server, line):
        line.read()
        line.write(http(body))

    return raw_server(serve)


def command(server, backend: str = "openai") -> tuple[str, ...]:
    url = server.url.removesuffix("/v1") if backend == "anthropic" else server.url
    inputs = ("--references", "references.jsonl", "--summaries", "summaries.jsonl")
    where = ("--backend", f"{backend}:m", "--base-url", url, "-o", "judgements.jsonl")
    more = ("--max-unscored", "1", "--aspect", "coverage", "--protocol", "likert")
    return ("judge", *inputs, *where, *more)


def call(arguments: object) -> dict:
    function = {"name": "reply", "arguments": arguments}
    return {"tool_calls": [{"id": "a", "type": "function", "function": function}]}


ELSEWHERE = {
    "reasoning_content": {"reasoning_content": ANSWER},
    "reasoning": {"reasoning": f"\n{ANSWER}\n"},
    "thinking": {"thinking": ANSWER},
    "a function": call(ANSWER),
    "a function's object": call(json.loads(ANSWER)),
    "reasoning_details": {"reasoning_details": [{"type": "reasoning.text", "text": ANSWER}]},
    "a part": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": ANSWER}]}]},
}


@pytest.mark.parametrize("content", [None, "", "\n"])
@pytest.mark.parametrize("place", ELSEWHERE)
def test_schema_json_in_another_field_is_the_answer(cli, references, summaries, place, content):
    message = {"role": "assistant", "content": content, **ELSEWHERE[place]}
    with replying(chat("", choice={"message": message})) as server:
        result = cli(*command(server))
    assert result.code == 0, result.err
    assert [row["value"] for row in read_judgements()] == [4] * 6
    assert {json.loads(row["raw"])["verdict"] for row in read_judgements()} == {"4"}


@pytest.mark.parametrize(
    "thoughts",
    [
        THOUGHTS,
        f"I would say 4. {ANSWER}",
        f"{ANSWER} Or is it 3?",
        '{"verdict":"4"}',
        '{"reasoning":"x","verdict":"9"}',
        '{"reasoning":"x","verdict":4}',
        '{"reasoning":"x","verdict":"4","more":1}',
        f"[{ANSWER}]",
    ],
)
def test_reasoning_is_never_a_verdict(cli, references, summaries, thoughts):
    message = {"role": "assistant", "content": "", "reasoning_content": thoughts}
    with replying(chat("", choice={"message": message})) as server:
        result = cli(*command(server))
    assert result.code == 0, result.err
    assert [row["value"] for row in read_judgements()] == [None] * 6
    detail = read_judgements()[0]["detail"]
    assert f"its text is in 'reasoning_content' ({len(thoughts.strip())} characters)" in detail
    assert "reasoning-parser" in detail


def test_message_text_takes_precedence(cli, references, summaries):
    message = {"role": "assistant", "content": "Verdict: 3", "reasoning_content": ANSWER}
    with replying(chat("", choice={"message": message})) as server:
        assert cli(*command(server)).code == 0
    assert [row["value"] for row in read_judgements()] == [3] * 6


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ({"type": "thinking", "thinking": ANSWER}, 4),
        ({"type": "tool_use", "id": "a", "name": "reply", "input": json.loads(ANSWER)}, 4),
        ({"type": "thinking", "thinking": THOUGHTS}, None),
    ],
)
def test_anthropic_messages_are_read_likewise(
    cli, references, summaries, monkeypatch, block, value
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key-at-all")
    usage = {"input_tokens": 5, "output_tokens": 2}
    whole = {"id": "m", "type": "message", "role": "assistant", "model": "m", "usage": usage}
    body = json.dumps({**whole, "content": [block], "stop_reason": "end_turn"}).encode()
    with replying(body) as server:
        assert cli(*command(server, "anthropic")).code == 0
    assert [row["value"] for row in read_judgements()] == [value] * 6
    if value is None:
        assert "its text is in 'thinking'" in read_judgements()[0]["detail"]


FINAL = "<|end|><|start|>assistant<|channel|>final<|message|>"
MARKS = {
    "harmony": ("<|channel|>analysis<|message|>", FINAL),
    "cohere": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "seed": ("<seed:think>", "</seed:think>"),
    "mm": ("<mm:think>", "</mm:think>"),
    "reflection": ("<reflection>", "</reflection>"),
    "gemma": ("<|channel>thought\n", "<channel|>"),
}  # fmt: skip


@pytest.mark.parametrize("family", MARKS)
def test_reasoning_in_the_text_is_no_verdict(cli, references, summaries, server, family):
    opening, closing = MARKS[family]
    texts = [
        opening + THOUGHTS + closing + ANSWER,
        opening + THOUGHTS,
        opening + THOUGHTS + closing,
    ]

    def answer(call):
        # A reply that cannot be read is asked for once more, with the reply alone.
        place = next((n for n in range(3) if f"system{n} says" in as_sent(call)), None)
        return "null" if place is None else texts[place]

    server.answer = answer
    options = ("--max-unscored", "1", "--concurrency", "1")
    write_jsonl(Path("summaries.jsonl"), [summary(f"system{n}") for n in range(3)])
    cli(*judging(server), *options, code=0)
    assert [row["value"] for row in read_judgements()] == [4, None, None]


SENTENCE = "The council of the town voted on the repair of the old bridge on Monday evening. "


def long_event(n_sentences: int) -> dict:
    first = article("long0") | {"content": SENTENCE * n_sentences}
    answers = [[{"aid": "long0", "answer": "The council voted."}]]
    questions = [{"question": "Who voted?", "answer_groups": answers}]
    return {"eid": "long", "articles": [first], "question_answers": questions}


def counting(server, count) -> None:
    """Let the server count `count` of its tokens in each prompt."""

    def answer(call):
        n = count_tokens(as_sent(call))
        return Reply(text=ANSWER, input_tokens=count(n))

    server.answer = answer


def faithfully(server) -> tuple[str, ...]:
    return (*judging(server), "--aspect", "faithfulness")


@pytest.fixture
def long_texts() -> None:
    write_jsonl(Path("references.jsonl"), [long_event(700)])
    rows = [summary(f"system{n}", "long") for n in range(3)]
    write_jsonl(Path("summaries.jsonl"), rows)


@pytest.mark.parametrize("window", [2050, 4096, 5000])
def test_prompt_truncated_by_the_server_is_too_long(cli, long_texts, server, window):
    counting(server, lambda n: min(n, window))
    result = cli(*faithfully(server), "--max-unscored", "1", code=0)
    assert [row["unscored"] for row in read_judgements()] == ["too_long"] * 3
    assert f"counted {window:,} tokens in a prompt of about" in read_judgements()[0]["detail"]
    assert result.err.count("OLLAMA_CONTEXT_LENGTH") == 1


@pytest.mark.parametrize("share", [0.62, 1.0, 1.7])
def test_other_tokenizer_is_not_taken_for_truncation(cli, long_texts, server, share):
    counting(server, lambda n: int(share * n))
    result = cli(*faithfully(server), code=0)
    assert [row["unscored"] for row in read_judgements()] == [None] * 3
    assert "truncated the prompt" not in result.err


@pytest.mark.parametrize("count", [0, 11, 300])
def test_unrelated_token_counts_are_not_taken_for_truncation(cli, long_texts, server, count):
    counting(server, lambda _: count)
    assert cli(*faithfully(server)).code == 0


def test_excluded_cached_tokens_are_not_taken_for_truncation(cli, long_texts, server):
    """The first prompt is counted whole, the others without their beginning."""
    counting(server, lambda n: n if len(server.calls) == 1 else 600)
    cli(*faithfully(server), "--concurrency", "1", code=0)
    assert [row["unscored"] for row in read_judgements()] == [None] * 3


def test_token_ratio_is_learned_from_shorter_prompts(cli, server):
    """Its tokens are as estimated; a prompt of a third more than the window is then seen."""
    write_jsonl(
        Path("references.jsonl"),
        [*(long_event(100) | {"eid": f"short{n}"} for n in range(4)), long_event(700)],
    )
    rows = [summary(f"system{n}", f"short{n}") for n in range(4)] + [summary("one", "long")]
    write_jsonl(Path("summaries.jsonl"), rows)
    counting(server, lambda n: min(n, 8192))
    cli(*faithfully(server), "--concurrency", "1", "--max-unscored", "1", code=0)
    by_name = {row["eid"]: row["unscored"] for row in read_judgements()}
    assert by_name.pop("long") == "too_long"
    assert set(by_name.values()) == {None}


def test_zero_usage_is_replaced_by_the_estimate(cli, references, summaries, server):
    """A dollar a thousand tokens: 1,024 of reply and the prompt are more than a dollar a call."""
    Path("prices.toml").write_text(
        '[[price]]\nmodel = "openai:stub-model"\ninput = 1000.0\noutput = 1000.0\n'
        'date = 2026-01-01\nsource = "invented"\n'
    )
    server.answer = lambda _: Reply(text="Verdict: 3", input_tokens=0, output_tokens=0)
    limits = ("--max-cost", "3", "--prices", "prices.toml", "--json", "out.json")
    cli(*judging(server, concurrency=1), *limits, "--max-unscored", "1", code=0)
    assert 1 <= len(server.calls) <= 2
    assert read_json("out.json")["spent"]["cost_usd"] is None


def test_server_errors_keep_their_type(cli, references, summaries, server):
    server.fail(Fault(status=400, message="maximum context length is 4096 tokens"))
    cli(*judging(server, concurrency=1), "--max-unscored", "1")
    assert read_judgements()[0]["unscored"] == "too_long"
