"""Steps of a study, and those that make references, summaries and judgements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from glob import escape
from pathlib import Path
from typing import Any

from fairjudge.api.progress import Bars
from fairjudge.datasets import check_distinct, read_summaries, write_records
from fairjudge.errors import InputError, RunError
from fairjudge.options.building import BuildOptions
from fairjudge.options.models import Model
from fairjudge.options.summarizing import SummarizeOptions
from fairjudge.reports.figures import first_items
from fairjudge.reports.findings import NEXT, next_step, standing
from fairjudge.run.building import build_file
from fairjudge.run.judged import JudgeReport, judge_report
from fairjudge.run.jury import judge_files
from fairjudge.run.summaries import summarize_file
from fairjudge.studies.files import JudgePart, Study
from fairjudge.studies.record import KEY_LENGTH, StepRecord
from fairjudge.text.counting import pluralize

_MAX_NAMED = 3
COSTS = "costs.json"
"""What each step cost, in the study's folder."""
UNJUDGED = "No judgement by "
"""How the finding begins of a judge that had nothing to judge."""
RUNS = "runs"
"""The folder of run folders, in the study's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """Settings shared by all steps: progress, and whether bad lines are skipped."""

    progress: Bars
    skip_bad: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: a node of the study's graph, whose edges are the files that steps read and make.

    ``settings`` are what can change the result beside the content of ``reads``; ``models`` the
    language models that are asked. ``work`` is given the run folder from which a killed step goes
    on, as does one whose ``limit`` was raised.
    """

    name: str
    reads: tuple[Path, ...]
    makes: tuple[Path, ...]
    settings: Mapping[str, Any]
    work: Callable[[Workplace, Path], StepRecord] = field(repr=False)
    models: tuple[Model, ...] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where a study's files are: its data, and what its steps make in its folder."""

    study: Study
    folder: Path

    @property
    def clusters(self) -> Path:
        """The articles, by their clusters where these are given."""
        return self.study.data.clusters or self.sources

    @property
    def references(self) -> Path | None:
        """The references, built or given."""
        built = self.study.build is not None
        return self.folder / "references.jsonl" if built else self.study.data.references

    @property
    def sources(self) -> Path:
        """The articles with all that is known of them, for what needs no questions."""
        path = self.references or self.study.data.clusters
        if path is None:
            raise InputError("a study needs clusters or references")
        return path

    def summaries_by(self, system: str) -> Path:
        """Return where the summaries by `system` are written."""
        return self.folder / "summaries" / f"{system}.jsonl"

    @property
    def summary_files(self) -> tuple[Path, ...]:
        """The summaries, given and written."""
        paths = (self.summaries_by(str(writer.system)) for writer, _ in self.study.writers)
        return (*self.study.data.summaries, *paths)

    @property
    def summaries(self) -> Path:
        """All summaries in one file."""
        files = self.summary_files
        return files[0] if len(files) == 1 else self.folder / "summaries.jsonl"

    def judgements_by(self, part: JudgePart) -> Path:
        """Return where the judgements by `part` are written."""
        return self.folder / "judgements" / f"{part.name}.jsonl"

    def audit_of(self, part: JudgePart, kind: str) -> Path:
        """Return where an audit of `part` is written."""
        return self.folder / "audits" / f"{part.name}.{kind}.json"


def build_step(at: Layout, model: Model, options: BuildOptions) -> Step:
    """Return the step that builds references."""
    clusters, output = at.clusters, at.sources

    def work(place: Workplace, run: Path) -> StepRecord:
        outcome = build_file(
            clusters,
            output,
            options=options,
            model=model,
            run=run,
            skip_bad=place.skip_bad,
            progress=place.progress,
        )
        n_questions = sum(len(cluster.reference.question_answers) for cluster in outcome.clusters)
        n, n_without = len(outcome.clusters), outcome.n_without_questions
        n_broken = sum(bool(cluster.why_none and cluster.problems) for cluster in outcome.clusters)
        return StepRecord(
            told=f"{pluralize(n_questions, 'question')} on {pluralize(n, 'cluster')}",
            findings=(
                (f"{n_without} of {pluralize(n, 'cluster')} got no question.",) if n_without else ()
            ),
            n_items=n + outcome.n_steps,
            n_lost=n_broken + outcome.n_failed,
            n_again=outcome.n_failed,
        )

    return Step(
        name="build",
        reads=(clusters,),
        makes=(output,),
        settings={"options": asdict(options), "model": model.identity()},
        models=asking(model),
        work=work,
    )


