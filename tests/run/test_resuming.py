"""A graph that was stopped at any write of its checkpoints goes on as if it never had been."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import aiosqlite
import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from fairjudge.engine.runs import resume, start

HOW: dict[str, Any] = {"thread": "one", "context": None, "max_concurrency": 4}


class KilledError(Exception):
    """Nothing more is written, as after SIGKILL."""


class Mortal(AsyncSqliteSaver):
    """Checkpoints in SQLite that accept `n_writes` and then nothing."""

    def __init__(self, connection: aiosqlite.Connection, *, n_writes: int) -> None:
        super().__init__(connection)
        self.n_left = n_writes

    def _use_up(self) -> None:
        self.n_left -= 1
        if self.n_left < 0:
            raise KilledError

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        self._use_up()
        return await super().aput(*args, **kwargs)

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        self._use_up()
        await super().aput_writes(*args, **kwargs)


class State(TypedDict, total=False):
    round: int
    asked: list[str]
    answers: Annotated[list[str], operator.add]
    kept: list[str]


class Part(TypedDict):
    question: str


def _ask(state: State) -> State:
    number = state.get("round", 0) + 1
    return {"round": number, "asked": [f"{number}.{n}" for n in range(3)]}


def _send(state: State) -> list[Send]:
    return [Send("answer", Part(question=question)) for question in state["asked"]]


def _answer(state: Part) -> State:
    return {"answers": [state["question"]]}


def _keep(state: State) -> State:
    return {"kept": sorted(state["answers"])}


def _go_on(state: State) -> str:
    return "ask" if state["round"] < 2 else END


def graph(saver: Any) -> Any:
    """Ask, answer in parallel, keep; twice: as references are built."""
    result = StateGraph(State)
    result.add_node("ask", _ask)
    result.add_node("answer", _answer)
    result.add_node("keep", _keep)
    result.add_edge(START, "ask")
    result.add_conditional_edges("ask", _send, ["answer"])
    result.add_edge("answer", "keep")
    result.add_conditional_edges("keep", _go_on, ["ask", END])
    return result.compile(checkpointer=saver)


async def _n_writes(path: str) -> int:
    async with aiosqlite.connect(path) as connection:
        saver = Mortal(connection, n_writes=10_000)
        await start(graph(saver), **HOW)
        return 10_000 - saver.n_left


async def test_run_interrupted_at_any_write_resumes_with_equal_results(tmp_path):
    whole = await start(graph(None), **HOW)
    assert whole["kept"] == ["1.0", "1.1", "1.2", "2.0", "2.1", "2.2"]
    n_writes = await _n_writes(str(tmp_path / "whole.sqlite"))
    n_resumed = 0
    assert n_writes > 12  # two rounds of ask, three answers and keep, and their checkpoints
    for n in range(n_writes):
        async with aiosqlite.connect(tmp_path / f"{n}.sqlite") as connection:
            with pytest.raises(KilledError):
                await start(graph(Mortal(connection, n_writes=n)), **HOW)
            after = graph(AsyncSqliteSaver(connection))
            resumed = await resume(after, **HOW)
            n_resumed += resumed is not None
            assert (resumed or await start(after, **HOW)) == whole, f"stopped after {n} writes"
    assert n_resumed >= n_writes - 2


async def test_finished_thread_returns_its_state_again(tmp_path):
    async with aiosqlite.connect(tmp_path / "ended.sqlite") as connection:
        ended = graph(AsyncSqliteSaver(connection))
        assert await resume(ended, **HOW) is None
        whole = await start(ended, **HOW)
        assert await resume(ended, **HOW) == whole
