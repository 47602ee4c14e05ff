"""``fairjudge batch``: what build or judge would cost, and batch files for providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.cli.judge import NO_ASPECT, judge_options
from fairjudge.cli.terminal import say
from fairjudge.options.building import BuildOptions
from fairjudge.options.declaring import Opt
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.run.planning import Plan


app = Application(
    name="batch", help="Plan a run, and have a provider's batch service answer its requests."
)


@app.command("plan")
@opt.with_options(judging=judge_options, building=opt.options_of(BuildOptions), models=opt.judges)
def plan(
    clusters: Annotated[
        Path | None, Opt("Clusters, to plan 'fairjudge build'.", argument=True)
    ] = None,
    *,
    references: Annotated[Path | None, Opt("References, to plan 'fairjudge judge'.")] = None,
    summaries: Annotated[list[Path] | None, Opt("Summaries to be judged. Repeatable.")] = None,
    output: Annotated[
        Path | None,
        Opt("Accepted because the planned command has it; nothing is written.", short="-o"),
    ] = None,
    judging: JudgeOptions | None,
    building: BuildOptions,
    jury: opt.Jury = "mean",
    models: Sequence[Model],
    seconds_per_call: opt.SecondsPerCall = 2.0,
    limit: opt.Limit = None,
    run: opt.Run = None,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    quiet: opt.Quiet = False,
    json_file: opt.Json = None,
    batch: Annotated[
        Path | None,
        Opt(
            "Also write the requests as a batch file of the backend's provider (OpenAI, vLLM, "
            "Anthropic, Gemini).",
            panel="Output",
        ),
    ] = None,
) -> None:
    r"""Estimate requests, tokens, cost and time of a run, less what the cache holds.

    Takes the arguments of 'build' (clusters) or of 'judge' (--references and --summaries), and
    goes through the same steps with simulated replies. Tokens are estimated.

        fairjudge batch plan --references refs.jsonl --summaries s.jsonl --aspect coverage \
            --protocol likert --backend openai:gpt-4o-mini
    """
    # The same arguments as the command that is planned; these change no call.
    del output, run, jury, max_unscored, quiet
    from fairjudge.run.batches import write_batch
    from fairjudge.run.planning import plan_building, plan_judging

    if clusters is not None:
        plans, _ = plan_building(
            clusters,
            options=building,
            model=models[0],
            skip_bad=skip_bad,
            seconds_per_call=seconds_per_call,
        )
    elif references is not None and summaries:
        if judging is None:
            raise typer.BadParameter(NO_ASPECT)
        plans = plan_judging(
            references,
            summaries,
            options=judging,
            models=models,
            skip_bad=skip_bad,
            seconds_per_call=seconds_per_call,
            limit=limit,
        )
    else:
        raise typer.BadParameter("give clusters (build), or --references and --summaries (judge)")
    if batch is not None:
        requests = {key: request for each in plans for key, request in each.requests.items()}
        files = write_batch(batch, requests)
        if json_file != "-":
            say("Batch: " + ", ".join(map(str, files)))
    show_plan(plans, models[0], json_file)


def show_plan(plans: Sequence[Plan], model: Model, json_file: str | None, **more: Any) -> None:
    """Show the plan of a run, and which limit of `model` it would exceed.

    `more` are further fields of the JSON.
    """
    rows = [planned.to_json() for planned in plans]
    assumes = list(dict.fromkeys(text for planned in plans for text in planned.assumes))
    total = total_of(rows)
    over = limits_exceeded(total, max_calls=model.max_calls, max_cost=model.max_cost)
    report = {**total, "models": rows, "assumes": assumes, "over": over, **more}
    display.report(report, json_file, [_table(report)])


_SUMMED = ("calls", "cached", "input_tokens", "cached_input_tokens", "output_tokens", "seconds")


def total_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sums of planned calls; the cost is None where that of a row is not known."""
    costs = [row["cost_usd"] for row in rows]
    return {
        **{name: sum(row[name] for row in rows) for name in _SUMMED},
        "cost_usd": None if None in costs else sum(costs),
    }


def limits_exceeded(
    total: Mapping[str, Any], *, max_calls: int | None, max_cost: float | None
) -> list[str]:
    """Return which limits, of those that are set, the planned calls would exceed."""
    limits = {"max_calls": (max_calls, "calls"), "max_cost": (max_cost, "cost_usd")}
    return [
        name
        for name, (limit, field) in limits.items()
        if limit is not None and total[field] is not None and total[field] > limit
    ]


def _table(report: Mapping[str, Any]) -> TextTable:
    rows = [*report["models"], *([{"model": "all", **report}] if len(report["models"]) > 1 else [])]
    notes = [
        "Estimated, without retries; cached replies cost nothing.",
        *(f"Assumed: {assume}." for assume in report["assumes"]),
    ]
    if not rows:
        notes = ["The embedded default calls no model: nothing to pay."]
    if report["cost_usd"] is None:
        notes.append(UNPRICED)
    notes += [
        f"Beyond --{name.replace('_', '-')}: the run would stop there." for name in report["over"]
    ]
    return table(
        "Planned",
        "model: {model} | calls> {calls!s} | cached> {cached!s} | tokens in> {input_tokens!s}"
        " | shared> {cached_input_tokens!s} | tokens out> {output_tokens!s}"
        " | US dollars> {cost_usd:number.4} | minutes> {minutes:number.1}",
        rows,
        notes=notes,
        minutes=lambda row: row["seconds"] / 60,
    )


UNPRICED = "A price is unknown: cost cannot be estimated."


@app.command("load")
@opt.with_options(model=opt.options_of(Model, only=("cache", "store")))
def load_batch(
    results: Annotated[
        list[Path], Opt("Results of a batch, also several files (JSONL).", argument=True)
    ],
    *,
    model: Model,
    json_file: opt.Json = None,
) -> None:
    """Put a batch's replies into the cache, so that the planned command finds them there.

    Write the batch by 'batch plan ... --batch calls.jsonl', have it run, load its results, and
    run the same 'judge' command with the same --cache: it sends only the requests that failed
    or expired ('batch plan --batch' then writes these alone).
    """
    from fairjudge.cli.cache import opened_cache
    from fairjudge.run.batches import import_batch

    with opened_cache(model) as cache:
        batch_import = import_batch(results, cache=cache)
    if json_file != "-":
        say(
            f"{pluralize(batch_import.n_stored, 'reply', 'replies')} stored, "
            f"{pluralize(len(batch_import.failed), 'line')} without one"
        )
        for key, why in batch_import.failed[:_MAX_NAMED]:
            say(f"  {key[:12]}: {why}")
    failed = [{"key": key, "why": why} for key, why in batch_import.failed]
    display.write_json(json_file, {"n_stored": batch_import.n_stored, "failed": failed})


_MAX_NAMED = 20
