"""The state machine that judges summaries: METHODS section 3.

    plan -> chunk* (ask -> read -> repair? -> fallback? -> record) -> aggregate

Work goes out in chunks of tasks, since a checkpoint an item would cost more than the item. The
checkpointed state carries ids and counts; replies live in the cache, judgements in the run's
records. A chunk that a kill cut short is begun again: what it had asked is in the cache.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias, TypedDict, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer, Send

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.judges.aggregate import with_pair_verdicts
from fairjudge.judges.ports import Judge, Reply

Row: TypeAlias = dict[str, Any]
Outcome: TypeAlias = Judgement | Unscored
T = TypeVar("T")

_TURN = 4
"""Items of a chunk that are worked on in one turn of the event loop."""


async def _nothing() -> None:
    """Do nothing: for runs that are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDeps:
    """What the nodes work with.

    Parameters
    ----------
    tasks : mapping
        Every task by its id, in the order in which results are wanted.
    judge, fallback : Judge
        Who judges, and who fills in what stays unscored (or None).
    record : callable
        Keeps one judgement for good; called once a task.
    recorded : callable
        Returns the judgements kept so far by task id, earlier runs' included.
    settle : callable
        Awaited once a chunk: may force what was recorded and cached to disk.
    chunk_size : int
        Tasks between two checkpoints.
    """

    # Not shown: LangGraph puts its context into words, and these are all texts of a run.
    tasks: Mapping[str, JudgeTask] = field(repr=False)
    judge: Judge
    record: Callable[[str, Judgement], None]
    recorded: Callable[[], Mapping[str, Judgement]]
    fallback: Judge | None = None
    settle: Callable[[], Awaitable[None]] = _nothing
    chunk_size: int = 64


class JudgeState(TypedDict, total=False):
    """The whole run."""

    chunks: list[list[str]]
    n_done: Annotated[int, operator.add]
    judgements: list[Row]


class ChunkInput(TypedDict):
    """What one chunk is sent."""

    task_ids: list[str]


class ChunkState(TypedDict, total=False):
    """One chunk on its way: replies and outcomes by task id."""

    task_ids: list[str]
    replies: Annotated[dict[str, Reply], operator.or_]
    outcomes: Annotated[dict[str, Outcome], operator.or_]


class ChunkOutput(TypedDict):
    """What one chunk gives back."""

    n_done: int


# --- one chunk -------------------------------------------------------------------------------


async def _in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield `items`; after every few of them let others go on, whose places would stay idle."""
    for number, item in enumerate(items, 1):
        yield item
        if number % _TURN == 0:
            await asyncio.sleep(0)


async def _gather(
    ids: Sequence[str],
    deps: JudgeDeps,
    ask: Callable[[JudgeTask], Awaitable[Reply | Outcome]],
) -> ChunkState:
    """Ask for every id at once; the backend's own limit bounds what is in flight."""
    asked: list[asyncio.Future[Reply | Outcome]] = []
    try:
        async for task_id in _in_turns(ids):
            asked.append(asyncio.ensure_future(ask(deps.tasks[task_id])))  # noqa: PERF401
        answers = await asyncio.gather(*asked)
    finally:
        for one in asked:
            one.cancel()  # without effect on what has ended
    replies: dict[str, Reply] = {}
    outcomes: dict[str, Outcome] = {}
    for task_id, answer in zip(ids, answers, strict=True):
        if isinstance(answer, Reply):
            replies[task_id] = answer
        else:
            outcomes[task_id] = answer
    return {"replies": replies, "outcomes": outcomes}


