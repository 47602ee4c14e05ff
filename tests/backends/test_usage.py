"""What servers count comes through: cached tokens are read on every wire format, and priced."""

from __future__ import annotations

import contextlib

import pytest
from stub_server import Fault, Reply

from fairjudge.backends import open_backend, resolve_target
from fairjudge.backends.limiting import TokenCount, Tokens
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.pricing import Price, load_prices
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.backends.usage import read_messages_usage, read_usage
from fairjudge.cache.disk import ReplyCache
from fairjudge.errors import BackendError, RefusedError, ServerError
from fairjudge.ports import Completion, CompletionRequest, ModelRef, Usage
from fairjudge.prompting import Fenced, load_template, render
from fairjudge.run.batches import import_batch

ARTICLE = "It rained on the bridge. " * 200


def request(target, article=ARTICLE):
    fields = {
        "article": Fenced("article", (article,), ("outlet",)),
        "question": Fenced("question", ("Did it rain?",)),
        "max_words": "40",
        "answer_format": "Say so.",
    }
    messages = render(load_template("reference", "answers", version=1), fields)
    return CompletionRequest(target=target, messages=messages)


def counts(usage):
    return (
        usage.input_tokens,
        usage.cached_input_tokens,
        usage.written_input_tokens,
        usage.output_tokens,
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 2}, (10, None, None, 2)),
        (
            {"prompt_tokens": 2048, "prompt_tokens_details": {"cached_tokens": 1920}},
            (2048, 1920, None, None),
        ),
        # vLLM without prefix caching
        ({"prompt_tokens": 10, "prompt_tokens_details": None}, (10, None, None, None)),
        # litellm for Anthropic: both ways of writing it, the prompt whole
        (
            {
                "prompt_tokens": 5000,
                "completion_tokens": 7,
                "prompt_tokens_details": {"cached_tokens": 0},
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 4000,
            },
            (5000, 0, 4000, 7),
        ),
        # all that was sent was cached
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 9}},
            (9, 9, None, None),
        ),
        # no counts
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": -1}},
            (9, None, None, None),
        ),
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 10}},
            (9, None, None, None),
        ),
        ({"prompt_tokens": True, "completion_tokens": "many"}, (None, None, None, None)),
        ({"prompt_tokens": float("nan"), "prompt_tokens_details": 3}, (None, None, None, None)),
        (None, (None, None, None, None)),
    ],
)
def test_usage_of_chat_completions(usage, expected):
    assert counts(read_usage(usage)) == expected


def test_usage_of_messages_excludes_cached_tokens_from_input():
    by_name = {
        "input_tokens": 50,
        "cache_read_input_tokens": 4000,
        "cache_creation_input_tokens": 248,
        "output_tokens": 9,
    }
    assert counts(read_messages_usage(by_name)) == (4298, 4000, 248, 9)
    assert counts(read_messages_usage({"input_tokens": 5})) == (5, None, None, None)
    within = {"input_tokens": 50, "output_tokens": 1, "input_tokens_details": {"cached_tokens": 40}}
    assert counts(read_messages_usage(within)) == (50, 40, None, 1)
    assert counts(read_messages_usage("none")) == (None, None, None, None)


async def test_openai_reports_cached_tokens(stub):
    stub.answer = lambda call: Reply(
        text="Yes.",
        input_tokens=1500,
        output_tokens=3,
        usage={"prompt_tokens_details": {"cached_tokens": 1408}},
    )
    target = resolve_target("openai:m", base_url=stub.v1)
    backend = open_backend(target)
    assert counts((await backend.complete(request(target))).usage) == (1500, 1408, None, 3)
    (_, user) = stub.calls[0].body["messages"]
    assert user.keys() == {"role", "content"}
    assert isinstance(user["content"], str)
    await backend.aclose()


async def test_anthropic_gets_cache_markers_and_reports_cached_tokens(stub):
    stub.answer = lambda call: Reply(
        text="Yes.", input_tokens=60, output_tokens=3, usage={"cache_read_input_tokens": 1200}
    )
    target = resolve_target("anthropic:m", base_url=stub.url)
    backend = open_backend(target, secret=b"s" * 32)
    assert counts((await backend.complete(request(target))).usage) == (1260, 1200, None, 3)
    (user,) = stub.calls[0].body["messages"]
    article, question = user["content"]
    assert article["cache_control"] == {"type": "ephemeral"}
    assert article["text"].startswith("<article ")
    assert ARTICLE in article["text"]
    assert article["text"].endswith(">")
    assert question.keys() == {"type", "text"}
    assert question["text"].startswith("\n\n<question ")
    await backend.complete(request(target, article="Short."))
    assert isinstance(stub.calls[1].body["messages"][0]["content"], str)
    await backend.aclose()


