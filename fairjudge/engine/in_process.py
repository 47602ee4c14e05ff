"""Working on a run's items in this process: LangGraph's graphs, with the run's checkpoints."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from fairjudge.domain import Cluster, Judgement
from fairjudge.engine.build_work import build_one, graph_for
from fairjudge.engine.built import BuildBook
from fairjudge.engine.checkpoints import checkpoints
from fairjudge.engine.progress import SILENT, BuildProgress
from fairjudge.engine.recorded import JudgementBook
from fairjudge.engine.runs import resume, start
from fairjudge.graphs.judge import JudgeDeps, build_judge_graph
from fairjudge.judges.ports import Judge
from fairjudge.options.building import SettledOptions
from fairjudge.references.ports import ArticleBuilder, Builder

_THREAD = "judge"
_CHUNK = 64
"""Least tasks between two checkpoints; with many calls at once there are half as many as calls."""
_SYNC_SECONDS = 0.5
"""Least time between two waits for the disk: no more than this is lost with the power."""
_CALLS_PER_CLUSTER = 8
"""A cluster has about so many calls to make at once; with more places, others are built beside."""


async def judge_tasks(
    book: JudgementBook,
    *,
    judge: Judge,
    fallback: Judge | None,
    concurrency: int,
    progress: Callable[[int], None],
    sync: Callable[[], None] = lambda: None,
) -> None:
    """Judge the tasks of `book`, leaving out those that its run already holds.

    A killed run is first brought to its end. Then what earlier runs left unscored for a server's
    failure or a spent budget is asked again. ``sync`` forces cached replies to disk.
    """
    run = book.run

    def record(position: int, judgement: Judgement) -> None:
        book.record(position, judgement)
        progress(1)

    settled = time.monotonic()

    async def settle() -> None:
        nonlocal settled
        if time.monotonic() - settled >= _SYNC_SECONDS:
            settled = time.monotonic()
            await asyncio.to_thread(_call_each, sync, run.sync)

    chunk_size = max(_CHUNK, concurrency // 2)
    deps = JudgeDeps(
        tasks=book.tasks,
        judge=judge,
        fallback=fallback,
        record=record,
        is_done=book.is_done,
        settle=settle,
        chunk_size=chunk_size,
    )
    progress(book.n_done - book.n_retryable)
    limit = 2 * concurrency // chunk_size + 2  # enough that slow replies leave no place idle
    async with checkpoints(run) as saver:
        graph = build_judge_graph(checkpointer=saver)
        how: Any = {"thread": run.thread(_THREAD), "context": deps, "max_concurrency": limit}
        await resume(graph, **how)
        book.reopen_retryable()
        await start(graph, **how)
    _call_each(sync, run.sync)


def _call_each(*calls: Callable[[], None]) -> None:
    for call in calls:
        call()


async def build_references(
    book: BuildBook,
    *,
    builder: Builder | ArticleBuilder,
    options: SettledOptions,
    concurrency: int,
    progress: BuildProgress = SILENT,
) -> None:
    """Build the clusters that `book` lacks, several at once where `concurrency` leaves room.

    A cluster that lost answers to a server's failure or a spent budget is built anew by the next
    run of the same command; the cache makes the answers that it had free.
    """
    async with checkpoints(book.run) as saver:
        graph = graph_for(builder, checkpointer=saver)

        async def build(cluster: Cluster) -> None:
            thread = book.run.thread(f"{cluster.eid}#{book.n_attempts[cluster.eid]}")
            row = await build_one(
                graph,
                cluster,
                thread=thread,
                builder=builder,
                options=options,
                concurrency=concurrency,
                progress=progress.stages(cluster.eid),
            )
            book.record(row)
            await saver.adelete_thread(thread)  # its steps hold the articles over and over
            progress.end(cluster.eid)

        await _each(build, book.pending(), at_once=max(1, concurrency // _CALLS_PER_CLUSTER))


async def _each(
    work: Callable[[Cluster], Awaitable[None]], clusters: Iterable[Cluster], *, at_once: int
) -> None:
    """Do `work` on all, `at_once` at a time; where one fails, end the others and raise that."""
    left = iter(clusters)

    async def worker() -> None:
        for cluster in left:
            await work(cluster)

    workers = [asyncio.create_task(worker()) for _ in range(at_once)]
    try:
        await asyncio.gather(*workers)
    finally:
        for one in workers:
            one.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
