"""``fairjudge judge``: judge summaries and rank systems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fairjudge.cli import display, judge_display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say
from fairjudge.judges.asking import AskedAspect
from fairjudge.options.declaring import Opt
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model


@opt.with_options(
    options=opt.fields_of(JudgeOptions, repeatable={"aspect": "Repeatable with --together."})
)
def judge_options(
    *,
    together: Annotated[
        bool,
        Opt(
            "Judge several aspects in one call per item (likert, binary): needs fewer tokens, but "
            "verdicts may influence one another ('fairjudge compare' measures how much).",
            panel="Judging",
        ),
    ] = False,
    options: dict[str, Any],
    criterion: Annotated[
        list[Path] | None,
        Opt(
            "Your own criterion (TOML): aspect, and a rule or paths of a prompt and a scale. "
            "Repeatable with --together.",
            panel="Judging",
        ),
    ] = None,
    cascade: Annotated[
        Path | None,
        Opt(
            "Thresholds written by 'fairjudge calibrate cascade': a local scorer judges first, and "
            "the LLM only items on which the scorer is uncertain. If written with --guarantee, the "
            "judge of the labelled run judges first, and --backend the uncertain items.",
            panel="Judging",
        ),
    ] = None,
) -> JudgeOptions | None:
    """Return the options of the judge; None without an aspect."""
    from fairjudge.judges.cascades import read_cascade
    from fairjudge.judges.criterion_files import read_criterion_file
    from fairjudge.scales import load_scale

    aspects = list(options.pop("aspect"))
    criteria = [read_criterion_file(path) for path in criterion or ()]
    if not together and (len(aspects) > 1 or len(criteria) > 1):
        raise typer.BadParameter("several aspects need --together, or separate runs of 'judge'")
    if criteria and not together:
        aspects = aspects or [criteria[0].aspect]
        options |= {
            name: options[name] or value for name, value in criteria[0].single_options.items()
        }
    if criteria and not options["protocol"]:
        scale = options["scale"]
        options["protocol"] = load_scale(scale).protocol if scale else criteria[0].protocol
    asked_aspects = (
        *(AskedAspect(aspect=name) for name in aspects),
        *(AskedAspect(aspect=row.aspect, rule=row.rule, scale=row.scale) for row in criteria),
    )
    if not asked_aspects:
        return None
    return JudgeOptions(
        aspect=asked_aspects[0].aspect,
        together=asked_aspects if together else (),
        cascade=None if cascade is None else read_cascade(cascade),
        **options,
    )


NO_ASPECT = "pass --aspect, or a --criterion that sets it"


@opt.with_options(judging=judge_options, models=opt.judges)
def judge(
    *,
    references: opt.References,
    summaries: opt.Summaries,
    output: opt.Output,
    judging: JudgeOptions | None,
    models: Sequence[Model],
    jury: opt.Jury = "mean",
    limit: opt.Limit = None,
    plan: opt.Plan = False,
    run: opt.Run = None,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    r"""Judge summaries and rank the systems that wrote them.

    Aspects: coverage is the share of the reference answers that a summary conveys; faithfulness,
    how well the articles support it; balance, how well it covers its least covered sources (with an
    LLM: whether all sides get fair space). docs/judges.md defines the other aspects. Pairwise
    judging uses both orders of every pair; a summary wins if both verdicts prefer it.

    The local backend measures support with small trained models. It is fast and free, but a weak
    judge: see docs/local.md for its accuracy. Its records are marked (scored_by: embedding).
    Calibrate any judge before you rely on it.

        fairjudge judge --references refs.jsonl --summaries s.jsonl \
            --aspect coverage --protocol likert -o judgements.jsonl

    --plan estimates the cost of a run. --limit 20 judges only the first 20 items; rerun the command
    without it to judge the rest.
    """
    from fairjudge.run.judged import judge_report
    from fairjudge.run.jury import judge_files
    from fairjudge.run.label_notes import next_of_judging

    if judging is None:
        raise typer.BadParameter(NO_ASPECT)
    opt.check_targets(output, json_file)
    opt.check_local("judge", *models)
    if plan:
        from fairjudge.cli.plan import show_plan
        from fairjudge.run.planning import check_opens, plan_judging

        check_opens(*models)
        plans = plan_judging(
            references, summaries, options=judging, models=models, skip_bad=skip_bad, limit=limit
        )
        _say_note(references, summaries, judging, json_file)
        show_plan(plans, models[0], json_file)
        return
    with display.bars(quiet=quiet) as progress_bars:
        outcome = judge_files(
            references,
            summaries,
            output,
            options=judging,
            models=[progress_bars.with_retry_bar(model) for model in models],
            rule=jury,
            run=run,
            skip_bad=skip_bad,
            limit=limit,
            progress=progress_bars.counter("judging"),
        )
    report = judge_report(outcome, judging)
    judge_display.show_judged(report, output=output, json_file=json_file)
    if str(output) != "-":
        _say_note(references, summaries, judging, json_file)
    next_command = next_of_judging(references, summaries, output, judging)
    display.say_next(next_command, output, json_file)
    display.finish_judging(outcome.missing, limit=max_unscored)


def _say_note(
    references: Path, summaries: Sequence[Path], judging: JudgeOptions, json_file: str | None
) -> None:
    """Print a note if the labels in the data's folder cannot validate the ranking of systems."""
    from fairjudge.run.label_notes import note_on_labels

    if json_file != "-" and (note := note_on_labels(references, summaries, judging)):
        say(f"Note: {note}")
