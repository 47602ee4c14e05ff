"""A server that was never there ends the run; one that stumbles does not."""

from __future__ import annotations

import asyncio

import pytest

from fairjudge.backends.first_contact import FirstContactBackend
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.errors import (
    AuthenticationError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    ContextTooLongError,
    EmptyReplyError,
    RateLimitError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
)
from fairjudge.protocols import ModelRef

TARGET = ModelRef(provider="openai", model="m", base_url="http://h/v1")


def backends(*first, later="later"):
    """Return the wrapper and both it wraps; `first` are the impatient one's replies in order."""
    replies = list(first)
    impatient = ScriptedBackend(lambda r: replies.pop(0))
    inner = ScriptedBackend(lambda r: later)
    return FirstContactBackend(inner, impatient=impatient), inner, impatient


async def test_until_the_first_answer_the_impatient_one_is_asked_then_never(ask):
    wrapper, inner, impatient = backends("hello")
    assert (await wrapper.complete(ask(TARGET))).text == "hello"
    assert (await wrapper.complete(ask(TARGET))).text == "later"
    assert (len(impatient.requests), len(inner.requests)) == (1, 1)


async def test_a_server_that_cannot_be_reached_ends_the_run(ask):
    wrapper, inner, _ = backends(ConnectionFailedError("refused"))
    with pytest.raises(ConfigurationError, match="openai:m: no server answers: refused"):
        await wrapper.complete(ask(TARGET))
    assert inner.requests == []


async def test_a_model_or_path_that_is_not_there_ends_the_run(ask):
    wrapper, *_ = backends(BadRequestError("http://h/v1 answered 404: no such model"))
    with pytest.raises(ConfigurationError, match="answered 404"):
        await wrapper.complete(ask(TARGET))


async def test_the_number_404_in_a_message_is_no_status(ask):
    error = BadRequestError("http://h/v1 answered 400: at most 404 tokens")
    wrapper, *_ = backends(error)
    with pytest.raises(BadRequestError):
        await wrapper.complete(ask(TARGET))


@pytest.mark.parametrize(
    "error", [RateLimitError("429"), ServerError("500"), RequestTimeoutError("t")]
)
async def test_a_server_that_stumbles_was_met_and_is_asked_patiently(ask, error):
    wrapper, inner, impatient = backends(error)
    assert (await wrapper.complete(ask(TARGET))).text == "later"
    assert (await wrapper.complete(ask(TARGET))).text == "later"
    assert (len(impatient.requests), len(inner.requests)) == (1, 2)


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationError("401"),
        BadRequestError("400"),
        ContextTooLongError("400"),
        EmptyReplyError("empty"),
        RefusedError("no"),
    ],
)
async def test_a_server_that_says_no_is_not_asked_the_same_again(ask, error):
    wrapper, inner, _ = backends(error)
    with pytest.raises(type(error)):
        await wrapper.complete(ask(TARGET))
    assert inner.requests == []
    assert (await wrapper.complete(ask(TARGET))).text == "later"  # but it was met


async def test_a_broken_connection_beside_an_answer_is_asked_again(ask):
    """Of two first requests one is answered, then the other's connection breaks."""
    answered = asyncio.Event()

    async def handler(request):
        if request.seed == 1:
            return "hello"
        await asyncio.wait_for(answered.wait(), 20)
        return ConnectionFailedError("reset")

    impatient, inner = ScriptedBackend(handler), ScriptedBackend(lambda r: "later")
    wrapper = FirstContactBackend(inner, impatient=impatient)
    slow = asyncio.create_task(wrapper.complete(ask(TARGET, seed=2)))
    assert (await wrapper.complete(ask(TARGET, seed=1))).text == "hello"
    answered.set()
    assert (await slow).text == "later"
