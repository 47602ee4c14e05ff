"""One cache of several machines: whoever claims a key asks, the others wait for the reply."""

from __future__ import annotations

import asyncio

import pytest

from fairjudge.backends import caching as caching_module
from fairjudge.backends.caching import Caching, SharedCaching
from fairjudge.backends.keys import request_key
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.errors import ServerError
from fairjudge.ports import Completion, CompletionRequest, Message, ModelRef

REQUEST = CompletionRequest(
    target=ModelRef(provider="scripted", model="m"),
    messages=(Message(role="user", content="question"),),
)
KEY = request_key(REQUEST)


class Shared:
    """A cache in memory; the first `refused` claims are another machine's."""

    def __init__(self, refused=0, stored=None, on_claim=None):
        self.values = {} if stored is None else {KEY: stored}
        self.refused = refused
        self.on_claim = on_claim
        self.claims, self.released = [], []

    def get(self, key):
        return self.values.get(key)

    def put(self, key, value):
        self.values[key] = value

    def claim(self, key, *, ticket):
        self.claims.append(ticket)
        if self.on_claim is not None:
            self.on_claim(self)
        return len(self.claims) > self.refused

    def release(self, key):
        self.released.append(key)


@pytest.fixture
def waits(monkeypatch):
    """Record waits of both caches instead of waiting."""
    requests = []

    async def sleep(seconds):
        requests.append(seconds)

    class Quick:
        def __getattr__(self, name):
            return sleep if name == "sleep" else getattr(asyncio, name)

    monkeypatch.setattr(caching_module, "asyncio", Quick())
    return requests


async def test_claiming_machine_calls_and_stores_the_reply():
    cache, inner = Shared(), ScriptedBackend(lambda r: "ours")
    caching = SharedCaching(cache=cache)
    backend = Pipeline(inner, caching)
    assert (await backend.complete(REQUEST)).text == "ours"
    assert (await backend.complete(REQUEST)).text == "ours"
    assert (len(inner.requests), caching.hits, caching.misses) == (1, 1, 1)
    assert caching.earlier == 0  # it paid for this reply itself
    assert cache.values[KEY] == {"model": "scripted:m", "reply": {"text": "ours"}}
    assert cache.released == []  # what is put ends the claim


async def test_other_machine_is_polled_with_backoff_up_to_one_second(waits):
    """0.05 s first, then twice as long each time, a second at the most."""
    cache, inner = Shared(refused=8), ScriptedBackend(lambda r: "ours")
    caching = SharedCaching(cache=cache)
    assert (await Pipeline(inner, caching).complete(REQUEST)).text == "ours"
    assert waits == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0])
    assert len(set(cache.claims)) == 1  # one name for all tries of one request
    assert (caching.hits, caching.misses) == (0, 1)


async def test_other_process_is_polled_up_to_twice_per_second(waits):
    """0.02 s first, then twice as long each time, half a second at the most."""

    class Others:
        n_calls = 0

        def claim(self, key):
            self.n_calls += 1
            return self.n_calls > 8

        def release(self, key):
            pass

    caching = Caching(cache=Shared(), claims=Others())
    inner = ScriptedBackend(lambda r: "ours")
    assert (await Pipeline(inner, caching).complete(REQUEST)).text == "ours"
    assert waits == pytest.approx([0.02, 0.04, 0.08, 0.16, 0.32, 0.5, 0.5, 0.5])


async def test_reply_stored_by_another_machine_is_a_hit(waits):
    def theirs(cache):
        if len(cache.claims) == 2:
            cache.put(KEY, {"reply": {"text": "theirs"}})

    cache, inner = Shared(refused=9, on_claim=theirs), ScriptedBackend(lambda r: "ours")
    caching = SharedCaching(cache=cache)
    assert (await Pipeline(inner, caching).complete(REQUEST)).text == "theirs"
    assert (inner.requests, caching.hits, caching.misses) == ([], 1, 0)
    assert len(waits) == 2


async def test_reply_stored_just_before_the_claim_is_used():
    """It is a hit, and the claim is given up."""
    theirs = {"reply": {"text": "theirs"}}
    cache = Shared(on_claim=lambda cache: cache.put(KEY, theirs))
    caching = SharedCaching(cache=cache)
    inner = ScriptedBackend(lambda r: "ours")
    assert (await Pipeline(inner, caching).complete(REQUEST)).text == "theirs"
    assert (inner.requests, caching.hits, caching.misses) == ([], 1, 0)
    assert cache.released == [KEY]


@pytest.mark.parametrize(
    "answer", [ServerError("down"), Completion(text="Sco", finish_reason="error")]
)
async def test_call_without_storable_reply_releases_its_claim(answer):
    cache = Shared()
    backend = Pipeline(ScriptedBackend(lambda r: answer), SharedCaching(cache=cache))
    if isinstance(answer, Exception):
        with pytest.raises(ServerError):
            await backend.complete(REQUEST)
    else:
        assert (await backend.complete(REQUEST)).text == "Sco"
    assert cache.released == [KEY]
    assert cache.values == {}


async def test_concurrent_equal_requests_of_one_machine_share_a_call():
    gate = asyncio.Event()

    async def slow(request):
        await gate.wait()
        return "ours"

    cache, inner = Shared(), ScriptedBackend(slow)
    caching = SharedCaching(cache=cache)
    backend = Pipeline(inner, caching)
    waiting = [asyncio.create_task(backend.complete(REQUEST)) for _ in range(3)]
    while not inner.requests:
        await asyncio.sleep(0.001)
    waiting[0].cancel()
    await asyncio.sleep(0)
    gate.set()
    result = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(result[0], asyncio.CancelledError)
    assert [reply.text for reply in result[1:]] == ["ours", "ours"]
    assert (len(inner.requests), caching.hits, caching.misses) == (1, 2, 1)


async def test_invalid_stored_reply_is_reported_and_requested_again():
    items = []
    cache = Shared(stored={"reply": {"text": ""}})
    caching = SharedCaching(cache=cache, warn=items.append)
    backend = Pipeline(ScriptedBackend(lambda r: "ours"), caching)
    assert (await backend.complete(REQUEST)).text == "ours"
    assert items
    assert KEY[:12] in items[0]
