"""``fairjudge summarize``: summaries of clusters by an LLM."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fairjudge.cli import options as opt


def summarize(
    clusters: Annotated[Path, typer.Argument(help="Clusters: JSON or JSONL, .gz too.")],
    output: opt.Output,
    *,
    backend: Annotated[
        str, typer.Option(help="Who writes: provider:model. 'fairjudge backends' lists providers.")
    ],
    strategy: Annotated[
        Literal["direct", "extract"],
        typer.Option(
            help="All articles in one prompt, or salient sentences of each article first, for "
            "models with a short context."
        ),
    ] = "direct",
    fair: Annotated[
        str | None,
        typer.Option(
            metavar="ATTR",
            help="Ask for room in proportion for every value of this article attribute.",
        ),
    ] = None,
    sentences: Annotated[
        int | None, typer.Option(min=1, help="Wanted length in sentences.")
    ] = None,
    words: Annotated[int | None, typer.Option(min=1, help="Wanted length in words.")] = None,
    temperature: Annotated[float, typer.Option(min=0.0, max=2.0)] = 0.0,
    system: Annotated[
        str | None, typer.Option(help="Name of the resulting system; by default model-strategy.")
    ] = None,
    run: opt.Run = None,
    cache: opt.CacheDir = None,
    store: opt.Store = None,
    concurrency: opt.Concurrency = 8,
    base_url: opt.BaseUrl = None,
    seed: opt.Seed = None,
    max_cost: opt.MaxCost = None,
    max_calls: opt.MaxCalls = None,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    r"""Summarize clusters with an LLM, for judging.

    One summary a cluster; 'fairjudge judge' reads them, and tells systems apart by --system.

        fairjudge summarize clusters.json -o summaries.jsonl \
            --backend openai:gpt-4o-mini
    """
    from fairjudge.app.models import ModelOptions
    from fairjudge.app.summaries import SummarizeOptions, summarize_file
    from fairjudge.cli import display, progress
    from fairjudge.summarizing import Wishes

    opt.check_targets(output, json_file)
    with progress.display(quiet=quiet) as shown:
        outcome = summarize_file(
            clusters,
            output,
            options=SummarizeOptions(
                strategy=strategy,
                wishes=Wishes(fair_attribute=fair, n_sentences=sentences, n_words=words),
                temperature=temperature,
                system=system,
            ),
            model=ModelOptions(
                backend=backend,
                base_url=base_url,
                cache=cache,
                store=opt.store_address(store),
                concurrency=concurrency,
                seed=seed,
                max_cost=max_cost,
                max_calls=max_calls,
            ),
            run=run,
            skip_bad=skip_bad,
            progress=lambda total: progress.counter(shown, "summarizing", total=total),
        )
    display.summarized(outcome, output=output, json_file=json_file)
    n_failed = len(outcome.failed)
    n_all = n_failed + len(outcome.summaries)
    display.finish(n_failed, n_all, most=max_unscored, what="clusters")
