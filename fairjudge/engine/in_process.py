"""The in-process engine: LangGraph graphs with the run's checkpoints."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from fairjudge.domain import Cluster, Judgement
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
"""Minimum of tasks between two checkpoints; from 128 concurrent calls on, half their number."""
_SYNC_SECONDS = 0.5
"""Minimum time between two syncs to disk; a power cut loses at most this much."""
_CALLS_PER_CLUSTER = 8
"""Typical number of concurrent calls of a cluster; with more places, several are built at once."""


async def judge_tasks(
    book: JudgementBook,
    *,
    judge: Judge,
    fallback: Judge | None,
    concurrency: int,
    progress: Callable[[int], None],
    sync: Callable[[], None] = lambda: None,
) -> None:
    """Judge the tasks of `book` that its run does not hold yet.

    A killed run is resumed first. Then tasks that earlier starts left unscored because of a server
    error or an exhausted budget are tried again. ``sync`` forces cached replies to disk.
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
    """Build the pending clusters of `book`, several at once where `concurrency` leaves room.

    A cluster that lost answers to a server error or an exhausted budget is rebuilt by the
    next run of the same command, with its earlier answers from the cache.
    """
    # Not above: it imports SciPy's clustering, which judging does not need.
    from fairjudge.engine.build_work import build_one, graph_for

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
            await saver.adelete_thread(thread)  # every step stores the articles once more
            progress.end(cluster.eid)

        await _each(build, book.pending(), at_once=max(1, concurrency // _CALLS_PER_CLUSTER))


async def _each(
    work: Callable[[Cluster], Awaitable[None]], clusters: Iterable[Cluster], *, at_once: int
) -> None:
    """Await `work` on all `clusters`, `at_once` at a time; the first error cancels the others."""
    queue = iter(clusters)

    async def worker() -> None:
        for cluster in queue:
            await work(cluster)

    workers = [asyncio.create_task(worker()) for _ in range(at_once)]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
