"""The state machine that judges summaries.

    plan -> chunk* (ask -> read -> repair? -> fallback? -> record)

Tasks are divided into chunks, since a checkpoint per item would cost more than the item. The
checkpointed state has positions of tasks and counts only; replies are in the cache, judgements in
the run's records. A chunk that was killed is begun again, with its earlier replies from the cache.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias, TypedDict, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer, Send

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.judges.ports import Judge, Reply, as_writing_judge

Outcome: TypeAlias = Judgement | Unscored
T = TypeVar("T")

_TURN = 4
"""Items of a chunk that are worked on in one turn of the event loop."""
_MAX_CHUNKS = 2000
"""Chunks of one run: LangGraph keeps a branch for each until the last one has ended."""


async def _nothing() -> None:
    """No-op checkpoint for runs without a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDeps:
    """The dependencies of the nodes.

    ``tasks`` are the same, in the same order, whenever the run is resumed. ``fallback`` judges the
    tasks that ``judge`` leaves unscored. ``record`` stores one judgement with the position of its
    task; it is called once per task. ``is_done`` returns whether the task at a position was
    recorded, by this start of the run or an earlier one. ``settle`` is awaited once per chunk, and
    may force records and cache to disk. ``chunk_size`` is the minimum number of tasks between two
    checkpoints.
    """

    # Not in the repr, which LangGraph makes of its context: these are all texts of a run.
    tasks: Sequence[JudgeTask] = field(repr=False)
    judge: Judge
    record: Callable[[int, Judgement], None]
    is_done: Callable[[int], bool]
    fallback: Judge | None = None
    settle: Callable[[], Awaitable[None]] = _nothing
    chunk_size: int = 64


class JudgeState(TypedDict, total=False):
    """The whole run: chunks, each from a position up to another, and how many tasks are done."""

    chunks: list[tuple[int, int]]
    n_done: Annotated[int, operator.add]


class ChunkInput(TypedDict, total=False):
    """Input of a chunk: the positions of its first task and after its last."""

    start: int
    stop: int


class ChunkState(ChunkInput, total=False):
    """One chunk on its way: replies and outcomes by the position of the task."""

    replies: Annotated[dict[int, Reply], operator.or_]
    outcomes: Annotated[dict[int, Outcome], operator.or_]


class ChunkOutput(TypedDict):
    """Output of a chunk."""

    n_done: int


# --- one chunk -------------------------------------------------------------------------------


async def _in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield `items`, returning to the event loop after every few so that calls proceed."""
    for number, item in enumerate(items, 1):
        yield item
        if number % _TURN == 0:
            await asyncio.sleep(0)


async def _gather(
    places: Sequence[int],
    ask: Callable[[int], Awaitable[Reply | Outcome]],
) -> ChunkState:
    """Run all tasks concurrently; the backend limits the calls in flight."""
    calls: list[asyncio.Future[Reply | Outcome]] = []
    try:
        async for place in _in_turns(places):
            calls.append(asyncio.ensure_future(ask(place)))  # noqa: PERF401
        answers = await asyncio.gather(*calls)
    finally:
        for call in calls:
            call.cancel()  # without effect on what has ended
    answered = list(zip(places, answers, strict=True))
    return {
        "replies": {place: entry for place, entry in answered if isinstance(entry, Reply)},
        "outcomes": {place: entry for place, entry in answered if not isinstance(entry, Reply)},
    }


async def _ask(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    """Run the tasks without a record; a killed run may have recorded a chunk but no checkpoint."""
    deps = runtime.context
    pending = [place for place in range(state["start"], state["stop"]) if not deps.is_done(place)]
    return await _gather(pending, lambda place: deps.judge.ask(deps.tasks[place]))


async def _read(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    deps, replies = runtime.context, state.get("replies", {})
    if not replies:
        return {"outcomes": {}}
    judge = as_writing_judge(deps.judge)
    return {
        "outcomes": {
            place: judge.read(deps.tasks[place], reply)
            async for place, reply in _in_turns(replies.items())
        }
    }


def _left(state: ChunkState) -> dict[int, Unscored]:
    """Return the tasks without a score, and why."""
    outcomes = state.get("outcomes", {})
    return {place: why for place, why in outcomes.items() if isinstance(why, Unscored)}


def _unreadable(state: ChunkState) -> list[int]:
    """Return the tasks whose first reply could not be read."""
    replies = state.get("replies", {})
    return [
        place
        for place, why in _left(state).items()
        if why.reason == "unparseable" and place in replies and not replies[place].repaired
    ]


def _after_read(state: ChunkState, runtime: Runtime[JudgeDeps]) -> str:
    return "repair" if _unreadable(state) else _after_repair(state, runtime)


async def _repair(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    """Ask once more; where that fails too, the first reply's reason stands."""
    deps = runtime.context
    replies, remaining, judge = state["replies"], _left(state), as_writing_judge(deps.judge)

    async def repair(place: int) -> Outcome:
        task, first = deps.tasks[place], replies[place]
        second = await judge.repair(task, first)
        if isinstance(second, Unscored):
            return remaining[place]
        verdict = judge.read(task, second)
        if isinstance(verdict, Unscored):
            return remaining[place]
        return verdict.model_copy(update={"raw": first.text, "repair": second.text})

    return await _gather(_unreadable(state), repair)


