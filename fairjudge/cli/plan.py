"""``fairjudge batch``: estimate the cost of build or judge, and write batch files."""

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
    name="batch", help="Plan a run, and send its requests to a provider's batch service."
)


@app.command("plan")
@opt.with_options(judging=judge_options, building=opt.options_of(BuildOptions), models=opt.judges)
def plan(
    clusters: Annotated[
        Path | None, Opt("Clusters (JSON or JSONL), to plan 'fairjudge build'.", argument=True)
    ] = None,
    *,
    references: Annotated[Path | None, Opt("References, to plan 'fairjudge judge'.")] = None,
    summaries: Annotated[list[Path] | None, Opt("Summaries to judge. Repeatable.")] = None,
    output: Annotated[
        Path | None,
        Opt("Ignored; accepted because the planned command has it.", short="-o"),
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
            "Also write the requests to this batch file, in the format of the backend's provider "
            "(OpenAI, vLLM, Anthropic, Gemini).",
            panel="Output",
        ),
    ] = None,
) -> None:
    r"""Estimate requests, tokens, cost and time of a run, without cached replies.

    Accepts the arguments of 'build' (clusters) or of 'judge' (--references and --summaries), and
    runs the same steps with simulated replies. Tokens are estimated.

        fairjudge batch plan --references refs.jsonl --summaries s.jsonl --aspect coverage \
            --protocol likert --backend openai:gpt-4o-mini
    """
    # Arguments of the planned command that do not change its requests.
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
        raise typer.BadParameter("pass clusters (build), or --references and --summaries (judge)")
    if batch is not None:
        requests = {key: request for row in plans for key, request in row.requests.items()}
        files = write_batch(batch, requests)
        if json_file != "-":
            say("Batch: " + ", ".join(map(str, files)))
    show_plan(plans, models[0], json_file)


def show_plan(plans: Sequence[Plan], model: Model, json_file: str | None, **extra: Any) -> None:
    """Print the plan of a run, and the limits of `model` that it would exceed.

    `extra` are additional fields of the JSON.
    """
    rows = [row.to_json() for row in plans]
    assumptions = list(dict.fromkeys(text for row in plans for text in row.assumes))
    total = total_of(rows)
    over = limits_exceeded(total, max_calls=model.max_calls, max_cost=model.max_cost)
    report = {**total, "models": rows, "assumes": assumptions, "over": over, **extra}
    display.show_report(report, json_file, [_table(report)])


_TOTAL_FIELDS = (
    "calls",
    "cached",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "seconds",
)


def total_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the totals of planned calls; the cost is None if that of any row is unknown."""
    costs = [row["cost_usd"] for row in rows]
    return {
        **{name: sum(row[name] for row in rows) for name in _TOTAL_FIELDS},
        "cost_usd": None if None in costs else sum(costs),
    }


def limits_exceeded(
    total: Mapping[str, Any], *, max_calls: int | None, max_cost: float | None
) -> list[str]:
    """Return the names of the limits that the planned calls would exceed."""
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
        *(f"Assumed: {assumption}." for assumption in report["assumes"]),
    ]
    if not rows:
        notes = ["The local backend sends no requests: no cost."]
    if report["cost_usd"] is None:
        notes.append(UNPRICED)
    notes += [
        f"Exceeds --{name.replace('_', '-')}: the run would stop there." for name in report["over"]
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


UNPRICED = "A price is unknown: the cost cannot be estimated."


@app.command("load")
@opt.with_options(model=opt.options_of(Model, only=("cache", "store")))
def load_batch(
    results: Annotated[list[Path], Opt("Result files of a batch (JSONL).", argument=True)],
    *,
    model: Model,
    json_file: opt.Json = None,
) -> None:
    """Load a batch's replies into the cache, where the planned command finds them.

    Write the batch with 'batch plan ... --batch calls.jsonl', have the provider run it, load its
    results, and run the same 'judge' command with the same --cache: it only sends the requests that
    failed or expired ('batch plan --batch' then also writes only these).
    """
    from fairjudge.cli.cache import open_model_cache
    from fairjudge.run.batches import import_batch

    with open_model_cache(model) as cache:
        batch_import = import_batch(results, cache=cache)
    if json_file != "-":
        say(
            f"{pluralize(batch_import.n_stored, 'reply', 'replies')} stored, "
            f"{pluralize(len(batch_import.failed), 'line')} without a reply"
        )
        for key, reason in batch_import.failed[:_MAX_LINES]:
            say(f"  {key[:12]}: {reason}")
    failures = [{"key": key, "why": reason} for key, reason in batch_import.failed]
    display.write_json(json_file, {"n_stored": batch_import.n_stored, "failed": failures})


_MAX_LINES = 20
