"""Run a study step by step; finished steps come from the record."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairjudge import __version__
from fairjudge.api.progress import Bars
from fairjudge.backends.budgeting import Budget
from fairjudge.engine.costs import cost_in
from fairjudge.engine.models import RunCost
from fairjudge.engine.runs import make_folder
from fairjudge.records.folder import write_atomically
from fairjudge.records.schema import report_text
from fairjudge.reports.pages import table_html
from fairjudge.reports.row_tables import SPENT_COLUMNS, spent_row, table
from fairjudge.reports.tables import TextTable, to_text
from fairjudge.studies.checks import check_study
from fairjudge.studies.files import Study, read_study
from fairjudge.studies.graph import make_steps
from fairjudge.studies.record import (
    StepRecord,
    StudyRecord,
    content_key,
    lock_folder,
    spending_file,
)
from fairjudge.studies.steps import COSTS, RUNS, UNJUDGED, Step, StepContext, run_folders, run_name
from fairjudge.text.counting import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """Result of one step; ``seconds`` is None for a step from the record.

    ``spent`` is the cost of its calls to language models in all runs; None for a step without them.
    """

    name: str
    done: StepRecord
    seconds: float | None
    spent: RunCost | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StudyResult:
    """Results of a study; ``folder`` contains all files, ``report`` is its page.

    ``n_calls`` and ``cost_usd`` (US dollars) are totals of all runs; the cost is None if a price
    is unknown.

    Examples
    --------
    >>> import fairjudge as fj
    >>> result = fj.study("study.toml")  # doctest: +SKIP
    >>> result.report  # doctest: +SKIP
    PosixPath('study/report.html')
    """

    folder: Path
    steps: tuple[StepResult, ...]
    n_calls: int
    cost_usd: float | None

    @property
    def report(self) -> Path:
        """The path of the page."""
        return self.folder / "report.html"

    @property
    def findings(self) -> tuple[str, ...]:
        """Findings in sentences: results, losses and next steps."""
        findings = dict.fromkeys(text for step in self.steps for text in step.done.findings)
        completeness = "Every item has a result."
        if any(text.startswith(UNJUDGED) for text in findings):
            has_judgements = any(
                step.done.n_items for step in self.steps if step.name.startswith("judge ")
            )
            completeness = (
                "Every other item has a result." if has_judgements else "No item was judged."
            )
        if self.n_lost:
            share = f"{self.n_lost} of {pluralize(self.n_items, 'item')}"
            step_names = ", ".join(step.name for step in self.steps if step.done.n_lost)
            n_again = sum(step.done.n_again for step in self.steps)
            next_run = "; the next run repeats only these"
            if n_again < self.n_lost:
                next_run = f"; the next run repeats {n_again} of these" if n_again else ""
            completeness = f"{share} have no result ({step_names}){next_run}."
        next_steps = [step.done.next_step for step in self.steps if step.done.next_step]
        return (*findings, completeness, *next_steps[:1])

    @property
    def n_items(self) -> int:
        """Number of items of all steps."""
        return sum(step.done.n_items for step in self.steps)

    @property
    def n_lost(self) -> int:
        """Number of items that failed, were refused or are empty."""
        return sum(step.done.n_lost for step in self.steps)

    def table(self) -> TextTable:
        """Return the steps as a table."""
        seconds = ["kept" if s.seconds is None else f"{s.seconds:.1f}" for s in self.steps]
        note = "kept: done in an earlier run, and nothing has changed since."
        return table(
            "Steps",
            "step: {step.name} | result: {step.done.told} | seconds> {seconds}",
            [{"step": s, "seconds": n} for s, n in zip(self.steps, seconds, strict=True)],
            notes=[note] if "kept" in seconds else [],
        )

    def cost_table(self) -> TextTable:
        """Return the cost of each step that calls language models, as a table."""
        return table(
            "Cost of the steps",
            f"step: {{step}} | {SPENT_COLUMNS}",
            [
                spent_row(step.spent.to_json(), step=step.name)
                for step in self.steps
                if step.spent is not None
            ],
            notes=["Total of all runs."],
        )

    def tables(self) -> list[TextTable]:
        """Return the tables of steps and of their costs."""
        costs = self.cost_table()
        return [self.table(), *([costs] if costs.rows else [])]

    def __repr__(self) -> str:
        return "\n".join([*self.findings, *map(to_text, self.tables())])

    def _repr_html_(self) -> str:
        return table_html(*self.tables())


def study(
    path: str | Path,
    *,
    folder: str | Path | None = None,
    cache: str | Path | None = None,
    skip_bad: bool = False,
) -> StudyResult:
    """Run a whole study: references, summaries, judgements, audits, calibration, fairness, report.

    Parameters
    ----------
    path
        The study file (docs/study.md).
    folder
        Folder of all outputs; by default beside the study file, with its name. Repeating the call
        resumes where an earlier one stopped; finished steps are not repeated.
    cache
        Folder of the response cache; by default the user's.
    skip_bad
        Skip invalid lines of inputs.

    Returns
    -------
    StudyResult

    Raises
    ------
    FairJudgeError
        If the file, its data or a model cannot be used. Items that fail are counted.

    Examples
    --------
    >>> import fairjudge as fj
    >>> result = fj.study("study.toml")  # doctest: +SKIP
    >>> result.findings  # doctest: +SKIP
    """
    study = read_study(path, cache=cache)
    return run_study(study, study_folder(study, folder), skip_bad=skip_bad, progress=Bars())


def study_folder(study: Study, folder: str | Path | None) -> Path:
    """Return the folder of a study's outputs."""
    return study.path.with_suffix("") if folder is None else Path(folder)


