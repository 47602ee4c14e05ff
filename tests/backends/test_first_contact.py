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
async def test_a_denial_before_the_first_answer_ends_the_run(ask, status, before):
    backend, _ = answering(*before, denied(status))
    for error in before:
        with pytest.raises(type(error)):
            await backend.complete(ask(TARGET))
    with pytest.raises(AuthenticationError):
        await backend.complete(ask(TARGET))


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_a_denial_after_an_answer_is_one_items(ask, status):
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
async def test_ten_denials_of_the_key_in_a_row_end_the_run(ask, status):
    backend, _ = answering("hello", *[denied(status)] * 10)
    await backend.complete(ask(TARGET))
    for _ in range(9):
        with pytest.raises(DeniedError):
            await backend.complete(ask(TARGET))
    with pytest.raises(AuthenticationError):
        await backend.complete(ask(TARGET))


async def test_any_number_of_forbidden_texts_in_a_row_ends_no_run(ask):
    backend, _ = answering("hello", *[denied(403)] * 50, "last")
    await backend.complete(ask(TARGET))
    for _ in range(50):
        with pytest.raises(DeniedError):
            await backend.complete(ask(TARGET))
    assert (await backend.complete(ask(TARGET))).text == "last"


async def test_of_a_run_that_was_answered_before_a_403_is_one_items_at_once(ask):
    inner = ScriptedBackend(lambda r: denied(401 if r.seed == 1 else 403))
    retrying = Retrying(fail_if_never_reached=True)
    retrying.note_earlier_reply()
    backend = Pipeline(inner, retrying)
    with pytest.raises(DeniedError):
        await backend.complete(ask(TARGET))
    with pytest.raises(AuthenticationError):
        await backend.complete(ask(TARGET, seed=1))