async def _ask(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    """Ask for all that is not recorded: a killed run may have recorded a chunk and not said so."""
    deps = runtime.context
    recorded = deps.recorded()
    ids = [task_id for task_id in state["task_ids"] if task_id not in recorded]
    return await _gather(ids, deps, deps.judge.ask)


async def _read(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    deps = runtime.context
    return {
        "outcomes": {
            task_id: deps.judge.read(deps.tasks[task_id], reply)
            async for task_id, reply in _in_turns(state.get("replies", {}).items())
        }
    }


def _left(state: ChunkState) -> dict[str, Unscored]:
    """Return the tasks without a score, and why."""
    outcomes = state.get("outcomes", {})
    return {task_id: why for task_id, why in outcomes.items() if isinstance(why, Unscored)}


def _unreadable(state: ChunkState) -> list[str]:
    """Return the tasks whose first reply could not be read."""
    replies = state.get("replies", {})
    return [
        task_id
        for task_id, why in _left(state).items()
        if why.reason == "unparseable" and task_id in replies and not replies[task_id].repaired
    ]


def _after_read(state: ChunkState, runtime: Runtime[JudgeDeps]) -> str:
    if _unreadable(state):
        return "repair"
    return "fallback" if _left(state) and runtime.context.fallback else "record"


async def _repair(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    """Ask once more; where that fails too, the first reply's reason stands."""
    deps = runtime.context
    replies, left = state["replies"], _left(state)

    async def repair(task: JudgeTask) -> Outcome:
        first = replies[task.id]
        second = await deps.judge.repair(task, first)
        if isinstance(second, Unscored):
            return left[task.id]
        read = deps.judge.read(task, second)
        if isinstance(read, Unscored):
            return left[task.id]
        return read.model_copy(update={"raw": first.text, "repair": second.text})

    return await _gather(_unreadable(state), deps, repair)


def _after_repair(state: ChunkState, runtime: Runtime[JudgeDeps]) -> str:
    return "fallback" if _left(state) and runtime.context.fallback else "record"


async def _fallback(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkState:
    """Let the fallback fill in, and say so; where it cannot, the judge's own reason stands.

    The record keeps the judge's name, so that both orders of a pair stay together;
    ``fallback_for``, ``scored_by`` and ``signature`` say who filled in.
    """
    deps = runtime.context
    left = _left(state)

    async def fill_in(task: JudgeTask) -> Outcome:
        why = left[task.id]
        if deps.fallback is None or why.reason == "empty_input":
            return why
        answer = await deps.fallback.ask(task)
        if not isinstance(answer, Judgement):
            return why
        update = {"fallback_for": why.reason, "raw": why.raw, "judge": deps.judge.name}
        return Judgement.model_validate(answer.to_json() | update)

    return await _gather(list(left), deps, fill_in)


async def _record(state: ChunkState, *, runtime: Runtime[JudgeDeps]) -> ChunkOutput:
    deps = runtime.context
    recorded = deps.recorded()
    async for task_id, outcome in _in_turns(state.get("outcomes", {}).items()):
        if task_id in recorded:
            continue
        judgement = (
            outcome
            if isinstance(outcome, Judgement)
            else deps.judge.unscored(deps.tasks[task_id], outcome)
        )
        deps.record(task_id, judgement)
    await deps.settle()
    return {"n_done": len(state["task_ids"])}


def build_chunk_graph(
    *, checkpointer: Checkpointer = None
) -> CompiledStateGraph[ChunkState, JudgeDeps, ChunkInput, ChunkOutput]:
    """Return the subgraph that takes one chunk of tasks from question to record."""
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
    recorded = deps.recorded()
    pending = [task_id for task_id in deps.tasks if task_id not in recorded]
    size = deps.chunk_size
    return {"chunks": [pending[i : i + size] for i in range(0, len(pending), size)]}


def _send_chunks(state: JudgeState) -> list[Send] | str:
    return [Send("chunk", ChunkInput(task_ids=ids)) for ids in state["chunks"]] or "aggregate"


def _aggregate(
    state: JudgeState,  # noqa: ARG001  # LangGraph passes it
    *,
    runtime: Runtime[JudgeDeps],
) -> JudgeState:
    """Put judgements in the order of tasks, and add what both orders of a pair say together."""
    deps = runtime.context
    recorded = deps.recorded()
    ordered = [recorded[task_id] for task_id in deps.tasks]
    return {"judgements": [judgement.to_json() for judgement in with_pair_verdicts(ordered)]}


def build_judge_graph(
    *, checkpointer: Checkpointer = None
) -> CompiledStateGraph[JudgeState, JudgeDeps]:
    """Return the graph that judges all tasks of a run.

    Invoke it with an empty state and a `JudgeDeps` as context; ``judgements`` holds the records
    in the order of the tasks.
    """
    graph = StateGraph(JudgeState, context_schema=JudgeDeps)
    graph.add_node("plan", _plan)
    # False: no checkpoints inside a chunk. (None, for tools that bring a checkpointer: theirs.)
    graph.add_node("chunk", build_chunk_graph(checkpointer=None if checkpointer is None else False))
    graph.add_node("aggregate", _aggregate)
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", _send_chunks, ["chunk", "aggregate"])
    graph.add_edge("chunk", "aggregate")
    graph.add_edge("aggregate", END)
    return graph.compile(checkpointer=checkpointer)


def judge_graph() -> CompiledStateGraph[JudgeState, JudgeDeps]:
    """Return the graph for LangGraph's own tools, which bring their own checkpointer."""
    return build_judge_graph()
