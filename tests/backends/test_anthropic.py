"""The anthropic backend through its real client against the stub."""

from __future__ import annotations

import pytest
from stub_server import Fault, Reply

from fairjudge.backends import open_backend, resolve_target
from fairjudge.ports import CompletionRequest, Message

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


@pytest.fixture
def target(stub):
    return resolve_target("anthropic:claude-stub", base_url=stub.url)


@pytest.fixture
def warnings():
    return []


@pytest.fixture
async def backend(target, warnings):
    opened = open_backend(target, timeout_seconds=60, warn=warnings.append)
    yield opened
    await opened.aclose()


async def test_complete_exchange(stub, backend, target):
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


async def test_declined_parameter_is_omitted_from_then_on(stub, backend, target, ask, warnings):
    stub.fail(
        Fault(status=400, message="`temperature` is deprecated for this model."),
        Fault(status=400, message="output_config: Extra inputs are not permitted"),
    )
    await backend.complete(ask(target, response_schema=SCHEMA))
    await backend.complete(ask(target, text="again", response_schema=SCHEMA))
    assert len(stub.calls) == 4
    assert not {"temperature", "output_config"} & set(stub.calls[-1].body)
    assert [line.split("'")[1] for line in warnings] == ["temperature", "output_config"]


async def test_a_base_url_with_v1_is_the_same_server(stub, ask):
    target = resolve_target("anthropic:claude-stub", base_url=stub.v1)
    backend = open_backend(target)
    assert (await backend.complete(ask(target))).text == "Score: 3"
    await backend.aclose()