def _after_repair(state: ChunkState, runtime: Runtime[JudgeDeps]) -> str:
    return "fallback" if _left(state) and runtime.context.fallback else "record"


async def _fallback(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    """Let the fallback fill in, and say so; where it cannot, the judge's own reason stands.

    The record keeps the judge's name, so that both orders of a pair stay together;
    ``fallback_for``, ``scored_by`` and ``signature`` say who filled in.
    """
    deps = runtime.context
    remaining = _left(state)

    async def fill_in(place: int) -> Outcome:
        why = remaining[place]
        if deps.fallback is None or why.reason == "empty_input":
            return why
        answer = await deps.fallback.ask(deps.tasks[place])
        if not isinstance(answer, Judgement):
            return why
        update = {"fallback_for": why.reason, "raw": why.raw, "judge": deps.judge.name}
        return Judgement.model_validate(answer.to_json() | update)

    return await _gather(list(remaining), fill_in)


async def _record(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkOutput:
    deps = runtime.context
    outcomes = state.get("outcomes", {})
    async for place, outcome in _in_turns(outcomes.items()):
        judgement = (
            outcome
            if isinstance(outcome, Judgement)
            else deps.judge.unscored_judgement(deps.tasks[place], outcome)
        )
        deps.record(place, judgement)
    await deps.settle()
    return {"n_done": len(outcomes)}


def build_chunk_graph(
    *, checkpointer: Checkpointer = None
) -> CompiledStateGraph[ChunkState, JudgeDeps, ChunkInput, ChunkOutput]:
    """Return the subgraph that judges and records one chunk of tasks."""
    graph = StateGraph(
        ChunkState, context_schema=JudgeDeps, input_schema=ChunkInput, output_schema=ChunkOutput
    )
    graph.add_node("ask", _ask)
    graph.add_node("read", _read)
    graph.add_node("repair", _repair)
    graph.add_node("fallback", _fallback)
    graph.add_node("record", _record)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "read")
    graph.add_conditional_edges("read", _after_read, ["repair", "fallback", "record"])
    graph.add_conditional_edges("repair", _after_repair, ["fallback", "record"])
    graph.add_edge("fallback", "record")
    graph.add_edge("record", END)
    return graph.compile(checkpointer=checkpointer)


# --- the whole run ---------------------------------------------------------------------------


def _plan(
    state: JudgeState,  # noqa: ARG001  # LangGraph passes it
    *,
    runtime: Runtime[JudgeDeps],
) -> JudgeState:
    """Leave out what earlier runs recorded, and cut the rest into chunks."""
    deps = runtime.context
    pending = [place for place in range(len(deps.tasks)) if not deps.is_done(place)]
    size = max(deps.chunk_size, -(-len(pending) // _MAX_CHUNKS))
    parts = (pending[first : first + size] for first in range(0, len(pending), size))
    return {"chunks": [(part[0], part[-1] + 1) for part in parts]}


def _send_chunks(state: JudgeState) -> list[Send] | str:
    sends = [Send("chunk", ChunkInput(start=first, stop=end)) for first, end in state["chunks"]]
    return sends or END


def build_judge_graph(
    *, checkpointer: Checkpointer = None
) -> CompiledStateGraph[JudgeState, JudgeDeps]:
    """Return the graph that judges all tasks of a run.

    Invoke it with an empty state and a `JudgeDeps` as context; its ``record`` gets the results.
    """
    graph = StateGraph(JudgeState, context_schema=JudgeDeps)
    graph.add_node("plan", _plan)
    # False: no checkpoints inside a chunk. (None, for tools that bring a checkpointer: theirs.)
    graph.add_node("chunk", build_chunk_graph(checkpointer=None if checkpointer is None else False))
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", _send_chunks, ["chunk", END])
    graph.add_edge("chunk", END)
    return graph.compile(checkpointer=checkpointer)


def judge_graph() -> CompiledStateGraph[JudgeState, JudgeDeps]:
    """Return the graph for LangGraph's own tools, which bring their own checkpointer."""
    return build_judge_graph()
