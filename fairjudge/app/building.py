"""Building references for every cluster of a file."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fairjudge.app.builders import Consolidation, make_builder
from fairjudge.app.models import ModelOptions, Spent, open_models
from fairjudge.app.runs import (
    Run,
    bad_lines,
    check_writable,
    checkpoints,
    digest,
    noting_spent,
    open_run,
    resume,
    start,
)
from fairjudge.datasets import Loaded, read_clusters, why_not_buildable, write_records
from fairjudge.domain import Article, Cluster, Reference
from fairjudge.errors import InputError
from fairjudge.graphs.reference import Progress, ReferenceDeps, build_reference_graph
from fairjudge.references.ports import Builder
from fairjudge.references.steps import Validity
from fairjudge.references.usable import Skipped, usable

_ROWS = "references"
_PASSING = re.compile(r": (?:backend|budget): ")
"""Problems that another try may not have."""


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
    progress: Callable[[str], Progress],
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
    progress: Callable[[str], Progress],
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
                built, spent = _build_on_cluster(loaded, options=options, model=model, run=run)
            else:
                with noting_spent(run, models.spent):
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
    loaded: Loaded[Cluster], *, options: BuildOptions, model: ModelOptions, run: Run
) -> tuple[tuple[Built, ...], Spent | None]:
    from fairjudge.app.ray_runs import build_on_cluster

    rows = {row["eid"]: row for row in run.read(_ROWS) if not row["retry"]}

    def keep(eid: str, row: dict[str, Any]) -> None:
        run.append(_ROWS, row)
        rows[eid] = row

    pending = [cluster for cluster in loaded if cluster.eid not in rows]
    spent = build_on_cluster(pending, options=options, model=model, run=run, done=keep)
    return tuple(_built(rows[cluster.eid], cluster) for cluster in loaded), spent


async def build_references(
    clusters: Iterable[Cluster],
    *,
    builder: Builder,
    options: BuildOptions,
    run: Run,
    concurrency: int,
    progress: Callable[[str], Progress],
) -> tuple[Built, ...]:
    """Build one cluster after the other; what the run already holds is not built again.

    A cluster that lost answers to a server's failure or a spent budget is built anew by the next
    run of the same command; the cache makes the answers that it had free.

    Parameters
    ----------
    progress
        Called with an ``eid``; returns what the graph reports its steps to.
    """
    rows = list(run.read(_ROWS))
    attempts = Counter(row["eid"] for row in rows)
    before = {row["eid"]: row for row in rows if not row["retry"]}
    outcomes = []
    async with checkpoints(run) as saver:
        graph = build_reference_graph(checkpointer=saver)
        for cluster in clusters:
            if cluster.eid not in before:
                row = await build_one(
                    graph,
                    cluster,
                    thread=run.thread(f"{cluster.eid}#{attempts[cluster.eid]}"),
                    builder=builder,
                    options=options,
                    concurrency=concurrency,
                    progress=progress(cluster.eid),
                )
                run.append(_ROWS, row)
                before[cluster.eid] = row
            outcomes.append(_built(before[cluster.eid], cluster))
    return tuple(outcomes)


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
