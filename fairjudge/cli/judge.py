"""``fairjudge judge``: judge summaries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.app.judging import JudgeOptions
    from fairjudge.app.models import ModelOptions


def judge_options(
    *,
    aspect: Annotated[
        str | None,
        typer.Option(help="'coverage', 'faithfulness', or the name of your own criterion."),
    ] = None,
    protocol: Annotated[
        Literal["likert", "binary", "pairwise"] | None,
        typer.Option(help="How verdicts are given; or choose a --preset."),
    ] = None,
    preset: Annotated[
        Literal["recommended", "budget", "granular"] | None,
        typer.Option(help="Protocol and units that DiverseSumm's comparison recommends."),
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
        Path | None,
        typer.Option(help="Your own criterion (TOML): aspect, and paths of its prompt and scale."),
    ] = None,
    fallback: Annotated[
        Literal["entailment", "embedding", "none"],
        typer.Option(help="Local scorer that fills in what the judge leaves unscored, marked so."),
    ] = "none",
    cascade: Annotated[
        Path | None,
        typer.Option(
            help="Thresholds by 'fairjudge cascade': a local scorer judges, and the LLM only where "
            "that one is unsure."
        ),
    ] = None,
    cascade_scorer: Annotated[
        Literal["embedding", "entailment"], typer.Option(help="The local scorer of --cascade.")
    ] = "embedding",
    temperature: Annotated[
        float | None,
        typer.Option(min=0.0, max=2.0, help="By default 0, and 1 where samples are drawn."),
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, max=100, help="Replies to each question; the score is their mean.")
    ] = 1,
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
    from fairjudge.app.judging import JudgeOptions
    from fairjudge.judges.criterion_files import read_criterion_file
    from fairjudge.scales import load_scale

    if criterion is not None:
        own = read_criterion_file(criterion)
        aspect, prompt, scale = aspect or own.aspect, prompt or own.prompt, scale or own.scale
        protocol = protocol or load_scale(scale).protocol
    if aspect is None:
        return None
    return JudgeOptions(
        aspect=aspect,
        protocol=protocol,
        preset=preset,
        reference_unit=reference_unit,
        text_unit=text_unit,
        prompt=prompt,
        scale=scale,
        fallback=fallback,
        temperature=float(samples > 1) if temperature is None else temperature,
        samples=samples,
        token_probabilities=expected,
        cascade=cascade,
        cascade_scorer=cascade_scorer,
    )


NO_ASPECT = "give --aspect, or a --criterion that names one"


@opt.taking(judging=judge_options, model=opt.models)
def judge(
    *,
    references: Annotated[
        Path,
        typer.Option(help="References; plain clusters do where the aspect needs no questions."),
    ],
    summaries: Annotated[Path, typer.Option(help="Summaries: eid, system, text.")],
    output: opt.Output,
    judging: JudgeOptions | None,
    backend: opt.Backends = None,
    jury: Annotated[
        Literal["mean", "median", "majority"],
        typer.Option(help="What several --backend say together; each member's verdict is kept."),
    ] = "mean",
    embedding_model: opt.EmbeddingModel = None,
    entailment_model: opt.EntailmentModel = opt.ENTAILMENT_MODEL,
    run: opt.Run = None,
    engine: opt.Engine = "local",
    model: ModelOptions,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    r"""Judge summaries and rank the systems that wrote them.

    Coverage asks how much of the reference answers a summary conveys; faithfulness, how well the
    articles support it. Pairwise asks both orders of every pair; a side wins when both name it.

    The local backend measures support by sentence embeddings, numbers, names and negation. It is
    quick and free, says so in every record (scored_by: embedding), and is no substitute for
    reading: it knows wording, not truth. Calibrate any judge before you trust it.

        fairjudge judge --references refs.jsonl --summaries s.jsonl \
            --aspect coverage --protocol likert -o judgements.jsonl
    """
    from fairjudge.app.judging import judge_files
    from fairjudge.app.jury import judge_with_jury
    from fairjudge.cli import display, progress

    if judging is None:
        raise typer.BadParameter(NO_ASPECT)
    opt.check_targets(output, json_file)
    model = replace(
        model,
        embedding_model=embedding_model,
        entailment_model=entailment_model,
        engine=engine,
    )
    with progress.display(quiet=quiet) as shown:
        model = replace(model, on_retry=progress.retries(shown))
        models = [replace(model, backend=name) for name in backend or ["local"]]

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
    display.judged(outcome, output=output, json_file=json_file)
    display.finish(outcome.n_unscored, len(outcome.judgements), most=max_unscored, what="items")
