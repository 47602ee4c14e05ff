"""Of requests that begin alike one goes first; nobody waits for nothing, and nobody for ever."""

from __future__ import annotations

import asyncio

import pytest
from test_limiting import Flights

from fairjudge.backends.limiting import Concurrency
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.backends.warming import Warming, prefix_key
from fairjudge.errors import ServerError
from fairjudge.ports import CompletionRequest, Message, ModelRef

TARGET = ModelRef(provider="scripted", model="m")
SCHEMA = {"type": "object"}


def request(article, summary, *, length=5000, **fields):
    """Ask about `summary` of an `article`, which is repeated up to so many characters."""
    shared = (article * length)[:length]
    user = Message(role="user", content=f"{shared}\n\n{summary}", shared=length)
    system = Message(role="system", content="Judge.")
    return CompletionRequest(target=TARGET, messages=(system, user), **fields)


class Server(Flights):
    """Holds requests until they are let go; keeps their texts, and counts those marked."""

    def __init__(self):
        super().__init__()
        self.texts, self.marked = [], 0

    async def __call__(self, request):
        self.texts.append(request.messages[-1].content[-1])
        self.marked += any(message.shared for message in request.messages)
        return await super().__call__(request)

    async def wait_for(self, n):
        async with asyncio.timeout(20):
            while len(self.texts) < n:
                await asyncio.sleep(0.005)


async def settled():
    """Give everybody time to do what they should not do."""
    for _ in range(100):
        await asyncio.sleep(0)


async def test_first_request_of_a_shared_prefix_is_sent_before_the_others():
    server = Server()
    warm = Pipeline(ScriptedBackend(server), Warming())
    calls = [asyncio.create_task(warm.complete(request("a", n))) for n in "12345"]
    await server.wait_for(1)
    await settled()
    assert server.texts == ["1"]
    server.gate.set()
    assert len(await asyncio.gather(*calls)) == 5
    assert sorted(server.texts) == list("12345")
    assert server.marked == 5


async def test_all_but_the_first_run_concurrently():
    server = Server()
    warm = Pipeline(ScriptedBackend(server), Warming())
    first, *others = [asyncio.create_task(warm.complete(request("a", n))) for n in "12345"]
    await server.wait_for(1)
    server.gate.set()
    await first
    server.gate.clear()
    await server.wait_for(5)
    assert server.now == 4
    server.gate.set()
    await asyncio.gather(*others)


async def test_requests_with_other_prefixes_do_not_wait():
    """Other articles, another schema, and too little to share."""
    server = Server()
    warm = Pipeline(ScriptedBackend(server), Warming())
    requests = [
        *(request(article, n) for article in "abc" for n in "12"),
        *(request("a", n, response_schema=SCHEMA) for n in "12"),
        *(request("d", n, length=4096 - len("Judge.") - 1) for n in "12"),
    ]
    calls = [asyncio.create_task(warm.complete(item)) for item in requests]
    await server.wait_for(6)
    await settled()
    assert sorted(server.texts) == list("111112")
    server.gate.set()
    await asyncio.gather(*calls)
    assert server.marked == 8


async def test_waiting_requests_use_no_slot():
    server = Server()
    warm = Pipeline(ScriptedBackend(server), Warming(), Concurrency(3))
    requests = [request("a", n) for n in "12345"] + [request("b", n) for n in "67"]
    calls = [asyncio.create_task(warm.complete(item)) for item in requests]
    await server.wait_for(2)
    await settled()
    assert sorted(server.texts) == ["1", "6"]
    server.gate.set()
    assert len(await asyncio.gather(*calls)) == 7
    assert server.most == 3


async def test_single_request_has_no_cache_marker():
    server = Server()
    server.gate.set()
    warm = Pipeline(ScriptedBackend(server), Warming())
    await warm.complete(request("a", "1"))
    assert server.marked == 0
    await warm.complete(request("a", "2"))
    await warm.complete(request("a", "3"))
    assert server.marked == 2


async def test_others_run_concurrently_if_the_first_fails():
    n_asked = 0

    async def fail(_):
        nonlocal n_asked
        n_asked += 1
        raise ServerError("500")

    warm = Pipeline(ScriptedBackend(fail), Warming())
    calls = (warm.complete(request("a", n)) for n in "123")
    result = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 20)
    assert [type(item) for item in result] == [ServerError] * 3
    assert n_asked == 3


@pytest.mark.parametrize("is_sent", [False, True])
async def test_others_run_if_the_first_is_cancelled(is_sent):
    server = Server()
    warm = Pipeline(ScriptedBackend(server), Warming())
    first, *others = [asyncio.create_task(warm.complete(request("a", n))) for n in "123"]
    await (server.wait_for(1) if is_sent else asyncio.sleep(0))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    server.gate.set()
    assert len(await asyncio.wait_for(asyncio.gather(*others), 20)) == 2


async def test_waiting_request_can_be_cancelled():
    server = Server()
    warm = Pipeline(ScriptedBackend(server), Warming())
    first, second = [asyncio.create_task(warm.complete(request("a", n))) for n in "12"]
    await server.wait_for(1)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    server.gate.set()
    await first
    assert server.texts == ["1"]


async def test_expired_prefix_is_warmed_again():
    now = 0.0
    server = Server()
    server.gate.set()
    warm = Pipeline(ScriptedBackend(server), Warming(clock=lambda: now))
    await asyncio.gather(*(warm.complete(request("a", n)) for n in "12"))
    server.gate.clear()
    now = 200.0  # still known, and used again
    items = [asyncio.create_task(warm.complete(request("a", n))) for n in "34"]
    await server.wait_for(4)
    now = 400.0
    items += [asyncio.create_task(warm.complete(request("a", n))) for n in "56"]
    await server.wait_for(6)
    now = 700.0  # providers keep it for five minutes
    late = [asyncio.create_task(warm.complete(request("a", n))) for n in "78"]
    await server.wait_for(7)
    await settled()
    assert len(server.texts) == 7
    server.gate.set()
    await asyncio.gather(*items, *late)


def test_shared_prefix_starts_at_the_first_message():
    assert prefix_key(request("a", "1")) == prefix_key(request("a", "2", temperature=1.0))
    assert prefix_key(request("a", "1")) != prefix_key(request("b", "1"))
    assert prefix_key(request("a", "1", length=4096 - len("Judge."))) is not None
    assert prefix_key(request("a", "1", length=4096 - len("Judge.") - 1)) is None
    plain = CompletionRequest(
        target=TARGET, messages=(Message(role="user", content="long" * 5000),)
    )
    assert prefix_key(plain) is None
