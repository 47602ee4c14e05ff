"""Building references for every cluster of a file."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fairjudge.app.builders import Consolidation, make_builder
from fairjudge.app.models import ModelOptions, Spent, open_models
from fairjudge.app.progress import SILENT, BuildProgress
from fairjudge.app.runs import (
    Run,
    bad_lines,
    check_writable,
    checkpoints,
    digest,
    noting_spent,
    open_run,
    resume,
    seldom_collecting,
    start,
)
from fairjudge.datasets import Loaded, read_clusters, why_not_buildable, write_records
from fairjudge.domain import Article, Cluster, Reference
from fairjudge.errors import InputError
from fairjudge.graphs.reference import Progress, ReferenceDeps, build_reference_graph
from fairjudge.records import own_rows
from fairjudge.references.ports import Builder
from fairjudge.references.steps import Validity
from fairjudge.references.usable import Skipped, usable

_ROWS = "references"
_PASSING = re.compile(r": (?:backend|budget): ")
"""Problems that another try may not have."""
_CALLS_A_CLUSTER = 8
"""A cluster has about so many calls to make at once; with more places, others are built beside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What shapes references, whoever builds them; see the help of ``fairjudge build``."""

    max_articles: int = 10
    n_questions: int = 20
    validity: Validity = field(default_factory=Validity)
    consolidation: Consolidation = "embedding"
    post_filter: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """One cluster's outcome.

    ``skipped`` names the articles that took no part, with the reason; ``why_none`` says why there
    is no question, where there is none; ``unusable``: its articles allow none; ``problems`` are
    failed calls.
    """

    reference: Reference
    n_articles: int
    skipped: tuple[tuple[str, str], ...]
    dropped: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]
    n_steps: int
    why_none: str | None
    unusable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOutcome:
    """What ``fairjudge build`` did. ``n_failed`` of ``n_steps`` model steps gave nothing."""

    clusters: tuple[Built, ...]
    bad_lines: tuple[str, ...]
    spent: Spent | None
    signature: str
    run: Path | str

    @property
    def n_unusable(self) -> int:
        """How many clusters have too few articles with news."""
        return sum(built.unusable for built in self.clusters)

    @property
    def n_failed(self) -> int:
        """How many model steps gave nothing."""
        return sum(len(built.problems) for built in self.clusters)

    @property
    def n_steps(self) -> int:
        """How many model steps there were."""
        return sum(built.n_steps for built in self.clusters)


def build_file(
    path: Path,
    output: Path,
    *,
    options: BuildOptions,
    model: ModelOptions,
    run: Path | None,
    skip_bad: bool,
    progress: BuildProgress = SILENT,
) -> BuildOutcome:
    """Build references for the clusters in `path` and write them to `output`.

    Raises
    ------
    FairJudgeError
        If the file, the backend or the run folder cannot be used. Items that fail are outcomes.
    """
    loaded = read_clusters(path, skip_bad=skip_bad)
    check_writable(output)
    _check_any_usable(loaded)
    return asyncio.run(
        _build_file(loaded, output, options=options, model=model, run_folder=run, progress=progress)
    )


async def _build_file(
    loaded: Loaded[Cluster],
    output: Path,
    *,
    options: BuildOptions,
    model: ModelOptions,
    run_folder: Path | None,
    progress: BuildProgress,
) -> BuildOutcome:
    identity = {
        "options": asdict(options),
        "model": model.identity(),
        "clusters": digest(loaded.records),
    }
    opened = open_run(
        run_folder,
        cache_folder=model.cache_folder,
        command="build",
        identity=identity,
        store=model.store,
    )
    async with open_models(model) as models:
        builder = make_builder(
            models, consolidation=options.consolidation, post_filter=options.post_filter
        )
        with opened as run:
            if model.engine == "ray":
                built, spent = _build_on_cluster(
                    loaded, options=options, model=model, run=run, progress=progress
                )
            else:
                with noting_spent(run, models.spent), seldom_collecting():
                    built = await build_references(
                        loaded.records,
                        builder=builder,
                        options=options,
                        run=run,
                        concurrency=model.concurrency,
                        progress=progress,
                    )
                spent = models.spent()
        write_records(output, [one.reference for one in built])
        return BuildOutcome(
            clusters=built,
            bad_lines=bad_lines(loaded),
            spent=spent,
            signature=builder.signature,
            run=run.shown,
        )


def _build_on_cluster(
    loaded: Loaded[Cluster],
    *,
    options: BuildOptions,
    model: ModelOptions,
    run: Run,
    progress: BuildProgress,
) -> tuple[tuple[Built, ...], Spent | None]:
    from fairjudge.app.ray_runs import build_on_cluster

    rows, _ = _kept(run)
    _begin(progress, loaded.records, rows)

    def keep(eid: str, row: dict[str, Any]) -> None:
        run.append(_ROWS, row)
        rows[eid] = row
        progress.end(eid)

    pending = [cluster for cluster in loaded if cluster.eid not in rows]
    spent = build_on_cluster(pending, options=options, model=model, run=run, done=keep)
    return _all_built(loaded.records, rows, run), spent


def _kept(run: Run) -> tuple[dict[str, dict[str, Any]], Counter[str]]:
    """Return the rows of clusters that are done, and how often each was begun."""
    with own_rows(run.shown):
        rows = list(run.read(_ROWS))
        done = {row["eid"]: row for row in rows if not row["retry"]}
        return done, Counter(row["eid"] for row in rows)


def _begin(progress: BuildProgress, clusters: Sequence[Cluster], done: Collection[str]) -> None:
    progress.begin(len(clusters))
    for cluster in clusters:
        if cluster.eid in done:
            progress.end(cluster.eid)


def _all_built(
    clusters: Sequence[Cluster], rows: Mapping[str, dict[str, Any]], run: Run
) -> tuple[Built, ...]:
    with own_rows(run.shown):
        return tuple(_built(rows[cluster.eid], cluster) for cluster in clusters)


async def build_references(
    clusters: Sequence[Cluster],
    *,
    builder: Builder,
    options: BuildOptions,
    run: Run,
    concurrency: int,
    progress: BuildProgress = SILENT,
) -> tuple[Built, ...]:
    """Build the clusters, several at once where `concurrency` leaves room; in their order.

    What the run already holds is not built again. A cluster that lost answers to a server's failure
    or a spent budget is built anew by the next run of the same command; the cache makes the answers
    that it had free.
    """
    rows, attempts = _kept(run)
    _begin(progress, clusters, rows)
    async with checkpoints(run) as saver:
        graph = build_reference_graph(checkpointer=saver)

        async def build(cluster: Cluster) -> None:
            thread = run.thread(f"{cluster.eid}#{attempts[cluster.eid]}")
            row = await build_one(
                graph,
                cluster,
                thread=thread,
                builder=builder,
                options=options,
                concurrency=concurrency,
                progress=progress.stages(cluster.eid),
            )
            run.append(_ROWS, row)
            rows[cluster.eid] = row
            await saver.adelete_thread(thread)  # its steps hold the articles over and over
            progress.end(cluster.eid)

        pending = [cluster for cluster in clusters if cluster.eid not in rows]
        await _each(build, pending, at_once=max(1, concurrency // _CALLS_A_CLUSTER))
    return _all_built(clusters, rows, run)


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


def _taking_part(
    cluster: Cluster,
) -> tuple[tuple[Article, ...], tuple[Skipped, ...], str | None]:
    """Return the articles that hold news, the others, and why no reference can be built of them."""
    articles, skipped = usable(cluster.articles)
    why = why_not_buildable(cluster)
    if why is None and len(articles) < 2:
        n_all = len(cluster.articles)
        why = f"cluster {cluster.eid!r}: {len(articles)} of {n_all} articles holds news enough"
    return articles, skipped, why


def _check_any_usable(loaded: Loaded[Cluster]) -> None:
    """Refuse a file of which nothing can be built."""
    whys = []
    for cluster in loaded:
        *_, why = _taking_part(cluster)
        if why is None:
            return
        whys.append(why)
    raise InputError(
        whys[0] + (f"; nor can any of the other {len(whys) - 1}" if whys[1:] else ""),
        path=loaded.path,
        line=loaded.lines[0],
        field="articles",
    )


async def build_one(
    graph: Any,
    cluster: Cluster,
    *,
    builder: Builder,
    options: BuildOptions,
    concurrency: int,
    thread: str = "build",
    progress: Progress = lambda _stage, _done: None,
) -> dict[str, Any]:
    """Return the record of one cluster's build: JSON, as the run folder keeps it.

    Where `graph` has a checkpointer, what it holds of `thread` is brought to its end.
    """
    articles, skipped, why = _taking_part(cluster)
    row: dict[str, Any] = {
        "eid": cluster.eid,
        "skipped": [[one.aid, one.reason] for one in skipped],
        "retry": False,
    }
    if why is not None:
        return row | {"why_none": why, "kept_aids": [], "unusable": True}
    deps = ReferenceDeps(
        articles=articles,
        builder=builder,
        validity=options.validity,
        max_articles=options.max_articles,
        n_questions=options.n_questions,
        progress=progress,
    )
    how: dict[str, Any] = {"thread": thread, "context": deps, "max_concurrency": concurrency}
    state = await resume(graph, **how) if graph.checkpointer else None
    state = state or await start(graph, **how)
    questions = state["question_answers"]
    return row | {
        "kept_aids": state["kept_aids"],
        "question_answers": questions,
        "dropped": state["dropped"],
        "n_steps": state["n_steps"],
        "problems": state["problems"],
        "retry": any(_PASSING.search(problem) for problem in state["problems"]),
        "signature": builder.signature,
        "why_none": None if questions else "no valid question was left",
    }


def _built(row: dict[str, Any], cluster: Cluster) -> Built:
    """Join a build's record with its cluster's articles."""
    kept = frozenset(row["kept_aids"])
    articles = [article for article in cluster.articles if article.aid in kept]
    whole = cluster.to_json()
    whole["articles"] = [article.to_json() for article in articles or cluster.articles]
    whole["question_answers"] = row.get("question_answers", [])
    whole["meta"] = {
        "signature": row.get("signature", ""),
        "skipped_articles": [{"aid": aid, "why": why} for aid, why in row["skipped"]],
        **({"why_no_questions": row["why_none"]} if row["why_none"] else {}),
    }
    return Built(
        reference=Reference.model_validate(whole),
        n_articles=len(cluster.articles),
        skipped=tuple((aid, why) for aid, why in row["skipped"]),
        dropped=tuple((d["question"], d["why"]) for d in row.get("dropped", [])),
        problems=tuple(row.get("problems", [])),
        n_steps=row.get("n_steps", 0),
        why_none=row["why_none"],
        unusable=row.get("unusable", False),
    )
