"""``fairjudge study``: run a whole study from one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fairjudge.api import converting
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, print_table
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.backends.budgeting import Budget
    from fairjudge.studies.planning import PlannedStep
    from fairjudge.studies.running import StepResult, StudyResult


app = Application(name="study")

_Folder = Annotated[
    Path | None,
    Opt("Output folder. Default: next to the study file, with its name.", short="-o"),
]


@app.command("study", no_args_is_help=True)
@opt.with_options(model=opt.options_of(Model, only=("cache",)))
def run(
    file: Annotated[Path, Opt("The study file (TOML); 'study init' writes one.", argument=True)],
    *,
    folder: _Folder = None,
    plan: opt.Plan = False,
    seconds_per_call: opt.SecondsPerCall = 2.0,
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Run a study: references, summaries, judgements, audits, calibration, fairness, one report.

    Finished steps are not repeated unless their inputs or settings have changed; an interrupted
    study resumes where it stopped. Prints findings, then steps; the page has all results.

        fairjudge study study.toml --plan
    """
    from fairjudge.studies.checks import note_on_labels
    from fairjudge.studies.files import read_study
    from fairjudge.studies.planning import plan_study
    from fairjudge.studies.running import remaining_budget, run_study, study_folder

    study = read_study(file, cache=model.cache)
    output_folder = study_folder(study, folder)
    if plan:
        with display.bars(quiet=quiet) as progress_bars:
            planned = plan_study(
                study,
                output_folder,
                skip_bad=skip_bad,
                seconds_per_call=seconds_per_call,
                progress=progress_bars,
            )
        if json_file != "-" and (note := note_on_labels(study)):
            say(f"Note: {note}")
        remaining = remaining_budget(study, output_folder)
        report = _plan_json(planned, remaining)
        display.show_report(report, json_file, [_plan_table(report)])
        return
    opt.check_targets(None, json_file)

    def tell(step: StepResult) -> None:
        if json_file != "-" and step.seconds is not None:
            text = f"{step.name}: {step.done.told}"
            progress_bars.console.print(text, markup=False, highlight=False)

    with display.bars(quiet=quiet) as progress_bars:
        study = study.map_llms(progress_bars.with_retry_bar)
        result = run_study(
            study, output_folder, skip_bad=skip_bad, progress=progress_bars, tell=tell
        )
    _show(result, json_file)
    display.finish(result.n_lost, result.n_items, limit=max_unscored)


def _show(result: StudyResult, json_file: str | None) -> None:
    from fairjudge.studies.running import cost_by_step

    if json_file != "-":
        say("\nIn short:")
        for text in result.findings:
            say(f"- {text}")
        say("")
        for text_table in result.tables():
            print_table(text_table)
        calls, cost = pluralize(result.n_calls, "call"), display.in_dollars(result.cost_usd)
        say(f"Total of all starts: {calls}, cost: {cost}")
        say(f"Page: {result.report}")
        say(f"Files: {result.folder}")
    display.write_json(
        json_file,
        {
            "findings": list(result.findings),
            "steps": [
                {"name": step.name, "seconds": step.seconds, **asdict(step.done)}
                for step in result.steps
            ],
            "cost_by_step": cost_by_step(result.steps),
            "n_calls": result.n_calls,
            "cost_usd": result.cost_usd,
            "folder": str(result.folder),
            "report": str(result.report),
        },
    )


def _plan_json(planned: Sequence[PlannedStep], remaining: Budget) -> dict[str, Any]:
    from fairjudge.cli.plan import limits_exceeded, total_of

    plans = [step.plan.to_json() for step in planned if step.plan is not None]
    total = total_of(plans)
    over = limits_exceeded(total, max_calls=remaining.calls_left, max_cost=remaining.usd_left)
    steps = [
        {"step": step.step, "done": True, **({"nothing": step.reason} if step.reason else {})}
        if step.plan is None
        else {"step": step.step, "done": False, **step.plan.to_json()}
        for step in planned
    ]
    for row in (total, *steps):
        row.pop("cached_input_tokens", None)
    return {**total, "steps": steps, "over": over}


