"""``fairjudge plan``: what build or judge would cost, before the first call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fairjudge.cli import options as opt
from fairjudge.reports.tables import TextTable, columns, number, print_table

if TYPE_CHECKING:
    from fairjudge.app.planning import Plan


def plan(
    clusters: Annotated[
        Path | None, typer.Argument(help="Clusters, to plan 'fairjudge build'.")
    ] = None,
    *,
    references: Annotated[
        Path | None, typer.Option(help="References, to plan 'fairjudge judge'.")
    ] = None,
    summaries: Annotated[Path | None, typer.Option(help="Summaries to be judged.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Taken and not written to.")
    ] = None,
    aspect: Annotated[str, typer.Option(help="As in 'fairjudge judge'.")] = "coverage",
    protocol: Annotated[
        Literal["likert", "binary", "pairwise"] | None, typer.Option(help="As in judge.")
    ] = None,
    preset: Annotated[
        Literal["recommended", "budget", "granular"] | None, typer.Option(help="As in judge.")
    ] = None,
    reference_unit: Annotated[
        Literal["article", "articles", "qa_pairs", "qa_pair"] | None,
        typer.Option(help="As in judge."),
    ] = None,
    text_unit: Annotated[
        Literal["summary", "sentence"] | None, typer.Option(help="As in judge.")
    ] = None,
    prompt: Annotated[Path | None, typer.Option(help="As in judge.")] = None,
    scale: Annotated[Path | None, typer.Option(help="As in judge.")] = None,
    samples: Annotated[int, typer.Option(min=1, max=100, help="As in judge.")] = 1,
    expected: Annotated[bool, typer.Option("--expected", help="As in judge.")] = False,
    temperature: Annotated[float | None, typer.Option(min=0.0, max=2.0)] = None,
    fallback: Annotated[str, typer.Option(help="As in judge; calls no model.")] = "none",
    entailment_model: Annotated[str | None, typer.Option(help="As in judge.")] = None,
    jury: Annotated[str, typer.Option(help="As in judge; changes no call.")] = "mean",
    max_articles: Annotated[int, typer.Option(min=2, help="As in build.")] = 10,
    n_questions: Annotated[int, typer.Option("--questions", min=1, help="As in build.")] = 20,
    min_sources: Annotated[float, typer.Option(min=0.0, max=1.0, help="As in build.")] = 0.3,
    post_filter: Annotated[
        bool, typer.Option("--post-filter/--no-post-filter", help="As in build.")
    ] = True,
    consolidation: Annotated[
        Literal["embedding", "llm"], typer.Option(help="As in build.")
    ] = "embedding",
    backend: opt.Backends = None,
    embedding_model: opt.EmbeddingModel = None,
    seconds_per_call: Annotated[
        float, typer.Option(min=0.0, help="How long one call takes, for the time.")
    ] = 2.0,
    cache: opt.CacheDir = None,
    store: opt.Store = None,
    engine: opt.Engine = "local",
    concurrency: opt.Concurrency = 8,
    base_url: opt.BaseUrl = None,
    seed: opt.Seed = None,
    max_cost: opt.MaxCost = None,
    max_calls: opt.MaxCalls = None,
    run: opt.Run = None,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    quiet: opt.Quiet = False,
    json_file: opt.Json = None,
    batch: Annotated[
        Path | None,
        typer.Option(help="Also write the calls as an OpenAI batch file (JSONL), to be uploaded."),
    ] = None,
) -> None:
    r"""Count calls, tokens, money and time before the first call, net of what the cache holds.

    Takes the arguments of 'build' (clusters) or of 'judge' (--references and --summaries), and
    goes through the same steps with stand-ins for replies. Tokens are estimated.

        fairjudge plan --references refs.jsonl --summaries s.jsonl --aspect coverage \
            --protocol likert --backend openai:gpt-4o-mini
    """
    # The same arguments as the command that is planned; these change no call.
    del output, run, engine, fallback, entailment_model, jury, max_unscored, quiet
    from fairjudge.app.batches import write_batch
    from fairjudge.app.building import BuildOptions
    from fairjudge.app.judging import JudgeOptions
    from fairjudge.app.models import ModelOptions
    from fairjudge.app.planning import plan_building, plan_judging
    from fairjudge.cli import display
    from fairjudge.references.steps import Validity

    models = [
        ModelOptions(
            backend=name,
            base_url=base_url,
            embedding_model=embedding_model,
            cache=cache,
            store=opt.store_address(store),
            concurrency=concurrency,
            seed=seed,
        )
        for name in backend or ["local"]
    ]
    if clusters is not None:
        plans = plan_building(
            clusters,
            options=BuildOptions(
                max_articles=max_articles,
                n_questions=n_questions,
                validity=Validity(min_source_share=min_sources),
                consolidation=consolidation,
                post_filter=post_filter,
            ),
            model=models[0],
            skip_bad=skip_bad,
            seconds_per_call=seconds_per_call,
        )
    elif references is not None and summaries is not None:
        plans = plan_judging(
            references,
            summaries,
            options=JudgeOptions(
                aspect=aspect,
                protocol=protocol,
                preset=preset,
                reference_unit=reference_unit,
                text_unit=text_unit,
                prompt=prompt,
                scale=scale,
                temperature=float(samples > 1) if temperature is None else temperature,
                samples=samples,
                token_probabilities=expected,
            ),
            models=models,
            skip_bad=skip_bad,
            seconds_per_call=seconds_per_call,
        )
    else:
        raise typer.BadParameter("give clusters (build), or --references and --summaries (judge)")
    report = _report(plans, max_cost=max_cost, max_calls=max_calls)
    if batch is not None:
        write_batch(batch, [request for one in plans for request in one.requests])
    if json_file != "-":
        _show(report)
    display.write_json(json_file, report)


_SUMMED = ("calls", "cached", "input_tokens", "output_tokens", "seconds")


def _report(
    plans: Sequence[Plan], *, max_cost: float | None, max_calls: int | None
) -> dict[str, Any]:
    rows = [
        {
            "model": one.model,
            "calls": one.n_calls,
            "cached": one.n_cached,
            "input_tokens": one.input_tokens,
            "output_tokens": one.output_tokens,
            "cost_usd": one.cost_usd,
            "seconds": one.seconds,
        }
        for one in plans
    ]
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in _SUMMED}
    costs = [row["cost_usd"] for row in rows]
    total["cost_usd"] = None if None in costs else sum(costs)
    over = [
        name
        for name, most, planned in (
            ("max_calls", max_calls, total["calls"]),
            ("max_cost", max_cost, total["cost_usd"]),
        )
        if most is not None and planned is not None and planned > most
    ]
    return {**total, "models": rows, "over": over}


def _show(report: dict[str, Any]) -> None:
    rows = [*report["models"], *([{"model": "all", **report}] if len(report["models"]) > 1 else [])]
    notes = ["Estimated; repairs and retries come on top. Cached replies cost nothing."]
    if not rows:
        notes = ["The embedded default calls no model: nothing to pay."]
    if report["cost_usd"] is None:
        notes.append("A price is not known: cost cannot be told.")
    notes += [
        f"Beyond --{name.replace('_', '-')}: the run would stop there." for name in report["over"]
    ]
    print_table(
        TextTable(
            title="Planned",
            columns=columns(
                "model", "calls", "cached", "tokens in", "tokens out", "US dollars", "minutes",
                numbers=("calls", "cached", "tokens in", "tokens out", "US dollars", "minutes"),
            ),
            rows=tuple(
                (
                    row["model"],
                    str(row["calls"]),
                    str(row["cached"]),
                    str(row["input_tokens"]),
                    str(row["output_tokens"]),
                    number(row["cost_usd"], digits=4),
                    number(row["seconds"] / 60, digits=1),
                )
                for row in rows
            ),
            notes=tuple(notes),
        )
    )  # fmt: skip


def load_batch(
    results: Annotated[Path, typer.Argument(help="The results file of an OpenAI batch (JSONL).")],
    *,
    cache: opt.CacheDir = None,
    store: opt.Store = None,
    json_file: opt.Json = None,
) -> None:
    """Put a batch's replies into the cache, so that the planned command finds them there.

    Write the batch by 'fairjudge plan ... --batch calls.jsonl', have it run, load its results, and
    run the same 'judge' command with the same --cache: it asks only for what is missing.
    """
    from fairjudge.app.batches import import_batch
    from fairjudge.app.models import open_cache, print_warning
    from fairjudge.cli import display

    kept = open_cache(cache, store=opt.store_address(store), warn=print_warning)
    try:
        found = import_batch(results, cache=kept)
    finally:
        kept.close()
    if json_file != "-":
        typer.echo(f"{found.n_stored} replies stored, {len(found.failed)} lines without one")
        for key, why in found.failed[:_MOST_NAMED]:
            typer.echo(f"  {key[:12]}: {why}")
    failed = [{"key": key, "why": why} for key, why in found.failed]
    display.write_json(json_file, {"n_stored": found.n_stored, "failed": failed})


_MOST_NAMED = 20
