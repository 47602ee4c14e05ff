"""No more requests in flight than allowed; a place is given back whatever happens."""

from __future__ import annotations

import asyncio

import pytest

from fairjudge.backends.limiting import Concurrency
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.errors import ServerError
from fairjudge.ports import Decisions, Distribution, ModelRef

TARGET = ModelRef(provider="scripted", model="m")


def limited_to(n, inner):
    return Pipeline(inner, Concurrency(n))


class Flights:
    """A handler that holds every request until it is let go, and counts."""

    def __init__(self):
        self.now = self.most = 0
        self.gate = asyncio.Event()

    async def __call__(self, request):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.wait_for(self.gate.wait(), 20)
        self.now -= 1
        return "ok"


@pytest.mark.parametrize("most", [1, 3])
async def test_at_most_n_are_in_flight(ask, most):
    flights = Flights()
    limited = limited_to(most, ScriptedBackend(flights))
    calls = [asyncio.create_task(limited.complete(ask(TARGET, seed=n))) for n in range(10)]
    for _ in range(20):  # let every task run as far as it can
        await asyncio.sleep(0)
    assert flights.now == most
    flights.gate.set()
    assert [reply.text for reply in await asyncio.gather(*calls)] == ["ok"] * 10
    assert flights.most == most


async def test_error_releases_its_slot(ask):
    replies = [ServerError("500"), "ok"]
    limited = limited_to(1, ScriptedBackend(lambda r: replies.pop(0)))
    with pytest.raises(ServerError):
        await limited.complete(ask(TARGET))
    assert (await asyncio.wait_for(limited.complete(ask(TARGET)), 20)).text == "ok"


async def test_cancelled_request_releases_its_slot(ask):
    flights = Flights()
    limited = limited_to(1, ScriptedBackend(flights))
    first = asyncio.create_task(limited.complete(ask(TARGET)))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    flights.gate.set()
    assert (await asyncio.wait_for(limited.complete(ask(TARGET)), 20)).text == "ok"


async def test_decisions_share_the_slots(ask):
    from fairjudge.ports import DecisionRequest, Message, Question

    question = Question(name="q", kind="predicate", text="?", options={"yes": "y", "no": "n"})
    request = DecisionRequest(
        target=TARGET, messages=(Message(role="user", content="t"),), questions=(question,)
    )
    decided = Decisions(answers={"q": Distribution(probabilities={"yes": 1.0, "no": 0.0})})
    flights = Flights()
    limited = limited_to(1, ScriptedBackend(flights, decide=lambda r: decided))
    writing = asyncio.create_task(limited.complete(ask(TARGET)))
    deciding = asyncio.create_task(limited.decide(request))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not deciding.done()
    flights.gate.set()
    await writing
    assert await deciding == decided


async def test_closing_closes_the_inner_backend():
    closed = []

    class Inner(ScriptedBackend):
        async def aclose(self):
            closed.append(True)

    await limited_to(1, Inner(lambda r: "x")).aclose()
    assert closed == [True]
