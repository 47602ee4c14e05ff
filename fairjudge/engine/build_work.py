"""Build the reference of one cluster, in this process or in a Ray worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from fairjudge.backends.token_counts import count_tokens
from fairjudge.datasets import Loaded, why_not_buildable
from fairjudge.domain import Article, Cluster
from fairjudge.engine.built import n_by_reason
from fairjudge.engine.runs import resume, start
from fairjudge.errors import InputError
from fairjudge.graphs.by_article import ArticleDeps, build_article_graph
from fairjudge.graphs.reference import Progress, ReferenceDeps, build_reference_graph
from fairjudge.options.building import PAPER_ARTICLES, PAPER_QUESTIONS, ResolvedBuildOptions
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.references.local import LocalReferences
from fairjudge.references.points import has_copies
from fairjudge.references.ports import ArticleBuilder, Builder
from fairjudge.text.counting import pluralize
from fairjudge.text.usable import Skipped, usable

_NO_QUESTION = (
    "no valid question was left; use more articles, a lower --min-sources, or a --backend that "
    "asks better questions"
)
_COPIES = (
    "no valid question was left: statements with identical wording are excluded as copies, and the "
    "local model found no other equivalent statements with certainty; use an LLM "
    "(--backend provider:model)"
)
_NO_POINT = (
    "no valid question was left: the local model found too few equivalent statements with "
    "certainty; use an LLM (--backend provider:model)"
)


def select_articles(
    cluster: Cluster,
) -> tuple[tuple[Article, ...], tuple[Skipped, ...], str | None]:
    """Return the usable articles, the skipped ones, and why no reference can be built, or None."""
    articles, skipped = usable(cluster.articles)
    reason = why_not_buildable(cluster)
    if reason is None and len(articles) < 2:
        n_all = pluralize(len(cluster.articles), "article")
        reason = f"cluster {cluster.eid!r}: {len(articles)} of {n_all} with enough text"
    return articles, skipped, reason


def check_any_usable(clusters: Loaded[Cluster]) -> None:
    """Raise `InputError` if a reference can be built for none of the clusters of a file."""
    reasons = []
    for cluster in clusters:
        *_, reason = select_articles(cluster)
        if reason is None:
            return
        reasons.append(reason)
    raise InputError(
        reasons[0]
        + (f"; the other {len(reasons) - 1} are not usable either" if reasons[1:] else ""),
        path=clusters.path,
        line=clusters.lines[0],
        field="articles",
    )


def graph_for(
    builder: Builder | ArticleBuilder, *, checkpointer: Checkpointer = None
) -> CompiledStateGraph[Any, Any]:
    """Return the LangGraph graph for the kind of `builder`."""
    if isinstance(builder, ArticleBuilder):
        return build_article_graph(checkpointer=checkpointer)
    return build_reference_graph(checkpointer=checkpointer)


def _deps(
    builder: Builder | ArticleBuilder,
    articles: tuple[Article, ...],
    options: ResolvedBuildOptions,
    progress: Progress,
) -> ArticleDeps | ReferenceDeps:
    if isinstance(builder, Builder):
        return ReferenceDeps(
            articles=articles,
            builder=builder,
            validity=options.validity,
            max_articles=options.max_articles or PAPER_ARTICLES,
            n_questions=options.n_questions or PAPER_QUESTIONS,
            progress=progress,
        )
    n_tokens = sum(count_tokens(f"{article.title}\n\n{article.content}") for article in articles)
    return ArticleDeps(
        articles=articles,
        builder=builder,
        validity=options.validity,
        max_articles=options.max_articles,
        n_questions=options.n_questions,
        facets=options.facets,
        n_parts=-(-n_tokens // options.context_tokens),
        progress=progress,
    )


def _reason_without_questions(
    builder: Builder | ArticleBuilder, articles: Sequence[Article]
) -> str:
    if not isinstance(builder, Builder) or not isinstance(builder.writer, LocalReferences):
        return _NO_QUESTION
    return _COPIES if has_copies(articles) else _NO_POINT


async def build_cluster(
    graph: Any,
    cluster: Cluster,
    *,
    builder: Builder | ArticleBuilder,
    options: ResolvedBuildOptions,
    concurrency: int,
    thread: str = "build",
    progress: Progress = lambda _stage, _done: None,
) -> dict[str, Any]:
    """Build one cluster and return its record, as JSON for the run folder.

    If `graph` has a checkpointer, an interrupted build under `thread` is resumed.
    """
    articles, skipped, reason = select_articles(cluster)
    row: dict[str, Any] = {
        "eid": cluster.eid,
        "skipped": [[article.aid, article.reason] for article in skipped],
        "retry": False,
    }
    if reason is not None:
        return row | {"why_none": reason, "kept_aids": []}
    deps = _deps(builder, articles, options, progress)
    run_options: dict[str, Any] = {
        "thread": thread,
        "context": deps,
        "max_concurrency": concurrency,
    }
    state = await resume(graph, **run_options) if graph.checkpointer else None
    state = state or await start(graph, **run_options)
    questions = state["question_answers"]
    return row | {
        "kept_aids": state["kept_aids"],
        "question_answers": questions,
        "dropped": state["dropped"],
        "dropped_answers": n_by_reason(state.get("dropped_answers", ())),
        **({"doubtful": state["doubtful"]} if state.get("doubtful") else {}),
        "n_steps": state["n_steps"],
        "problems": [problem["text"] for problem in state["problems"]],
        "retry": any(problem["reason"] in RETRYABLE for problem in state["problems"]),
        "signature": builder.signature,
        "why_none": None if questions else _reason_without_questions(builder, articles),
    }
