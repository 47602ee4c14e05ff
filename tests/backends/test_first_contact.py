"""A server that was never there ends the run; one that stumbles does not."""

from __future__ import annotations

import asyncio

import pytest

from fairjudge.backends.ports import Pipeline
from fairjudge.backends.retrying import Retrying
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.errors import (
    AuthenticationError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    ContextTooLongError,
    EmptyReplyError,
    NotFoundError,
    RateLimitError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
)
from fairjudge.ports import ModelRef

TARGET = ModelRef(provider="openai", model="m", base_url="http://h/v1")
REFUSED = ConnectionFailedError("refused")
LACKING = NotFoundError("http://h/v1 answered 404: no such model")


def asking(handler):
    """Return a backend that ends unmet, and what it asks."""
    inner = ScriptedBackend(handler)
    return Pipeline(inner, Retrying(ends_unmet=True, sleep=lambda _: asyncio.sleep(0))), inner


def answering(*replies):
    """Return the same for `replies` in order."""
    left = list(replies)
    return asking(lambda r: left.pop(0))


async def test_a_server_that_cannot_be_reached_twice_ends_the_run(ask):
    backend, inner = answering(REFUSED, REFUSED)
    with pytest.raises(ConfigurationError, match="openai:m: no server answers: refused"):
        await backend.complete(ask(TARGET))
    assert len(inner.requests) == 2


async def test_one_that_is_reached_the_second_time_was_met(ask):
    backend, _ = answering(REFUSED, "hello", REFUSED, REFUSED, REFUSED, "later")
    assert (await backend.complete(ask(TARGET))).text == "hello"
    assert (await backend.complete(ask(TARGET))).text == "later"


@pytest.mark.parametrize("before", [[], [REFUSED]])
async def test_a_model_or_path_that_is_not_there_ends_the_run(ask, before):
    backend, _ = answering(*before, LACKING)
    with pytest.raises(ConfigurationError, match="answered 404"):
        await backend.complete(ask(TARGET))


async def test_one_that_is_no_more_there_ends_an_item(ask):
    backend, _ = answering("hello", LACKING)
    await backend.complete(ask(TARGET))
    with pytest.raises(NotFoundError):
        await backend.complete(ask(TARGET))


async def test_words_of_a_message_are_no_status(ask):
    backend, _ = answering(BadRequestError("http://h/v1 answered 400: a proxy answered 404"))
    with pytest.raises(BadRequestError):
        await backend.complete(ask(TARGET))


@pytest.mark.parametrize(
    "error", [RateLimitError("429"), ServerError("500"), RequestTimeoutError("t")]
)
async def test_a_server_that_stumbles_was_met_and_is_asked_patiently(ask, error):
    backend, inner = answering(error, REFUSED, REFUSED, error, "later")
    assert (await backend.complete(ask(TARGET))).text == "later"
    assert len(inner.requests) == 5


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
    backend, inner = answering(error, REFUSED, REFUSED, "later")
    with pytest.raises(type(error)):
        await backend.complete(ask(TARGET))
    assert len(inner.requests) == 1
    assert (await backend.complete(ask(TARGET))).text == "later"  # it was met


async def test_broken_connections_beside_an_answer_are_asked_again(ask):
    """Of two first requests one is answered, then the other's connection breaks."""
    answered = asyncio.Event()
    left = [REFUSED, REFUSED, REFUSED, "later"]

    async def handler(request):
        if request.seed == 1:
            return "hello"
        await asyncio.wait_for(answered.wait(), 20)
        return left.pop(0)

    backend, _ = asking(handler)
    slow = asyncio.create_task(backend.complete(ask(TARGET, seed=2)))
    assert (await backend.complete(ask(TARGET, seed=1))).text == "hello"
    answered.set()
    assert (await slow).text == "later"