def run_study(
    study: Study,
    folder: Path,
    *,
    skip_bad: bool,
    progress: Bars,
    tell: Callable[[StepResult], None] = lambda _one: None,
) -> StudyResult:
    """Run the steps of `study`; call `tell` after each. See `fairjudge.study`."""
    check_study(study, skip_bad=skip_bad)
    make_folder(folder)
    budget = study.budget()
    study = study.map_llms(lambda model: model.with_budget(budget))
    context = StepContext(progress=progress, skip_bad=skip_bad)
    results = []
    with lock_folder(folder):
        steps, record = make_steps(study, folder), StudyRecord(folder)
        record.keep_only([step.name for step in steps])
        with budget.record_in(spending_file(folder, folder / RUNS), keep_file=True):
            for step in steps:
                results.append(do_step(step, record, context=context, runs=folder / RUNS))
                _write_costs(folder, results)
                tell(results[-1])
    return StudyResult(
        folder=folder,
        steps=tuple(results),
        n_calls=budget.n_calls,
        cost_usd=budget.booked.known_cost_usd,
    )


def remaining_budget(study: Study, folder: Path) -> Budget:
    """Return the study's budget after the spending of earlier runs."""
    budget = study.budget()
    budget.book_earlier(spending_file(folder, folder / RUNS).earlier)
    return budget


def do_step(step: Step, record: StudyRecord, *, context: StepContext, runs: Path) -> StepResult:
    """Run `step`, unless its result is in the record."""
    key, seconds = step_key(step), None
    result = record.get(step.name, key=key)
    if result is None:
        for path in step.makes:
            make_folder(path.parent)
        run_key = step_key(replace(step, limit=None))  # another limit resumes in the same folder
        start = time.perf_counter()
        result = step.work(context, runs / f"{run_name(step.name)}-{run_key}")
        seconds = time.perf_counter() - start
        record.add(step.name, result, key=key, makes=step.makes, seconds=seconds)
    # The cost of all runs, including those with former settings.
    spent = cost_in(run_folders(runs, step.name)) if step.models else None
    return StepResult(name=step.name, done=result, seconds=seconds, spent=spent)


def cost_by_step(steps: Sequence[StepResult]) -> dict[str, Any]:
    """Return the cost of each step that calls language models, as JSON."""
    return {step.name: step.spent.to_json() for step in steps if step.spent is not None}


def _write_costs(folder: Path, steps: Sequence[StepResult]) -> None:
    """Write the cost of the steps so far, for the page."""
    if costs := cost_by_step(steps):
        write_atomically(folder / COSTS, report_text({"cost_by_step": costs}))


def step_key(step: Step) -> str:
    """Return a key that changes with everything that the result of `step` depends on."""
    limit = {} if step.limit is None else {"limit": step.limit}
    return content_key({**step.settings, **limit, "version": __version__}, step.reads)
