"""``fairjudge calibrate align``: improve a prompt with human labels, and test it once."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fairjudge.api import aligning
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model

if TYPE_CHECKING:
    from fairjudge.aligning.material import AlignOptions


@opt.with_options(options=opt.fields_of(JudgeOptions, only=("reference_unit", "prompt", "scale")))
def baseline_judge(
    *,
    aspect: Annotated[
        str | None,
        Opt("Aspect to judge: 'coverage', 'faithfulness', or the name of your own criterion."),
    ] = None,
    protocol: Annotated[
        Literal["likert", "binary", "pairwise"] | None,
        Opt("Format of the verdicts; pairwise judges every pair in both orders."),
    ] = None,
    options: dict[str, Any],
    criterion: Annotated[
        Path | None,
        Opt("The current criterion (TOML): aspect, and a rule or paths of a prompt and a scale."),
    ] = None,
) -> JudgeOptions:
    """Return the options of the judge whose prompt is to be improved."""
    from fairjudge.judges.criterion_files import read_criterion_file
    from fairjudge.scales import load_scale

    if criterion is not None:
        criterion_file = read_criterion_file(criterion)
        aspect = aspect or criterion_file.aspect
        options |= {
            name: options.get(name) or value
            for name, value in criterion_file.single_options.items()
        }
    if aspect is None:
        raise typer.BadParameter("pass --aspect, or a --criterion that sets it")
    scale = options["scale"]
    protocol_name = protocol or ("likert" if scale is None else load_scale(scale).protocol)
    return JudgeOptions(aspect=aspect, protocol=protocol_name, **options)


@opt.with_options(
    judging=baseline_judge,
    model=opt.one_model,
    align_options=opt.fields_of(aligning.align, rename={"seed": "split_seed"}),
)
def align(
    *,
    references: opt.References,
    summaries: opt.Summaries,
    labels: Annotated[
        Path,
        Opt(
            "Human labels of whole summaries (of pairs with --protocol pairwise); the field "
            "'note' may contain the annotator's reason."
        ),
    ],
    judging: JudgeOptions,
    model: Model,
    align_options: dict[str, Any],
    plan: opt.Plan = False,
    seconds_per_call: opt.SecondsPerCall = 2.0,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    r"""Try other prompts for a judge; keep one only if it is better on a sealed test set.

    --aspect, --protocol, --prompt, --scale or --criterion specify the current judge. Labelled
    documents are split into examples, a development set and a test set. Candidates are generated
    from the examples; the one that is best on the development set is tested once, and the test is
    recorded. It is kept if it agrees with the human labels better than the current prompt and has
    a smaller error after calibration of both (both paired intervals over documents above 0). For
    pairs, agreement is with human preferences over both orders, and the error is the Brier score.
    Rerunning the command sends no requests.

        fairjudge calibrate align --references refs.jsonl --summaries s.jsonl \
            --labels labels.jsonl --aspect coverage --backend openai:gpt-4o-mini -o aligned --plan
    """
    from fairjudge.aligning.material import prepare, read_sources
    from fairjudge.aligning.planning import plan_align
    from fairjudge.aligning.running import align_loaded
    from fairjudge.api.findings import Findings
    from fairjudge.cli.plan import show_plan
    from fairjudge.datasets import read_labels, read_summaries
    from fairjudge.engine.coroutines import run_to_end
    from fairjudge.run.planning import check_opens

    opt.check_targets(None, json_file)
    folder = align_options.pop("folder")
    options = _options(judging, **align_options)
    material = prepare(
        read_sources(references, judging, skip_bad=skip_bad),
        [display.read(read_summaries, path, skip_bad=skip_bad) for path in summaries],
        display.read(read_labels, labels, skip_bad=skip_bad),
        options=options,
    )
    if plan:
        check_opens(model)
        planned = plan_align(
            material, options=options, model=model, seconds_per_call=seconds_per_call
        )
        show_plan([run_to_end(planned)], model, json_file, parts=material.sizes())
        return
    with display.bars(quiet=quiet) as progress_bars:
        outcome = run_to_end(
            align_loaded(
                material,
                options=options,
                model=progress_bars.with_retry_bar(model),
                folder=folder,
                progress=progress_bars.counter,
            )
        )
    report: dict[str, Any] = {**outcome.report, "spent": outcome.spent and outcome.spent.to_json()}
    report["command"] = _command(report["criterion"], judging, model, references, summaries)
    display.show_findings(Findings("align", report), json_file)
    if json_file != "-":
        if outcome.spent is not None:
            display.say_calls(outcome.spent)
        if report["command"] is not None:
            say(f"To judge with the new criterion: {report['command']}")
        say(f"Files: {outcome.folder}")


def _options(
    judging: JudgeOptions, *, candidates: Any, annotators: Any, label_scale: Any, **options: Any
) -> AlignOptions:
    """Return the options of the alignment of a judge."""
    from fairjudge.aligning.items import LabelReading
    from fairjudge.aligning.material import AlignOptions, kinds_tried
    from fairjudge.options.checking import as_names

    return AlignOptions(
        judging=judging,
        kinds=kinds_tried(candidates, judging),
        reading=LabelReading(annotators=as_names(annotators), scale=label_scale),
        **options,
    )


def _command(
    criterion: str | None,
    judging: JudgeOptions,
    model: Model,
    references: Path,
    summaries: list[Path],
) -> str | None:
    """Return the command that judges with the new criterion."""
    if criterion is None:
        return None
    words = ["fairjudge", "judge", "--references", str(references)]
    words += [word for path in summaries for word in ("--summaries", str(path))]
    words += ["--criterion", criterion]
    if judging.reference_unit:
        words += ["--reference-unit", judging.reference_unit]
    words += ["--backend", model.target]
    words += ["--base-url", model.base_url] if model.base_url else []
    return shlex.join([*words, "-o", "judgements.jsonl"])
