"""``fairjudge judge``: judge summaries."""

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


@opt.with_options(given=opt.fields_of(JudgeOptions, several={"aspect": "Several with --together."}))
def judge_options(
    *,
    together: Annotated[
        bool,
        Opt(
            "Judge several aspects by one call an item (likert, binary): fewer tokens, "
            "verdicts that may influence one another; 'fairjudge compare' measures how much.",
            panel="Judging",
        ),
    ] = False,
    given: dict[str, Any],
    criterion: Annotated[
        list[Path] | None,
        Opt(
            "Your own criterion (TOML): aspect, and its rule or paths of its prompt and scale; "
            "several with --together.",
            panel="Judging",
        ),
    ] = None,
    cascade: Annotated[
        Path | None,
        Opt(
            "What 'fairjudge calibrate cascade' wrote: a local scorer judges first, and the LLM "
            "only where the scorer is unsure. With --guarantee, the judge of the labelled run "
            "judges first, and --backend where that judge is unsure.",
            panel="Judging",
        ),
    ] = None,
) -> JudgeOptions | None:
    """Return the options of the judge; None without an aspect."""
    from fairjudge.judges.cascades import read_cascade
    from fairjudge.judges.criterion_files import read_criterion_file
    from fairjudge.scales import load_scale

    aspects = list(given.pop("aspect"))
    own = [read_criterion_file(path) for path in criterion or ()]
    if not together and (len(aspects) > 1 or len(own) > 1):
        raise typer.BadParameter("several aspects need --together, or a run of 'judge' each")
    if own and not together:
        aspects = aspects or [own[0].aspect]
        given |= {name: given[name] or value for name, value in own[0].single_options.items()}
    if own and not given["protocol"]:
        scale = given["scale"]
        given["protocol"] = load_scale(scale).protocol if scale else own[0].protocol
    asked_aspects = (
        *(AskedAspect(aspect=name) for name in aspects),
        *(AskedAspect(aspect=each.aspect, rule=each.rule, scale=each.scale) for each in own),
    )
    if not asked_aspects:
        return None
    return JudgeOptions(
        aspect=asked_aspects[0].aspect,
        together=asked_aspects if together else (),
        cascade=None if cascade is None else read_cascade(cascade),
        **given,
    )


NO_ASPECT = "give --aspect, or a --criterion that names one"


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

    Coverage asks how much of the reference answers a summary conveys; faithfulness, how well the
    articles support it; balance, how well it covers its least covered sources (with an LLM: whether
    all sides get fair room). Relevance, coherence, fluency and consistency are SummEval's, quality
    is the overall quality. Pairwise judging shows every pair in both orders; a summary wins where
    both verdicts prefer it.

    The local backend measures support by small trained models. It is quick and free, marks every
    record (scored_by: embedding), and is a weak judge: see docs/local.md for its accuracy.
    Calibrate any judge before you trust it.

        fairjudge judge --references refs.jsonl --summaries s.jsonl \
            --aspect coverage --protocol likert -o judgements.jsonl

    --plan estimates the cost of a run. --limit 20 tries the first 20 items; the same command
    without it then sends requests only for the rest.
    """
    from fairjudge.run.judged import judge_report
    from fairjudge.run.jury import judge_files
    from fairjudge.run.labels_beside import next_of_judging

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
    following = next_of_judging(references, summaries, output, judging)
    display.say_next(following, output, json_file)
    display.finish_judging(outcome.missing, limit=max_unscored)


def _say_note(
    references: Path, summaries: Sequence[Path], judging: JudgeOptions, json_file: str | None
) -> None:
    """Say where labels beside the data can never show that the judge ranks systems."""
    from fairjudge.run.labels_beside import note_on_labels

    if json_file != "-" and (note := note_on_labels(references, summaries, judging)):
        say(f"Note: {note}")
