"""The openai backend through its real client against the stub, in every way a server can behave."""

from __future__ import annotations

import math

import pytest
from pydantic_core import to_json
from stub_server import Fault, Reply

from fairjudge.backends import open_backend, resolve_target
from fairjudge.backends.chat_wire import chat_body
from fairjudge.errors import (
    BadRequestError,
    ConfigurationError,
    EmptyReplyError,
    RateLimitError,
    RefusedError,
    ServerError,
)
from fairjudge.ports import CompletionRequest, Message, ModelRef

SCHEMA = {
    "title": "verdict",
    "type": "object",
    "properties": {"score": {"type": "integer"}},
    "required": ["score"],
    "additionalProperties": False,
}


@pytest.fixture
def target(stub):
    return resolve_target("openai:judge", base_url=stub.v1)


@pytest.fixture
def warnings():
    return []


@pytest.fixture
async def backend(target, warnings):
    opened = open_backend(target, timeout_seconds=60, warn=warnings.append)
    yield opened
    await opened.aclose()


async def test_a_reply_with_its_usage_and_served_model(stub, backend, target, ask):
    stub.answer = lambda call: Reply(text="It is fine.\nScore: 4", input_tokens=31, output_tokens=9)
    reply = await backend.complete(ask(target))
    assert reply.text == "It is fine.\nScore: 4"
    assert reply.finish_reason == "stop"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (31, 9)
    assert reply.served_model == "judge-2026-01-01"
    assert reply.tokens is None


async def test_every_sampling_parameter_is_sent(stub, backend, target, ask):
    await backend.complete(
        ask(
            target,
            temperature=0.7,
            top_p=0.9,
            max_output_tokens=55,
            seed=10,
            sample_index=2,
            stop=("END",),
            top_logprobs=5,
        )
    )
    body = stub.calls[0].body
    assert body["messages"] == [{"role": "user", "content": "Rate the summary."}]
    assert body["model"] == "judge"
    assert body["temperature"] == 0.7
    assert body["top_p"] == 0.9
    assert body["max_tokens"] == 55
    assert body["seed"] == 12  # 10 + sample index 2: one seed would give one sample n times
    assert body["stop"] == ["END"]
    assert body["logprobs"] is True
    assert body["top_logprobs"] == 5
    assert "response_format" not in body


SYSTEM_AND_USER = (Message(role="system", content="s \u00e9"), Message(role="user", content="u"))


@pytest.mark.parametrize("model", ["judge", "gpt-5", "o3-mini"])
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"temperature": 0.7, "top_p": 0.9, "seed": 10, "sample_index": 2, "stop": ("END",)},
        {"top_logprobs": 5, "response_schema": SCHEMA, "max_output_tokens": 55},
        {"top_logprobs": 0},
    ],
)
def test_body_matches_langchain_openai(monkeypatch, model, fields):
    langchain_openai = pytest.importorskip("langchain_openai")
    request = CompletionRequest(
        target=ModelRef(provider="openai", model=model), messages=SYSTEM_AND_USER, **fields
    )
    body = chat_body(request)
    extra = {k: body[k] for k in ("max_completion_tokens", "response_format") if k in body}
    options = {k: v for k, v in body.items() if k not in {*extra, "model", "messages"}}
    client = langchain_openai.ChatOpenAI(model=model, api_key="k", use_responses_api=False)
    roles = [(message.role, message.content) for message in SYSTEM_AND_USER]
    payload = client._get_request_payload(roles, **options, extra_body=extra)
    expected = {**payload, **payload.pop("extra_body")}
    expected.pop("extra_body", None)
    expected.pop("stream", None)
    assert to_json(body) == to_json(expected)  # to the byte, order included


async def test_structured_output_sends_the_schema_and_tolerates_truncation(
    stub, backend, target, ask
):
    stub.answer = lambda call: Reply(text='{"score": ', finish_reason="length")
    reply = await backend.complete(ask(target, response_schema=SCHEMA))
    assert stub.calls[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "schema": SCHEMA, "strict": True},
    }
    assert (reply.text, reply.finish_reason) == ('{"score": ', "length")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("'response_format' of type 'json_schema' is not supported with this model", None),
        ("Invalid schema for response_format 'verdict'", "invalid_value"),
        ("unknown field: guided decoding is off", None),
    ],
)
async def test_unsupported_structured_output_is_omitted(
    stub, backend, target, ask, warnings, message, code
):
    stub.fail(Fault(status=400, message=message, code=code))
    assert (await backend.complete(ask(target, response_schema=SCHEMA))).text == "Score: 3"
    await backend.complete(ask(target, text="again", response_schema=SCHEMA))
    with_format = ["response_format" in call.body for call in stub.calls]
    assert with_format == [True, False, False]
    assert warnings == [f"{stub.v1} does not support 'response_format'; it is no longer sent"]


