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
    DeniedError,
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
    return Pipeline(
        inner, Retrying(fail_if_never_reached=True, sleep=lambda _: asyncio.sleep(0))
    ), inner


def answering(*replies):
    """Return the same for `replies` in order."""
    waiting = list(replies)
    return asking(lambda r: waiting.pop(0))


async def test_server_unreachable_twice_stops_the_run(ask):
    backend, inner = answering(REFUSED, REFUSED)
    with pytest.raises(ConfigurationError, match="openai:m: no server answers: refused"):
        await backend.complete(ask(TARGET))
    assert len(inner.requests) == 2


async def test_server_reached_on_second_try_counts_as_reachable(ask):
    backend, _ = answering(REFUSED, "hello", REFUSED, REFUSED, REFUSED, "later")
    assert (await backend.complete(ask(TARGET))).text == "hello"
    assert (await backend.complete(ask(TARGET))).text == "later"


@pytest.mark.parametrize("before", [[], [REFUSED]])
async def test_missing_model_or_path_stops_the_run(ask, before):
    backend, _ = answering(*before, LACKING)
    with pytest.raises(ConfigurationError, match="answered 404"):
        await backend.complete(ask(TARGET))


async def test_model_missing_after_a_first_reply_fails_one_item(ask):
    backend, _ = answering("hello", LACKING)
    await backend.complete(ask(TARGET))
    with pytest.raises(NotFoundError):
        await backend.complete(ask(TARGET))


async def test_words_in_a_message_are_not_taken_for_a_status(ask):
    backend, _ = answering(BadRequestError("http://h/v1 answered 400: a proxy answered 404"))
    with pytest.raises(BadRequestError):
        await backend.complete(ask(TARGET))


@pytest.mark.parametrize(
    "error", [RateLimitError("429"), ServerError("500"), RequestTimeoutError("t")]
)
async def test_server_with_transient_error_is_retried(ask, error):
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
async def test_rejected_request_is_not_retried(ask, error):
    backend, inner = answering(error, REFUSED, REFUSED, "later")
    with pytest.raises(type(error)):
        await backend.complete(ask(TARGET))
    assert len(inner.requests) == 1
    assert (await backend.complete(ask(TARGET))).text == "later"  # it was met


async def test_broken_connections_after_a_reply_are_retried(ask):
    """Of two first requests one is answered, then the other's connection breaks."""
    answered = asyncio.Event()
    waiting = [REFUSED, REFUSED, REFUSED, "later"]

    async def handler(request):
        if request.seed == 1:
            return "hello"
        await asyncio.wait_for(answered.wait(), 20)
        return waiting.pop(0)

    backend, _ = asking(handler)
    slow = asyncio.create_task(backend.complete(ask(TARGET, seed=2)))
    assert (await backend.complete(ask(TARGET, seed=1))).text == "hello"
    answered.set()
    assert (await slow).text == "later"


def denied(status):
    error = AuthenticationError(f"http://h/v1 answered {status}: no")
    error.status = status
    return error


@pytest.mark.parametrize("status", [401, 402, 403])
@pytest.mark.parametrize(
    "before",
    [[], [RefusedError("flagged")], [ContextTooLongError("long")], [BadRequestError("400")]],
)
async def test_denial_before_the_first_reply_stops_the_run(ask, status, before):
    backend, _ = answering(*before, denied(status))
    for error in before:
        with pytest.raises(type(error)):
            await backend.complete(ask(TARGET))
    with pytest.raises(AuthenticationError):
        await backend.complete(ask(TARGET))


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_denial_after_a_reply_fails_one_item(ask, status):
    backend, inner = answering("hello", denied(status), "later", *[denied(status)] * 9, "last")
    assert (await backend.complete(ask(TARGET))).text == "hello"
    with pytest.raises(DeniedError, match=f"answered {status}"):
        await backend.complete(ask(TARGET))
    assert (await backend.complete(ask(TARGET))).text == "later"
    for _ in range(9):
        with pytest.raises(DeniedError):
            await backend.complete(ask(TARGET))
    assert (await backend.complete(ask(TARGET))).text == "last"
    assert len(inner.requests) == 13  # none is asked again


@pytest.mark.parametrize("status", [401, 402])
async def test_ten_consecutive_key_denials_stop_the_run(ask, status):
    backend, _ = answering("hello", *[denied(status)] * 10)
    await backend.complete(ask(TARGET))
    for _ in range(9):
        with pytest.raises(DeniedError):
            await backend.complete(ask(TARGET))
    with pytest.raises(AuthenticationError):
        await backend.complete(ask(TARGET))


async def test_consecutive_content_denials_never_stop_the_run(ask):
    backend, _ = answering("hello", *[denied(403)] * 50, "last")
    await backend.complete(ask(TARGET))
    for _ in range(50):
        with pytest.raises(DeniedError):
            await backend.complete(ask(TARGET))
    assert (await backend.complete(ask(TARGET))).text == "last"


async def test_resumed_run_with_earlier_replies_treats_403_as_item_failure(ask):
    inner = ScriptedBackend(lambda r: denied(401 if r.seed == 1 else 403))
    retrying = Retrying(fail_if_never_reached=True)
    retrying.note_earlier_reply()
    backend = Pipeline(inner, retrying)
    with pytest.raises(DeniedError):
        await backend.complete(ask(TARGET))
    with pytest.raises(AuthenticationError):
        await backend.complete(ask(TARGET, seed=1))
