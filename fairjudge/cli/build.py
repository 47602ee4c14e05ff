"""``fairjudge build``: references for clusters of articles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.run.builders import BuildOptions
    from fairjudge.run.models import ModelOptions


def build_options(
    *,
    max_articles: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Articles kept: those that answer most questions. Default: all; with --pipeline "
            "paper and the local backend 10.",
        ),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Questions wanted (12): half as many again are asked, and those are kept that "
            "most articles answer. With --pipeline paper and the local backend, the questions "
            "asked before any is filtered out (20).",
        ),
    ] = None,
    min_sources: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Least share of sources that answer a question.")
    ] = 0.3,
    consensus_filter: Annotated[
        bool,
        typer.Option(
            "--consensus-filter",
            help="Also drop questions on which one group holds more than half of the answers "
            "(Discord Questions).",
        ),
    ] = False,
    merge_same_sources: Annotated[
        bool,
        typer.Option(
            "--merge-same-sources",
            help="Also drop a question when at least 80 % of the paragraphs that answer it answer "
            "another one (Discord Questions).",
        ),
    ] = False,
    pipeline: Annotated[
        Literal["article", "paper"],
        typer.Option(
            help="How an LLM builds: by one call an article for all questions and one a question "
            "for its groups, or by DiverseSumm's steps, one call for each question and article."
        ),
    ] = "article",
    context_tokens: Annotated[
        int,
        typer.Option(
            min=1,
            help="Questions are written on all articles where these take at most so many tokens, "
            "else on representative ones.",
        ),
    ] = 100_000,
    consolidation: Annotated[
        Literal["embedding", "llm"] | None,
        typer.Option(
            help="Who groups answers by meaning: the LLM, which then also names the invalid ones "
            "and labels the groups (default with an LLM), or sentence embeddings (default with "
            "--pipeline paper and the local backend)."
        ),
    ] = None,
    post_filter: Annotated[
        bool,
        typer.Option(
            help="With --pipeline paper: let the LLM drop answers that do not address their "
            "question, and questions whose answers do not differ."
        ),
    ] = True,
) -> BuildOptions:
    """Return what shapes references."""
    from fairjudge.references.steps import Validity
    from fairjudge.run.builders import BuildOptions

    return BuildOptions(
        max_articles=max_articles,
        n_questions=questions,
        validity=Validity(
            min_source_share=min_sources,
            max_largest_share=0.5 if consensus_filter else None,
            max_source_overlap=0.8 if merge_same_sources else None,
        ),
        pipeline=pipeline,
        context_tokens=context_tokens,
        consolidation=consolidation,
        post_filter=post_filter,
    )


@opt.taking(building=build_options, model=opt.one_model)
def build(
    clusters: Annotated[Path, typer.Argument(help="Clusters: JSON or JSONL, .gz too.")],
    output: opt.Output,
    *,
    building: BuildOptions,
    run: opt.Run = None,
    engine: opt.Engine = "local",
    model: ModelOptions,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Build references: questions that sources answer differently, with who said what.

    The local backend needs no key and no LLM: it turns clauses of the articles into questions, and
    keeps those that a trained reader finds answered in enough of them. It knows wording, not truth:
    an LLM backend asks better questions, understands paraphrase, and filters what makes no sense.

        fairjudge build clusters.json -o refs.jsonl
        fairjudge build clusters.json -o refs.jsonl --backend openai:gpt-4o-mini
    """
    from fairjudge.cli import display, progress
    from fairjudge.run.building import build_file

    opt.check_targets(output, json_file)
    with progress.display(quiet=quiet) as shown:
        outcome = build_file(
            clusters,
            output,
            options=building,
            model=replace(model, engine=engine, on_retry=progress.retries(shown)),
            run=run,
            skip_bad=skip_bad,
            progress=progress.BuildBars(shown),
        )
    display.built(outcome, output=output, json_file=json_file)
    display.finish(
        outcome.n_without_questions, len(outcome.clusters), limit=max_unscored, what=("cluster",)
    )
    display.finish(outcome.n_failed, outcome.n_steps, limit=max_unscored, what=("step",))