async def test_declined_parameters_are_omitted_from_then_on(stub, backend, target, ask, warnings):
    # As OpenAI's reasoning models answer.
    stub.fail(
        Fault(
            status=400,
            message="Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            code="unsupported_parameter",
            param="max_tokens",
        ),
        Fault(
            status=400,
            message="Unsupported value: 'temperature' does not support 0.0 with this model.",
            code="unsupported_value",
            param="temperature",
        ),
    )
    await backend.complete(ask(target))
    last = stub.calls[-1].body
    assert len(stub.calls) == 3
    assert last["max_completion_tokens"] == 1024
    assert "max_tokens" not in last
    assert "temperature" not in last
    assert warnings == [f"{stub.v1} does not support 'temperature'; it is no longer sent"]


async def test_server_declining_both_limits_raises(stub, backend, target, ask):
    stub.fail(
        Fault(status=400, message="max_tokens is not supported"),
        Fault(status=400, message="max_completion_tokens is not supported"),
    )
    with pytest.raises(BadRequestError):
        await backend.complete(ask(target))
    assert len(stub.calls) == 2


async def test_logprobs_of_equal_tokens_add_up(stub, backend, target, ask):
    stub.answer = lambda call: Reply(
        text="4",
        logprobs=[
            {
                "token": "4",
                "logprob": math.log(0.5),
                "top_logprobs": [
                    {"token": "4", "logprob": math.log(0.5)},
                    {"token": "5", "logprob": math.log(0.2)},
                    {"token": "5", "logprob": math.log(0.1)},
                    {"token": "3", "logprob": -math.inf},
                ],
            },
            {"token": "!", "logprob": -0.25, "top_logprobs": []},
        ],
    )
    reply = await backend.complete(ask(target, top_logprobs=3))
    first, second = reply.tokens
    assert first.token == "4"
    # 0.2 + 0.1 = 0.3 for the two that read "5"; the impossible "3" has no place in JSON.
    assert {t: round(math.exp(p), 9) for t, p in first.logprobs.items()} == {"4": 0.5, "5": 0.3}
    assert dict(second.logprobs) == {"!": -0.25}


async def test_stop_string_left_by_the_server_is_removed(stub, backend, target, ask):
    stub.answer = lambda call: "Score: 4 END of it"
    assert (await backend.complete(ask(target, stop=("of", "END")))).text == "Score: 4 "
    stub.answer = lambda call: "END"
    with pytest.raises(EmptyReplyError):
        await backend.complete(ask(target, stop=("END",)))


async def test_a_content_filter_is_a_refusal(stub, backend, target, ask):
    stub.answer = lambda call: Reply(text="", finish_reason="content_filter")
    with pytest.raises(RefusedError, match="content filter"):
        await backend.complete(ask(target))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({}, None), ({"retry-after": "7"}, 7.0), ({"retry-after-ms": "250"}, 0.25)],
)
async def test_requested_wait_is_in_the_error(stub, backend, target, ask, headers, seconds):
    stub.fail(Fault(status=429, headers=headers), Fault(status=503, headers=headers))
    with pytest.raises(RateLimitError) as limited:
        await backend.complete(ask(target))
    with pytest.raises(ServerError) as failed:
        await backend.complete(ask(target))
    assert limited.value.retry_after_seconds == seconds
    assert failed.value.retry_after_seconds == seconds


async def test_nul_and_lone_surrogates_do_not_stop_a_request(stub, backend, target, ask):
    await backend.complete(ask(target, text="a\0b \ud800 c \ud83d\ude00"))
    assert stub.calls[0].body["messages"][0]["content"] == "ab \ufffd c \U0001f600"


async def test_request_for_another_target_raises(backend, ask):
    other = resolve_target("openai:other", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ConfigurationError, match="openai:other"):
        await backend.complete(ask(other))


async def test_reply_exhausted_by_reasoning_is_reported(stub, backend, target, ask):
    stub.answer = lambda call: Reply(text="", finish_reason="length")
    with pytest.raises(EmptyReplyError, match="max_output_tokens was used for other output"):
        await backend.complete(ask(target))