def _plan_table(report: Any) -> TextTable:
    from fairjudge.cli.plan import UNPRICED

    counts = ("calls", "cached", "input_tokens", "output_tokens")
    no_values = {**dict.fromkeys(counts, "-"), "cost_usd": None, "seconds": None}
    rows = [
        {**step, **no_values, "model": "no item" if step.get("nothing") else "done"}
        if step.get("done")
        else {"model": "", **step}
        for step in [*report["steps"], {"step": "all", **report}]
    ]
    notes = ["Estimated, without retries; cached replies are free."]
    if not report["steps"]:
        rows, notes = [], ["No step uses an LLM: no cost."]
    notes += [
        f"{step['step']}: {step['nothing']}." for step in report["steps"] if step.get("nothing")
    ]
    if report["cost_usd"] is None:
        notes.append(UNPRICED)
    notes += [f"Exceeds {name} of [budget]: the study would stop there." for name in report["over"]]
    return table(
        "Planned",
        "step: {step} | model: {model} | calls> {calls!s} | cached> {cached!s}"
        " | tokens in> {input_tokens!s} | tokens out> {output_tokens!s}"
        " | US dollars> {cost_usd:number.4} | minutes> {minutes:number.1}",
        rows,
        notes=notes,
        minutes=lambda row: None if row["seconds"] is None else row["seconds"] / 60,
    )


@app.command("init")
@opt.with_options(
    model=opt.options_of(Model, only=("target", "base_url")),
    conversion_options=opt.fields_of(
        converting.convert, only=("columns", "group", "split", "values")
    ),
)
def init(
    data: Annotated[
        list[Path] | None,
        Opt("Data files, or folders with them. Default: the current folder.", argument=True),
    ] = None,
    *,
    output: Annotated[Path, Opt("Study file to write.", short="-o")] = Path("study.toml"),
    like: Annotated[
        Literal["diversesumm", "fairsumm", "coverage-fairness", "news-bias"] | None,
        Opt("Use the judges, measures and summary variants of this paper's experiment."),
    ] = None,
    model: Model,
    conversion_options: dict[str, Any],
    force: Annotated[bool, Opt("Overwrite an existing study file.")] = False,
) -> None:
    """Write a commented study file for the clusters, references, summaries and labels in a folder.

    Files are recognised by content; data in other layouts are converted ('fairjudge convert') to
    the folder 'converted' next to the study file. There is one judge per aspect that has labels.
    Steps that the data does not support, or that need an LLM without --backend, are commented out,
    with the reason; custom aspects need a rule in their table. --map, --group, --split and --values
    work as in 'convert'.

        fairjudge study init data/ -o study.toml --backend openai:gpt-4o-mini

        fairjudge study init data/ --like diversesumm
    """
    from fairjudge.converting.layouts import Settings
    from fairjudge.engine.runs import check_writable
    from fairjudge.errors import InputError
    from fairjudge.records.folder import write_output
    from fairjudge.studies.initial import study_text
    from fairjudge.studies.inventory import find_data

    if output.exists() and not force:
        raise InputError("already exists; choose another -o, or use --force", path=output)
    check_writable(output)
    settings = Settings(
        **{name: value for name, value in conversion_options.items() if value is not None}
    )
    converted_folder = output.parent / "converted"
    inventory = find_data(data or [Path()], output_folder=converted_folder, settings=settings)
    write_output(output, study_text(inventory, output, model=model, like=like))
    data_files = (inventory.clusters, inventory.references, inventory.summaries)
    n_files = sum(map(len, (*data_files, inventory.labels)))
    say(f"Written: {output}, from {pluralize(n_files, 'file')}")
    for path, reason in inventory.skip_reasons.items():
        say(f"Excluded: {path}: {reason}")
    for warning in inventory.warnings:
        say(f"Warning: {warning}")
    if not inventory.summaries and model.llm is None:
        say(
            "No summaries: have some written ('study init --backend PROVIDER:MODEL'), or add yours."
        )
        return
    say(f"Next: fairjudge study {output} --plan")