def summarize_step(at: Layout, options: SummarizeOptions, model: Model) -> Step:
    """Return the step that writes one system's summaries."""
    system = str(options.system)
    clusters, output = at.clusters, at.summaries_by(system)

    def work(place: Workplace, run: Path) -> StepRecord:
        outcome = summarize_file(
            clusters,
            output,
            options=options,
            model=model,
            run=run,
            skip_bad=place.skip_bad,
            progress=place.progress.counter(f"summaries by {system}"),
        )
        n, n_failed = len(outcome.summaries), len(outcome.failed)
        if outcome.failed and not n:
            why = outcome.failed[0].why
            raise RunError(f"no summary by {system}: {why.reason}: {why.detail}")
        return StepRecord(
            told=pluralize(n, "summary", "summaries"),
            n_items=n + n_failed,
            n_lost=n_failed,
            n_again=n_failed,
        )

    return Step(
        name=f"summarize {system}",
        reads=(clusters,),
        makes=(output,),
        settings={"options": asdict(options), "model": model.identity()},
        models=asking(model),
        work=work,
    )


def gather_step(at: Layout) -> Step:
    """Return the step that puts the summaries of several files into one."""
    files, output = at.summary_files, at.summaries

    def work(place: Workplace, _run: Path) -> StepRecord:
        loaded = [read_summaries(path, skip_bad=place.skip_bad) for path in files]
        check_distinct(loaded)
        rows = [record for file in loaded for record in file]
        write_records(output, rows)
        return StepRecord(told=pluralize(len(rows), "summary", "summaries"))

    return Step(name="summaries", reads=files, makes=(output,), settings={}, work=work)


def judge_step(at: Layout, part: JudgePart) -> Step:
    """Return the step by which one judge, or a jury, judges all summaries."""
    options, seed, limit = part.options, at.study.tables.seed, at.study.tables.limit
    files = (at.sources, at.summaries, at.judgements_by(part))
    own = (options.prompt, options.scale, *options.paraphrases)

    def work(place: Workplace, run: Path) -> StepRecord:
        try:
            outcome = judge_files(
                *files,
                options=options,
                models=part.models,
                rule=part.jury,
                run=run,
                skip_bad=place.skip_bad,
                limit=limit,
                progress=place.progress.counter(part.name),
            )
        except InputError as error:
            if at.study.build is None:
                raise
            write_records(files[2], ())  # no question was found: the other judges go on
            problem = f"{UNJUDGED}{part.name}: {error.problem}."
            return StepRecord(told=error.problem, findings=(problem,))
        return _judge_record(judge_report(outcome, options, seed=seed), part, at.study)

    return Step(
        name=f"judge {part.name}",
        reads=(*files[:2], *filter(None, own)),
        makes=files[2:],
        settings={
            "options": options.stated(),
            "jury": part.jury,
            "models": [model.identity() for model in part.models],
            "seed": seed,
        },
        models=asking(*part.models),
        work=work,
        limit=limit,
    )


def _judge_record(report: JudgeReport, part: JudgePart, study: Study) -> StepRecord:
    outcome, missing = report.outcome, report.outcome.missing
    judge = next((row.judge for row in outcome.ratings), "")
    judge += "" if part.name == outcome.plan.aspect else f" ({part.name})"
    boards = [
        replace(
            aspect.board,
            of=f", judged by {judge}",
            calibrated=study.tables.calibrate is not None,
        )
        for aspect in report.aspects
        if aspect.board.n_items
    ]
    details = ", ".join(filter(None, [pluralize(missing.n_items, "item"), missing.in_words()]))
    findings = [text for board in boards for text in standing(board)]
    if outcome.without_tasks:
        clusters = first_items(list(outcome.without_tasks), _MAX_NAMED)
        n = pluralize(outcome.n_missing, "item")
        findings.append(f"Nothing to judge in {clusters} by {part.name}: {n} not applicable.")
    if outcome.n_left:
        n_left = pluralize(outcome.n_left, "judgement")
        later = "without 'limit' the next start continues"
        findings.append(f"A try: {n_left} by {part.name} are left; {later}.")
    todo = next_step(boards[0]) if boards else ""
    return StepRecord(
        told=details,
        findings=tuple(findings),
        next_step=todo if todo.startswith(NEXT) else "",
        n_items=missing.n_items,
        n_lost=missing.n_lost,
        n_again=missing.n_again,
    )


def run_name(step: str) -> str:
    """Return the prefix of the names of a step's run folders."""
    return step.replace(": ", "-").replace(" ", "-")


def run_folders(runs: Path, step: str) -> Iterator[Path]:
    """Return the run folders of a step, those of former settings among them."""
    return runs.glob(f"{escape(run_name(step))}-{'[0-9a-f]' * KEY_LENGTH}")


def asking(*models: Model) -> tuple[Model, ...]:
    """Return the language models among `models`."""
    return tuple(model for model in models if model.llm is not None)