async def test_server_without_cache_markers_gets_none(stub):
    target = resolve_target("anthropic:m", base_url=stub.url)
    texts = []
    backend = open_backend(target, warn=texts.append)
    refusal = "messages.0.content.0.text.cache_control: Extra inputs are not permitted"
    stub.fail(Fault(status=400, message=refusal))
    await backend.complete(request(target))
    await backend.complete(request(target))
    assert len(stub.calls) == 3
    assert isinstance(stub.calls[-1].body["messages"][0]["content"], str)
    assert [line.split("'")[1] for line in texts] == ["cache_control"]
    await backend.aclose()


def test_cached_tokens_have_the_listed_price():
    """Of 10,000 tokens 8,000 cached: at OpenAI 2,000 x $2.50 + 8,000 x $1.25 a million."""
    prices = load_prices()
    usage = Usage(input_tokens=10_000, output_tokens=100, cached_input_tokens=8_000)
    openai = ModelRef(provider="openai", model="gpt-4o-2024-08-06")
    assert prices.cost_usd(openai, usage) == pytest.approx(0.005 + 0.01 + 0.001)
    # and 1,000 of the others written: 1,000 x $3 + 1,000 x $3.75 + 8,000 x $0.30, and the reply
    anthropic = ModelRef(provider="anthropic", model="claude-sonnet-4-5")
    text = usage.model_copy(update={"written_input_tokens": 1_000})
    assert prices.cost_usd(anthropic, text) == pytest.approx(0.00915 + 0.0015)


def test_cached_tokens_without_own_price_cost_the_full_price():
    price = Price(model="a:b", input=2.0, output=4.0, date="2025-10-01", source="s")
    assert price.cost_usd(input_tokens=100, output_tokens=10, cached_input_tokens=60) == (
        price.cost_usd(input_tokens=100, output_tokens=10)
    )


@pytest.mark.parametrize("target", ["openai:gpt-4o-mini", "anthropic:claude-haiku-4-5"])
def test_published_cached_price_is_lower(target):
    price = load_prices().price(resolve_target(target))
    whole = price.cost_usd(input_tokens=10_000, output_tokens=0)
    cached = price.cost_usd(input_tokens=10_000, output_tokens=0, cached_input_tokens=10_000)
    text = price.cost_usd(input_tokens=10_000, output_tokens=0, written_input_tokens=10_000)
    assert 0 < cached <= whole / 2
    assert text == pytest.approx(whole * (1.25 if price.provider == "anthropic" else 1))


async def test_tokens_add_up_over_replies_and_refusals(ask):
    usage = Usage(input_tokens=2000, output_tokens=5, cached_input_tokens=1024)
    replies = [
        Completion(text="Yes.", usage=usage),
        RefusedError("no").with_usage(Usage(input_tokens=300, output_tokens=1)),
        ServerError("500"),
        Completion(text="The server counts nothing."),
    ]
    target = ModelRef(provider="scripted", model="m")
    count = TokenCount()
    backend = Pipeline(ScriptedBackend(lambda _: replies.pop(0)), count)
    for _ in range(4):
        with contextlib.suppress(BackendError):
            await backend.complete(ask(target))
    assert count.tokens == Tokens(input=2300, cached_input=1024, output=6)


def test_batch_replies_keep_cached_token_counts(tmp_path):
    body = (
        '{"model": "m", "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}],'
        ' "usage": {"prompt_tokens": 2000, "completion_tokens": 1,'
        ' "prompt_tokens_details": {"cached_tokens": 1024}}}'
    )
    row = f'{{"custom_id": "{"a" * 64}", "response": {{"status_code": 200, "body": {body}}}}}'
    (tmp_path / "results.jsonl").write_text(row)
    cache = ReplyCache(tmp_path / "cache")
    import_batch([tmp_path / "results.jsonl"], cache=cache)
    assert cache.get("a" * 64)["reply"]["usage"]["cached_input_tokens"] == 1024
    cache.close()
