"""Library calls inside a running event loop, as in a notebook."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import threading
from pathlib import Path

import pytest
from cli_tools import cluster, summary, write_jsonl

from fairjudge.engine.coroutines import run_to_end
from fairjudge.options.building import BuildOptions
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.run.building import build_file
from fairjudge.run.jury import judge_files


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


async def one_cell() -> tuple[int, int]:
    """Build and judge as a notebook's cell does: without `await`."""
    built = build_file(
        Path("clusters.jsonl"),
        Path("refs.jsonl"),
        options=BuildOptions(),
        model=Model(),
        run=None,
        skip_bad=False,
    )
    judged = judge_files(
        Path("refs.jsonl"),
        [Path("one.jsonl"), Path("two.jsonl")],
        Path("judgements.jsonl"),
        options=JudgeOptions(aspect="faithfulness", protocol="likert"),
        models=[Model()],
        run=None,
        skip_bad=False,
        progress=lambda _: lambda _: None,
    )
    return len(built.clusters), len(judged.judgements)


def test_files_are_built_and_judged_inside_a_running_loop():
    write_jsonl(Path("clusters.jsonl"), [cluster()])
    write_jsonl(Path("one.jsonl"), [summary("one")])
    write_jsonl(Path("two.jsonl"), [summary("two")])
    assert asyncio.run(one_cell()) == (1, 2)


def test_context_variables_of_the_caller_are_kept():
    name = contextvars.ContextVar("name", default="unset")

    async def read() -> str:
        await asyncio.sleep(0)
        return name.get()

    async def cell() -> str:
        name.set("set")
        return run_to_end(read())

    assert asyncio.run(cell()) == "set"


def test_errors_propagate():
    async def fail() -> None:
        raise LookupError("of its own")

    async def cell() -> None:
        run_to_end(fail())

    with pytest.raises(LookupError, match="of its own"):
        asyncio.run(cell())


def test_interrupt_stops_the_work():
    ended = threading.Event()

    async def work() -> None:
        try:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            await asyncio.sleep(300)
        finally:
            ended.set()

    async def cell() -> None:
        with pytest.raises(KeyboardInterrupt):
            run_to_end(work())

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(cell())
    finally:
        loop.close()
        signal.signal(signal.SIGINT, before)
    assert ended.is_set()
