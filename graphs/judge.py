"""The state machine that judges summaries.

    plan -> chunk* (ask -> read -> repair? -> fallback? -> record)

Tasks are divided into chunks, since a checkpoint per task would take longer than the task. The
checkpointed state has only positions of tasks and counts; replies are in the cache, judgements in
the run's records. A chunk that was killed is restarted, with its earlier replies from the cache.
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
"""Number of tasks of a chunk that are processed before control returns to the event loop."""
_MAX_CHUNKS = 2000
"""Maximum number of chunks of a run: LangGraph stores a branch for each until the last one ends."""


async def _do_nothing() -> None:
    """No-op checkpoint for runs without a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDeps:
    """The dependencies of the nodes.

    ``tasks`` must be the same, in the same order, whenever the run is resumed. ``fallback`` judges
    the tasks that ``judge`` leaves unscored. ``record`` stores one judgement with the position of
    its task; it is called once per task. ``is_done`` returns whether the task at a position was
    recorded, now or before the run was resumed. ``settle`` is awaited once per chunk, and may force
    records and cache to disk. ``chunk_size`` is the minimum number of tasks between checkpoints.
    """

    # Not in the repr, which LangGraph computes for its context: tasks contain all texts of a run.
    tasks: Sequence[JudgeTask] = field(repr=False)
    judge: Judge
    record: Callable[[int, Judgement], None]
    is_done: Callable[[int], bool]
    fallback: Judge | None = None
    settle: Callable[[], Awaitable[None]] = _do_nothing
    chunk_size: int = 64


class JudgeState(TypedDict, total=False):
    """State of the run: chunks (start, end-exclusive stop), and the number of finished tasks."""

    chunks: list[tuple[int, int]]
    n_done: Annotated[int, operator.add]


class ChunkInput(TypedDict, total=False):
    """Input of a chunk: the range of its tasks, end-exclusive."""

    start: int
    stop: int


class ChunkState(ChunkInput, total=False):
    """State of a chunk: replies and outcomes by the position of the task."""

    replies: Annotated[dict[int, Reply], operator.or_]
    outcomes: Annotated[dict[int, Outcome], operator.or_]


class ChunkOutput(TypedDict):
    """Output of a chunk."""

    n_done: int


# --- one chunk -------------------------------------------------------------------------------


async def _in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield `items`, regularly returning control to the event loop so that calls proceed."""
    for number, item in enumerate(items, 1):
        yield item
        if number % _TURN == 0:
            await asyncio.sleep(0)


async def _gather(
    positions: Sequence[int],
    ask: Callable[[int], Awaitable[Reply | Outcome]],
) -> ChunkState:
    """Run all tasks concurrently; the backend limits the calls in flight."""
    calls: list[asyncio.Future[Reply | Outcome]] = []
    try:
        async for position in _in_turns(positions):
            calls.append(asyncio.ensure_future(ask(position)))  # noqa: PERF401
        answers = await asyncio.gather(*calls)
    finally:
        for call in calls:
            call.cancel()  # no effect on finished calls
    entries = list(zip(positions, answers, strict=True))
    return {
        "replies": {position: entry for position, entry in entries if isinstance(entry, Reply)},
        "outcomes": {
            position: entry for position, entry in entries if not isinstance(entry, Reply)
        },
    }


async def _ask(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    """Run the tasks not yet recorded; a killed run may have recorded tasks of the chunk."""
    deps = runtime.context
    pending_positions = [
        position for position in range(state["start"], state["stop"]) if not deps.is_done(position)
    ]
    return await _gather(pending_positions, lambda position: deps.judge.ask(deps.tasks[position]))


async def _read(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    deps, replies = runtime.context, state.get("replies", {})
    if not replies:
        return {"outcomes": {}}
    judge = as_writing_judge(deps.judge)
    return {
        "outcomes": {
            position: judge.read(deps.tasks[position], reply)
            async for position, reply in _in_turns(replies.items())
        }
    }


def _unscored(state: ChunkState) -> dict[int, Unscored]:
    """Return the tasks without a score, with the reasons."""
    outcomes = state.get("outcomes", {})
    return {
        position: outcome for position, outcome in outcomes.items() if isinstance(outcome, Unscored)
    }


def _unreadable(state: ChunkState) -> list[int]:
    """Return the tasks whose first reply could not be parsed."""
    replies = state.get("replies", {})
    return [
        position
        for position, outcome in _unscored(state).items()
        if outcome.reason == "unparseable"
        and position in replies
        and not replies[position].repaired
    ]


def _after_read(state: ChunkState, runtime: Runtime[JudgeDeps]) -> str:
    return "repair" if _unreadable(state) else _after_repair(state, runtime)


async def _repair(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    """Repeat unparseable requests once; if that fails too, keep the first reply's reason."""
    deps = runtime.context
    replies, unscored_tasks, judge = (
        state["replies"],
        _unscored(state),
        as_writing_judge(deps.judge),
    )

    async def repair(position: int) -> Outcome:
        task, first_reply = deps.tasks[position], replies[position]
        second_reply = await judge.repair(task, first_reply)
        if isinstance(second_reply, Unscored):
            return unscored_tasks[position]
        outcome = judge.read(task, second_reply)
        if isinstance(outcome, Unscored):
            return unscored_tasks[position]
        return outcome.model_copy(update={"raw": first_reply.text, "repair": second_reply.text})

    return await _gather(_unreadable(state), repair)


