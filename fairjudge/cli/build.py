"""``fairjudge build``: build references from clusters of articles."""

from __future__ import annotations

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.options.building import BuildOptions
from fairjudge.options.models import Model


@opt.with_options(
    building=opt.options_of(BuildOptions),
    model=opt.options_of(Model, without=("entailment_model",)),
)
def build(
    clusters: opt.Clusters,
    output: opt.Output,
    *,
    building: BuildOptions,
    run: opt.Run = None,
    plan: opt.Plan = False,
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Build references: questions that sources answer differently, with each source's answers.

    The local backend needs no API key and no LLM. It finds points instead of questions: equivalent
    statements of several articles with their speakers, grouped by topic. Of disagreements it only
    finds numbers; an LLM backend also finds other disagreements and paraphrased answers.

        fairjudge build clusters.json -o refs.jsonl
        fairjudge build clusters.json -o refs.jsonl --backend openai:gpt-4o-mini
    """
    from fairjudge.reports.next_commands import command_after_build
    from fairjudge.run.building import build_file

    opt.check_targets(output, json_file)
    opt.check_local("build", model)
    if plan:
        from fairjudge.cli.plan import show_plan
        from fairjudge.run.planning import check_opens, plan_building

        check_opens(model)
        plans, _ = plan_building(clusters, options=building, model=model, skip_bad=skip_bad)
        show_plan(plans, model, json_file)
        return
    with display.bars(quiet=quiet) as progress_bars:
        outcome = build_file(
            clusters,
            output,
            options=building,
            model=progress_bars.with_retry_bar(model),
            run=run,
            skip_bad=skip_bad,
            progress=progress_bars,
        )
    display.show_build(outcome, output=output, json_file=json_file)
    if outcome.n_without_questions < len(outcome.clusters):
        display.say_next(command_after_build(output), output, json_file)
    display.finish(
        outcome.n_without_questions, len(outcome.clusters), limit=max_unscored, noun=("cluster",)
    )
    display.finish(outcome.n_failed, outcome.n_steps, limit=max_unscored, noun=("step",))
