"""``fairjudge summarize``: summarize clusters with an LLM."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model
from fairjudge.options.summarizing import SummarizeOptions


@opt.with_options(
    writing=opt.options_of(SummarizeOptions),
    model=opt.options_of(Model, without=("target", *opt.LOCAL)),
)
def summarize(
    clusters: opt.Clusters,
    output: opt.Output,
    *,
    backend: Annotated[
        str,
        Opt(
            "Model: PROVIDER:MODEL, such as openai:gpt-4o-mini. 'fairjudge backends list' lists "
            "the providers.",
            panel="Model",
        ),
    ],
    writing: SummarizeOptions,
    plan: opt.Plan = False,
    run: opt.Run = None,
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    r"""Summarize clusters with an LLM, for judging.

    Writes one summary per cluster, for 'fairjudge judge', and with --sweep one more per cluster and
    variant, whose fairness can be compared with 'fairjudge fairness compare'.

        fairjudge summarize clusters.json -o summaries.jsonl \
            --backend openai:gpt-4o-mini

        fairjudge summarize clusters.json -o summaries.jsonl \
            --backend openai:gpt-4o-mini --sweep temperature=0.5,1 \
            --sweep fair=party
    """
    from fairjudge.reports.next_commands import command_after_summaries
    from fairjudge.run.summaries import summarize_file

    opt.check_targets(output, json_file)
    model = replace(model, target=backend)
    if plan:
        from fairjudge.cli.plan import show_plan
        from fairjudge.run.planning import check_opens, plan_summaries

        check_opens(model)
        plans = plan_summaries(clusters, options=writing, model=model, skip_bad=skip_bad)
        show_plan(plans, model, json_file)
        return
    with display.bars(quiet=quiet) as progress_bars:
        outcome = summarize_file(
            clusters,
            output,
            options=writing,
            model=progress_bars.with_retry_bar(model),
            run=run,
            skip_bad=skip_bad,
            progress=progress_bars.counter("summarizing"),
        )
    display.show_summaries(outcome, output=output, json_file=json_file)
    display.say_next(command_after_summaries(clusters, output), output, json_file)
    n_failed = len(outcome.failed)
    n_all = n_failed + len(outcome.summaries)
    noun: display.Noun = ("summary", "summaries") if writing.sweeps else ("cluster",)
    display.finish(n_failed, n_all, limit=max_unscored, noun=noun)