def _after_repair(state: ChunkState, runtime: Runtime[JudgeDeps]) -> str:
    return "fallback" if _unscored(state) and runtime.context.fallback else "record"


async def _fallback(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    """Judge unscored tasks with the fallback; if it fails too, keep the judge's reason.

    The judgement keeps the judge's name, so that both orders of a pair match; ``fallback_for``,
    ``scored_by`` and ``signature`` identify the fallback.
    """
    deps = runtime.context
    unscored_tasks = _unscored(state)

    async def fill_in(position: int) -> Outcome:
        outcome = unscored_tasks[position]
        if deps.fallback is None or outcome.reason == "empty_input":
            return outcome
        answer = await deps.fallback.ask(deps.tasks[position])
        if not isinstance(answer, Judgement):
            return outcome
        update = {"fallback_for": outcome.reason, "raw": outcome.raw, "judge": deps.judge.name}
        return Judgement.model_validate(answer.to_json() | update)

    return await _gather(list(unscored_tasks), fill_in)


async def _record(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkOutput:
    deps = runtime.context
    outcomes = state.get("outcomes", {})
    async for position, outcome in _in_turns(outcomes.items()):
        judgement = (
            outcome
            if isinstance(outcome, Judgement)
            else deps.judge.unscored_judgement(deps.tasks[position], outcome)
        )
        deps.record(position, judgement)
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
    """Divide the tasks that are not yet recorded into chunks."""
    deps = runtime.context
    pending_positions = [
        position for position in range(len(deps.tasks)) if not deps.is_done(position)
    ]
    size = max(deps.chunk_size, -(-len(pending_positions) // _MAX_CHUNKS))
    parts = (
        pending_positions[first : first + size] for first in range(0, len(pending_positions), size)
    )
    return {"chunks": [(part[0], part[-1] + 1) for part in parts]}


def _send_chunks(state: JudgeState) -> list[Send] | str:
    sends = [Send("chunk", ChunkInput(start=first, stop=end)) for first, end in state["chunks"]]
    return sends or END


def build_judge_graph(
    *, checkpointer: Checkpointer = None
) -> CompiledStateGraph[JudgeState, JudgeDeps]:
    """Return the graph that judges all tasks of a run.

    Invoke it with an empty state and a `JudgeDeps` as context; its ``record`` receives the results.
    """
    graph = StateGraph(JudgeState, context_schema=JudgeDeps)
    graph.add_node("plan", _plan)
    # False: no checkpoints inside a chunk. None: the checkpointer of LangGraph's own tools.
    graph.add_node("chunk", build_chunk_graph(checkpointer=None if checkpointer is None else False))
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", _send_chunks, ["chunk", END])
    graph.add_edge("chunk", END)
    return graph.compile(checkpointer=checkpointer)


def judge_graph() -> CompiledStateGraph[JudgeState, JudgeDeps]:
    """Return the graph for LangGraph's own tools, which provide the checkpointer."""
    return build_judge_graph()
