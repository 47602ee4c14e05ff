"""``fairjudge summarize``: summaries of clusters by an LLM."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.run.models import ModelOptions


@opt.taking(model=opt.models)
def summarize(
    clusters: Annotated[Path, typer.Argument(help="Clusters: JSON or JSONL, .gz too.")],
    output: opt.Output,
    *,
    backend: Annotated[
        str, typer.Option(help="Who writes: provider:model. 'fairjudge backends' lists providers.")
    ],
    strategy: Annotated[
        Literal["direct", "extract", "differences"],
        typer.Option(
            help="All articles in one prompt; salient sentences of each article first, for models "
            "with a short context; or, as DiverseSumm asks, only what the articles say differently."
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
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V,V",
            help="Also write variants that differ in one thing: temperature=0.5,1, sentences=1,5, "
            "words=50 or fair=ATTR (none: without it). May be given several times. Each is a "
            "system of its own, called SYSTEM+NAME=V.",
        ),
    ] = None,
    system: Annotated[
        str | None, typer.Option(help="Name of the resulting system; by default model-strategy.")
    ] = None,
    run: opt.Run = None,
    model: ModelOptions,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    r"""Summarize clusters with an LLM, for judging.

    One summary a cluster; 'fairjudge judge' reads them, and tells systems apart by --system. With
    --sweep there is one more a cluster for each variant; 'fairjudge fairness compare' says what
    each did to fairness.

        fairjudge summarize clusters.json -o summaries.jsonl \
            --backend openai:gpt-4o-mini

        fairjudge summarize clusters.json -o summaries.jsonl \
            --backend openai:gpt-4o-mini --sweep temperature=0.5,1 \
            --sweep fair=party
    """
    from fairjudge.cli import display, progress
    from fairjudge.run.summaries import SummarizeOptions, summarize_file
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
                sweeps=tuple(sweep or ()),
            ),
            model=replace(model, backend=backend, on_retry=progress.retries(shown)),
            run=run,
            skip_bad=skip_bad,
            progress=lambda total: progress.counter(shown, "summarizing", total=total),
        )
    display.summarized(outcome, output=output, json_file=json_file)
    n_failed = len(outcome.failed)
    n_all = n_failed + len(outcome.summaries)
    what: display.Noun = ("summary", "summaries") if sweep else ("cluster",)
    display.finish(n_failed, n_all, limit=max_unscored, what=what)
