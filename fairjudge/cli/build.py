"""``fairjudge build``: references for clusters of articles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.app.building import BuildOptions
    from fairjudge.app.models import ModelOptions


def build_options(
    *,
    max_articles: Annotated[
        int, typer.Option(min=2, help="Articles kept: those that answer most questions.")
    ] = 10,
    questions: Annotated[
        int, typer.Option(min=1, help="Questions asked before any is filtered out.")
    ] = 20,
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
            help="Also count two questions as one when at least 80 % of the articles that answer "
            "them are the same (Discord Questions).",
        ),
    ] = False,
    consolidation: Annotated[
        Literal["embedding", "llm"],
        typer.Option(help="Who groups answers by meaning: sentence embeddings, or the LLM."),
    ] = "embedding",
    post_filter: Annotated[
        bool,
        typer.Option(
            help="Let the LLM drop answers that do not address their question, and questions whose "
            "answers do not differ. The local backend has none."
        ),
    ] = True,
) -> BuildOptions:
    """Return what shapes references."""
    from fairjudge.app.building import BuildOptions
    from fairjudge.references.steps import Validity

    return BuildOptions(
        max_articles=max_articles,
        n_questions=questions,
        validity=Validity(
            min_source_share=min_sources,
            max_largest_share=0.5 if consensus_filter else None,
            max_source_overlap=0.8 if merge_same_sources else None,
        ),
        consolidation=consolidation,
        post_filter=post_filter,
    )


@opt.taking(building=build_options, model=opt.models)
def build(
    clusters: Annotated[Path, typer.Argument(help="Clusters: JSON or JSONL, .gz too.")],
    output: opt.Output,
    *,
    backend: opt.Backend = "local",
    building: BuildOptions,
    embedding_model: opt.EmbeddingModel = None,
    run: opt.Run = None,
    engine: opt.Engine = "local",
    model: ModelOptions,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Build references: questions that sources answer differently, with who said what.

    The local backend needs no key and no LLM: it finds topics that many articles address, words
    them as questions, and quotes the articles. It knows wording, not truth: an LLM backend asks
    better questions, understands paraphrase, and filters what makes no sense.

        fairjudge build clusters.json -o refs.jsonl
        fairjudge build clusters.json -o refs.jsonl --backend openai:gpt-4o-mini
    """
    from fairjudge.app.building import build_file
    from fairjudge.cli import display, progress

    opt.check_targets(output, json_file)
    with progress.display(quiet=quiet) as shown:
        outcome = build_file(
            clusters,
            output,
            options=building,
            model=replace(
                model,
                backend=backend,
                embedding_model=embedding_model,
                engine=engine,
                on_retry=progress.retries(shown),
            ),
            run=run,
            skip_bad=skip_bad,
            progress=progress.BuildBars(shown),
        )
    display.built(outcome, output=output, json_file=json_file)
    display.finish(outcome.n_unusable, len(outcome.clusters), most=max_unscored, what="clusters")
    display.finish(outcome.n_failed, outcome.n_steps, most=max_unscored, what="steps")
