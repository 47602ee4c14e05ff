"""``fairjudge judge``: judge summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.run.material import JudgeOptions
    from fairjudge.run.models import ModelOptions


def judge_options(
    *,
    aspect: Annotated[
        list[str] | None,
        typer.Option(
            help="'coverage', 'faithfulness', or the name of your own criterion; several with "
            "--together."
        ),
    ] = None,
    together: Annotated[
        bool,
        typer.Option(
            "--together",
            help="Judge several aspects by one call an item (likert, binary): fewer tokens, "
            "verdicts that may lean on one another; 'fairjudge compare' tells how much.",
        ),
    ] = False,
    protocol: Annotated[
        Literal["likert", "binary", "pairwise", "checklist"] | None,
        typer.Option(
            help="How verdicts are given; or choose a --preset. 'checklist' (coverage) says of "
            "each answer whether it is covered, and by which words."
        ),
    ] = None,
    preset: Annotated[
        Literal["recommended", "paper", "budget", "granular"] | None,
        typer.Option(
            help="Protocol and units: 'paper', 'budget' and 'granular' are what DiverseSumm's "
            "comparison recommends; 'recommended' is 'paper' with a checklist for coverage."
        ),
    ] = None,
    reference_unit: Annotated[
        Literal["article", "articles", "qa_pairs", "qa_pair"] | None,
        typer.Option(
            help="What one question to the judge is about: one article or all (faithfulness), all "
            "QA pairs or one (coverage)."
        ),
    ] = None,
    text_unit: Annotated[
        Literal["summary", "sentence"] | None,
        typer.Option(help="Whole summaries, or their sentences (faithfulness, all articles)."),
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option(help="Your own prompt template, for any aspect.")
    ] = None,
    scale: Annotated[Path | None, typer.Option(help="Your own scale (TOML).")] = None,
    criterion: Annotated[
        list[Path] | None,
        typer.Option(
            help="Your own criterion (TOML): aspect, and paths of its prompt and scale; several "
            "with --together."
        ),
    ] = None,
    fallback: Annotated[
        Literal["entailment", "embedding", "none"],
        typer.Option(help="Local scorer that fills in what the judge leaves unscored, marked so."),
    ] = "none",
    cascade: Annotated[
        Path | None,
        typer.Option(
            help="What 'fairjudge cascade' wrote: a local scorer judges, and the LLM only where "
            "that one is unsure; or with --guarantee, the judge that the promise is on judges, and "
            "the --backend what that one is not sure of."
        ),
    ] = None,
    cascade_scorer: Annotated[
        Literal["embedding", "entailment"], typer.Option(help="The local scorer of --cascade.")
    ] = "embedding",
    derive: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[likert|pairwise]",
            help="Also write what the checklists say under this protocol, without a call; may be "
            "given twice.",
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(min=0.0, max=2.0, help="By default 0, and 1 where samples are drawn."),
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, max=100, help="Replies to each question; the score is their mean.")
    ] = 1,
    repeats: Annotated[
        int,
        typer.Option(
            min=1,
            max=100,
            help="Judge every item so often, each a judgement of its own; 'audit stability' tells "
            "how much they differ.",
        ),
    ] = 1,
    prompt_variants: Annotated[
        int,
        typer.Option(
            min=1,
            max=3,
            help="Judge every item by so many wordings of the built-in prompt, all saying the "
            "same.",
        ),
    ] = 1,
    paraphrase: Annotated[
        list[Path] | None,
        typer.Option(help="A wording of your own: every item is judged by it too. Repeatable."),
    ] = None,
    expected: Annotated[
        bool,
        typer.Option(
            "--expected",
            help="Score by the probabilities of the answers' tokens where the backend gives them, "
            "else by --samples.",
        ),
    ] = False,
) -> JudgeOptions | None:
    """Return what is asked of the judge; None where no aspect is named."""
    from fairjudge.judges.checklist import Derived
    from fairjudge.judges.criterion_files import read_criterion_file
    from fairjudge.judges.promises import read_cascade
    from fairjudge.judges.together import AskedAspect
    from fairjudge.run.material import JudgeOptions
    from fairjudge.scales import load_scale

    aspects, own = list(aspect or ()), [read_criterion_file(path) for path in criterion or ()]
    if not together and (len(aspects) > 1 or len(own) > 1):
        raise typer.BadParameter("several aspects need --together, or a run of 'judge' each")
    if own and together:
        protocol = protocol or load_scale(own[0].scale).protocol
    elif own:
        (one,) = own
        aspects, prompt, scale = aspects or [one.aspect], prompt or one.prompt, scale or one.scale
        protocol = protocol or load_scale(scale).protocol
    asked = (
        *(AskedAspect(aspect=name) for name in aspects),
        *(AskedAspect(aspect=one.aspect, rule=one.rule, scale=one.scale) for one in own),
    )
    if not asked:
        return None
    if not set(derive or ()) <= set(get_args(Derived)):
        raise typer.BadParameter("--derive takes 'likert' or 'pairwise'")
    return JudgeOptions(
        aspect=asked[0].aspect,
        together=asked if together else (),
        protocol=protocol,
        preset=preset,
        reference_unit=reference_unit,
        text_unit=text_unit,
        prompt=prompt,
        scale=scale,
        fallback=fallback,
        temperature=float(samples > 1) if temperature is None else temperature,
        samples=samples,
        repeats=repeats,
        prompt_variants=prompt_variants,
        paraphrases=tuple(paraphrase or ()),
        token_probabilities=expected,
        cascade=None if cascade is None else read_cascade(cascade),
        cascade_scorer=cascade_scorer,
        derive=cast("tuple[Derived, ...]", tuple(dict.fromkeys(derive or ()))),
    )


NO_ASPECT = "give --aspect, or a --criterion that names one"


@opt.taking(judging=judge_options, models=opt.judges)
def judge(
    *,
    references: Annotated[
        Path,
        typer.Option(help="References; plain clusters do where the aspect needs no questions."),
    ],
    summaries: Annotated[
        list[Path],
        typer.Option(help="Summaries: eid, system, text. Repeatable: all are judged together."),
    ],
    output: opt.Output,
    judging: JudgeOptions | None,
    models: Sequence[ModelOptions],
    jury: Annotated[
        Literal["mean", "median", "majority"],
        typer.Option(help="What several --backend say together; each member's verdict is kept."),
    ] = "mean",
    run: opt.Run = None,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    r"""Judge summaries and rank the systems that wrote them.

    Coverage asks how much of the reference answers a summary conveys; faithfulness, how well the
    articles support it. Pairwise asks both orders of every pair; a side wins when both name it.

    The local backend measures support by small trained models. It is quick and free, says so in
    every record (scored_by: embedding), and is a weak judge: docs/local.md says how weak. Calibrate
    any judge before you trust it.

        fairjudge judge --references refs.jsonl --summaries s.jsonl \
            --aspect coverage --protocol likert -o judgements.jsonl
    """
    from fairjudge.cli import display, judge_display, progress
    from fairjudge.run.judging import judge_files
    from fairjudge.run.jury import judge_with_jury

    if judging is None:
        raise typer.BadParameter(NO_ASPECT)
    opt.check_targets(output, json_file)
    with progress.display(quiet=quiet) as shown:
        counted_retries = progress.retries(shown)
        models = [replace(model, on_retry=counted_retries) for model in models]

        def counted(total: int) -> progress.Advance:
            return progress.counter(shown, "judging", total=total)

        if len(models) > 1:
            outcome = judge_with_jury(
                references,
                summaries,
                output,
                options=judging,
                members=models,
                rule=jury,
                run=run,
                skip_bad=skip_bad,
                progress=counted,
            )
        else:
            outcome = judge_files(
                references,
                summaries,
                output,
                options=judging,
                model=models[0],
                run=run,
                skip_bad=skip_bad,
                progress=counted,
            )
    judge_display.show_judged(
        outcome, outcome.by_aspect(judging), output=output, json_file=json_file
    )
    n_items = len(outcome.judgements) + outcome.n_missing
    n_lost = outcome.n_unscored + outcome.n_missing
    display.finish(n_lost, n_items, limit=max_unscored)
