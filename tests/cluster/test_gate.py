"""The gate of a cluster, and how work is cut: without a cluster."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from builders import make_task
from hypothesis import given
from hypothesis import strategies as st
from virtual_time import Time

from fairjudge.backends.budgeting import Budget, Reservation
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.domain import Cluster, JudgeTask
from fairjudge.engine.ray_gate import Gate, GateLimit
from fairjudge.errors import BudgetExceededError, ConfigurationError, ServerError
from fairjudge.ports import CompletionRequest, Message, ModelRef, Usage
from fairjudge.run.ray_engine import SHARD_SIZE, judging_shards
from fairjudge.run.ray_worker import JudgingShard, ShardOutcome, as_row, from_row

TARGET = ModelRef(provider="scripted", model="m")
FREE = Reservation(target=TARGET)
LIKELY = Usage(input_tokens=10, output_tokens=10)


def request(n: int) -> CompletionRequest:
    return CompletionRequest(target=TARGET, messages=(Message(role="user", content=f"{n}"),))


async def test_two_workers_share_the_slot_limit():
    gate = Gate(max_concurrent=3, budget=Budget())
    now, most = 0, 0

    async def answer(_request):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.002)
        now -= 1
        return "here"

    limits = [GateLimit(gate, worker=name) for name in "ab"]
    workers = [Pipeline(ScriptedBackend(answer), limit) for limit in limits]
    requests = [worker.complete(request(n)) for n in range(20) for worker in workers]
    replies = await asyncio.gather(*requests)
    assert {reply.text for reply in replies} == {"here"}
    assert most == 3
    assert (await gate.totals()).n_calls == 40
    for limit in limits:
        await limit.aclose()


async def test_failed_call_releases_its_slot():
    gate = Gate(max_concurrent=1, budget=Budget())

    async def fail(_request):
        raise ServerError("no")

    limit = GateLimit(gate, worker="a")
    worker = Pipeline(ScriptedBackend(fail), limit)
    for n in range(3):
        with pytest.raises(ServerError):
            await asyncio.wait_for(worker.complete(request(n)), 60)
    await limit.aclose()


async def test_slots_of_a_silent_worker_are_reassigned():
    now = [0.0]
    gate = Gate(max_concurrent=2, budget=Budget(), lease_seconds=0.04, clock=lambda: now[0])
    for worker in ("dead", "alive"):
        await gate.enter(worker, TARGET, LIKELY)
    waiting = asyncio.create_task(gate.enter("third", TARGET, LIKELY))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    now[0] = 1.0
    await gate.renew_lease("alive")
    await gate.renew_lease("third")
    await asyncio.wait_for(waiting, 60)
    # what the dead one says late takes no place from those who hold one
    await gate.leave("dead", FREE, Usage())
    fourth = asyncio.create_task(gate.enter("fourth", TARGET, LIKELY))
    await asyncio.sleep(0.05)
    assert not fourth.done()
    await gate.leave("third", FREE, Usage())
    await asyncio.wait_for(fourth, 60)


async def test_requests_of_a_dead_worker_get_no_slot():
    now = [0.0]
    gate = Gate(max_concurrent=1, budget=Budget(), lease_seconds=0.04, clock=lambda: now[0])
    await gate.enter("dead", TARGET, LIKELY)
    waiting = [asyncio.create_task(gate.enter("dead", TARGET, LIKELY)) for _ in range(3)]
    await asyncio.sleep(0.02)
    now[0] = 1.0
    assert await asyncio.wait_for(gate.enter("alive", TARGET, LIKELY), 60) == FREE
    await gate.leave("alive", FREE, Usage())
    assert await asyncio.wait_for(gate.enter("alive", TARGET, LIKELY), 60) == FREE
    assert await asyncio.wait_for(asyncio.gather(*waiting), 60) == [None] * 3
    assert (await gate.totals()).n_calls == 3


async def test_budget_is_shared_by_the_cluster():
    gate = Gate(max_concurrent=8, budget=Budget(max_calls=5))

    async def answer(_request):
        return "here"

    limits = [GateLimit(gate, worker=name) for name in "ab"]
    workers = [Pipeline(ScriptedBackend(answer), limit) for limit in limits]
    requests = [worker.complete(request(n)) for n in range(4) for worker in workers]
    replies = await asyncio.gather(*requests, return_exceptions=True)
    assert sum(isinstance(reply, BudgetExceededError) for reply in replies) == 3
    assert (await gate.totals()).n_calls == 5
    for limit in limits:
        await limit.aclose()


async def test_attempts_of_all_workers_respect_the_rate_limits():
    clock, began = Time(), []
    rates = {"requests": 600.0, "tokens": None}  # 10 a second
    gate = Gate(max_concurrent=16, budget=Budget(), rates=rates, clock=clock, sleep=clock.sleep)
    limits = [GateLimit(gate, worker=name) for name in "ab"]

    async def answer(_request):
        began.append(clock.now)
        return "here"

    workers = [Pipeline(ScriptedBackend(answer), limit) for limit in limits]
    await clock.run(*(worker.complete(request(n)) for n in range(8) for worker in workers))
    # a second's worth at once, and the other six at ten a second
    assert began == pytest.approx([0.0] * 10 + [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    for limit in limits:
        await limit.aclose()


async def test_request_above_the_tokens_per_minute_raises():
    gate = Gate(max_concurrent=1, budget=Budget(), rates={"requests": None, "tokens": 10.0})
    limit = GateLimit(gate, worker="a")
    worker = Pipeline(ScriptedBackend(lambda _: "here"), limit)
    for _ in range(2):  # the first frees its place
        with pytest.raises(ConfigurationError, match="more than the limit of 10 per minute"):
            await worker.complete(request(1))
    assert (await gate.totals()).n_calls == 0
    await limit.aclose()


def task(eid: int, system: int) -> JudgeTask:
    return make_task("text", eid=f"e{eid}", systems=(f"s{system}",), aspect="coverage")


@given(
    sizes=st.lists(st.integers(1, 90), max_size=8),
    done=st.sets(st.integers(0, 400)),
)
def test_shards_have_whole_clusters_and_each_pending_task_once(sizes, done):
    tasks = [task(eid, n) for eid, size in enumerate(sizes) for n in range(size)]
    positions = {n for n in done if n < len(tasks)}
    shards = judging_shards(tasks, positions.__contains__)
    pending = [position for shard in shards for position in shard.pending]
    assert pending == [position for position in range(len(tasks)) if position not in positions]
    for shard in shards:
        eids = {task.eid for task in shard.tasks.values()}
        assert shard.tasks == {n: task for n, task in enumerate(tasks) if task.eid in eids}
        assert set(shard.tasks) >= set(shard.pending)
    assert all(len(shard.pending) >= SHARD_SIZE for shard in shards[:-1])


def test_shards_and_outcomes_round_trip_through_rows():
    article = {"aid": "a", "content": "text", "attributes": {"n": 1, "x": 0.1}}
    row = {"eid": "e", "articles": [article | {"unknown": [1, {"kept": None}]}], "more": True}
    building = Cluster.model_validate(row)
    back = from_row(as_row(building))
    assert back == building
    assert back.to_json() == row  # with nothing that was not given
    judging = JudgingShard(tasks={2: task(1, 2), 3: task(1, 3)}, pending=(3,))
    assert from_row(as_row(judging)) == judging
    long = Cluster.model_validate(row | {"articles": [article | {"content": "x" * 10_000}]})
    tasks = {n: replace(task(1, n), articles=long.articles) for n in range(9)}
    assert len(as_row(JudgingShard(tasks=tasks, pending=()))["pickle"]) < 20_000  # shared: once
    for outcome in (
        ShardOutcome(rows=({"position": 3, "judgement": {"raw": "\ud83d"}},), n_cached=2),
        ShardOutcome(rows=(), n_cached=0, error="no key"),
    ):
        assert from_row(as_row(outcome)) == outcome
