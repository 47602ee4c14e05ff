"""The anthropic backend through its real client against the stub."""

from __future__ import annotations

import pytest
from stub_server import Fault, Reply

from fairjudge.backends import open_backend, resolve_target
from fairjudge.errors import (
    AuthenticationError,
    BackendError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    ContextTooLongError,
    EmptyReplyError,
    MalformedReplyError,
    RateLimitError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
)
from fairjudge.protocols import CompletionRequest, Message

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


@pytest.fixture
def target(stub):
    return resolve_target("anthropic:claude-stub", base_url=stub.url)


@pytest.fixture
def said():
    return []


@pytest.fixture
async def backend(target, said):
    opened = open_backend(target, timeout_seconds=60, warn=said.append)
    yield opened
    await opened.aclose()


async def test_a_whole_exchange(stub, backend, target):
    stub.answer = lambda call: Reply(text="Score: 4", input_tokens=31, output_tokens=9)
    reply = await backend.complete(
        CompletionRequest(
            target=target,
            messages=(
                Message(role="system", content="Be strict."),
                Message(role="user", content="Rate it."),
                Message(role="assistant", content="Score: 9"),
                Message(role="user", content="Off the scale."),
            ),
            temperature=0.5,
            top_p=0.9,
            max_output_tokens=77,
            stop=("END",),
            response_schema=SCHEMA,
            seed=3,
        )
    )
    assert reply.text == "Score: 4"
    assert reply.finish_reason == "stop"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (31, 9)
    assert reply.served_model == "claude-stub-20260101"
    assert stub.calls[0].body == {
        "model": "claude-stub",
        "system": "Be strict.",
        "messages": [
            {"role": "user", "content": "Rate it."},
            {"role": "assistant", "content": "Score: 9"},
            {"role": "user", "content": "Off the scale."},
        ],
        "max_tokens": 77,
        "stop_sequences": ["END"],
        "temperature": 0.5,
        "top_p": 0.9,
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }


async def test_what_a_model_declines_is_left_out_from_then_on(stub, backend, target, ask, said):
    stub.fail(
        Fault(status=400, message="`temperature` is deprecated for this model."),
        Fault(status=400, message="output_config: Extra inputs are not permitted"),
    )
    await backend.complete(ask(target, response_schema=SCHEMA))
    await backend.complete(ask(target, text="again", response_schema=SCHEMA))
    assert len(stub.calls) == 4
    assert not {"temperature", "output_config"} & set(stub.calls[-1].body)
    assert [line.split("'")[1] for line in said] == ["temperature", "output_config"]


async def test_the_ways_a_reply_can_end(stub, backend, target, ask):
    stub.answer = lambda call: Reply(text="Sco", finish_reason="length")
    assert (await backend.complete(ask(target))).finish_reason == "length"
    stub.answer = lambda call: Reply(text=None, refusal="This is about weapons.")
    with pytest.raises(RefusedError, match="about weapons"):
        await backend.complete(ask(target))
    stub.answer = lambda call: Reply(text="I'm sorry, I cannot.")
    assert (await backend.complete(ask(target))).text == "I'm sorry, I cannot."
    stub.answer = lambda call: Reply(text=None)
    with pytest.raises(EmptyReplyError):
        await backend.complete(ask(target))


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=429), RateLimitError),
        (Fault(status=500), ServerError),
        (Fault(status=529, message="Overloaded"), ServerError),
        (Fault(status=400, message="bad thing"), BadRequestError),
        (Fault(status=400, message="Your credit balance is too low"), AuthenticationError),
        (Fault(status=400, message="prompt is too long: 9 tokens > 8"), ContextTooLongError),
        (
            Fault(status=400, message="input length and `max_tokens` exceed context limit: 9 > 8"),
            ContextTooLongError,
        ),
        (Fault(status=413, message="request_too_large"), ContextTooLongError),
        (Fault(status=401), AuthenticationError),
        (Fault(status=404), BadRequestError),
        (Fault(broken="reset"), ConnectionFailedError),
        (Fault(broken="truncate"), ConnectionFailedError),
        (Fault(broken="garbage"), MalformedReplyError),
    ],
)
async def test_each_failure_has_its_error_and_is_asked_once(
    stub, backend, target, ask, fault, error
):
    stub.fail(fault)
    with pytest.raises(error) as raised:
        await backend.complete(ask(target))
    assert type(raised.value) is error
    assert stub.url in str(raised.value)
    assert len(stub.calls) == 1


async def test_the_wait_asked_for_comes_with_the_error(stub, backend, target, ask):
    stub.fail(Fault(status=429, headers={"retry-after": "7"}))
    with pytest.raises(RateLimitError) as limited:
        await backend.complete(ask(target))
    assert limited.value.retry_after_seconds == 7.0


async def test_a_stalled_server_times_out(stub, target, ask):
    backend = open_backend(target, timeout_seconds=0.2)
    stub.fail(Fault(broken="stall"))
    with pytest.raises(RequestTimeoutError):
        await backend.complete(ask(target))
    await backend.aclose()


async def test_a_base_url_with_v1_is_the_same_server(stub, ask):
    target = resolve_target("anthropic:claude-stub", base_url=stub.v1)
    backend = open_backend(target)
    assert (await backend.complete(ask(target))).text == "Score: 3"
    await backend.aclose()


def test_a_missing_key_names_its_variable():
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        open_backend("anthropic:claude-stub")


async def test_a_planted_key_shows_nowhere_but_in_the_header(stub, target, ask, monkeypatch):
    key = "sk-ant-planted-0123456789"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    backend = open_backend(target)
    stub.fail(Fault(status=401, message=f"invalid x-api-key {key}"), Fault(broken="reset"))
    for _ in range(2):
        with pytest.raises(BackendError) as raised:
            await backend.complete(ask(target))
        assert key not in str(raised.value)
        assert raised.value.__suppress_context__
    assert any(key in value for value in stub.calls[0].headers.values())
    await backend.aclose()
