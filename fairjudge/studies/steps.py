"""Steps of a study: the class, and the steps that make references, summaries and judgements."""

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
from fairjudge.reports.findings import NEXT, leader_sentences, next_step
from fairjudge.run.building import build_file
from fairjudge.run.judged import JudgeReport, judge_report
from fairjudge.run.jury import judge_files
from fairjudge.run.summaries import summarize_file
from fairjudge.studies.files import JudgePart, Study
from fairjudge.studies.record import KEY_LENGTH, StepRecord
from fairjudge.text.counting import pluralize

_MAX_EXAMPLES = 3
COSTS = "costs.json"
"""File of each step's cost, in the study's folder."""
UNJUDGED = "No judgement by "
"""First words of the finding on a judge without items."""
RUNS = "runs"
"""Folder of run folders, in the study's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """Settings shared by all steps: progress bars, and whether invalid lines are skipped."""

    progress: Bars
    skip_bad: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: a node of the study's graph, whose edges are the files that steps read and make.

    The result depends on ``settings`` and the content of ``reads``; ``models`` are the language
    models that the step calls. ``work`` runs it in a run folder, from which a killed step resumes,
    as does one whose ``limit`` was raised.
    """

    name: str
    reads: tuple[Path, ...]
    makes: tuple[Path, ...]
    settings: Mapping[str, Any]
    work: Callable[[StepContext, Path], StepRecord] = field(repr=False)
    models: tuple[Model, ...] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Paths of a study's data and of its steps' outputs in ``folder``."""

    study: Study
    folder: Path

    @property
    def clusters(self) -> Path:
        """Cluster files, or else the references."""
        return self.study.data.clusters or self.sources

    @property
    def references(self) -> Path | None:
        """The references, built or from the data; None without references."""
        built = self.study.build is not None
        return self.folder / "references.jsonl" if built else self.study.data.references

    @property
    def sources(self) -> Path:
        """The references, or else the clusters."""
        path = self.references or self.study.data.clusters
        if path is None:
            raise InputError("a study needs clusters or references")
        return path

    def summaries_path(self, system: str) -> Path:
        """Return the path of the summaries by `system`."""
        return self.folder / "summaries" / f"{system}.jsonl"

    @property
    def summary_files(self) -> tuple[Path, ...]:
        """Files of summaries: those of the data, then one per writer."""
        paths = (self.summaries_path(str(writer.system)) for writer, _ in self.study.writers)
        return (*self.study.data.summaries, *paths)

    @property
    def summaries(self) -> Path:
        """The file of all summaries."""
        files = self.summary_files
        return files[0] if len(files) == 1 else self.folder / "summaries.jsonl"

    def judgements_path(self, part: JudgePart) -> Path:
        """Return the path of the judgements by `part`."""
        return self.folder / "judgements" / f"{part.name}.jsonl"

    def audit_path(self, part: JudgePart, kind: str) -> Path:
        """Return the path of an audit of `part`."""
        return self.folder / "audits" / f"{part.name}.{kind}.json"


def build_step(layout: Layout, model: Model, options: BuildOptions) -> Step:
    """Return the step that builds references."""
    clusters, output = layout.clusters, layout.sources

    def work(context: StepContext, run: Path) -> StepRecord:
        outcome = build_file(
            clusters,
            output,
            options=options,
            model=model,
            run=run,
            skip_bad=context.skip_bad,
            progress=context.progress,
        )
        n_questions = sum(len(cluster.reference.question_answers) for cluster in outcome.clusters)
        n, n_without = len(outcome.clusters), outcome.n_without_questions
        n_broken = sum(bool(cluster.why_none and cluster.problems) for cluster in outcome.clusters)
        return StepRecord(
            told=f"{pluralize(n_questions, 'question')} on {pluralize(n, 'cluster')}",
            findings=(
                (f"{n_without} of {pluralize(n, 'cluster')} without a question.",)
                if n_without
                else ()
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
        models=language_models(model),
        work=work,
    )


def summarize_step(layout: Layout, options: SummarizeOptions, model: Model) -> Step:
    """Return the step that writes one system's summaries."""
    system = str(options.system)
    clusters, output = layout.clusters, layout.summaries_path(system)

    def work(context: StepContext, run: Path) -> StepRecord:
        outcome = summarize_file(
            clusters,
            output,
            options=options,
            model=model,
            run=run,
            skip_bad=context.skip_bad,
            progress=context.progress.counter(f"summaries by {system}"),
        )
        n, n_failed = len(outcome.summaries), len(outcome.failed)
        if outcome.failed and not n:
            failure = outcome.failed[0].why
            raise RunError(f"no summary by {system}: {failure.reason}: {failure.detail}")
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
        models=language_models(model),
        work=work,
    )


def gather_step(layout: Layout) -> Step:
    """Return the step that merges several files of summaries."""
    files, output = layout.summary_files, layout.summaries

    def work(context: StepContext, _run: Path) -> StepRecord:
        contents = [read_summaries(path, skip_bad=context.skip_bad) for path in files]
        check_distinct(contents)
        rows = [record for file in contents for record in file]
        write_records(output, rows)
        return StepRecord(told=pluralize(len(rows), "summary", "summaries"))

    return Step(name="summaries", reads=files, makes=(output,), settings={}, work=work)


def judge_step(layout: Layout, part: JudgePart) -> Step:
    """Return the step in which one judge or a jury judges all summaries."""
    options, seed, limit = part.options, layout.study.tables.seed, layout.study.tables.limit
    files = (layout.sources, layout.summaries, layout.judgements_path(part))
    option_files = (options.prompt, options.scale, *options.paraphrases)

    def work(context: StepContext, run: Path) -> StepRecord:
        try:
            outcome = judge_files(
                *files,
                options=options,
                models=part.models,
                rule=part.jury,
                run=run,
                skip_bad=context.skip_bad,
                limit=limit,
                progress=context.progress.counter(part.name),
            )
        except InputError as error:
            if layout.study.build is None:
                raise
            write_records(files[2], ())  # without questions the other judges still judge
            problem = f"{UNJUDGED}{part.name}: {error.problem}."
            return StepRecord(told=error.problem, findings=(problem,))
        return _judge_record(judge_report(outcome, options, seed=seed), part, layout.study)

    return Step(
        name=f"judge {part.name}",
        reads=(*files[:2], *filter(None, option_files)),
        makes=files[2:],
        settings={
            "options": options.identity(),
            "jury": part.jury,
            "models": [model.identity() for model in part.models],
            "seed": seed,
        },
        models=language_models(*part.models),
        work=work,
        limit=limit,
    )


def _judge_record(report: JudgeReport, part: JudgePart, study: Study) -> StepRecord:
    outcome, missing_items = report.outcome, report.outcome.missing
    judge = next((row.judge for row in outcome.ratings), "")
    judge += "" if part.name == outcome.plan.aspect else f" ({part.name})"
    boards = [
        replace(
            aspect.board,
            suffix=f", judged by {judge}",
            calibrated=study.tables.calibrate is not None,
        )
        for aspect in report.aspects
        if aspect.board.n_items
    ]
    details = ", ".join(
        filter(None, [pluralize(missing_items.n_items, "item"), missing_items.in_words()])
    )
    findings = [text for board in boards for text in leader_sentences(board)]
    if outcome.without_tasks:
        clusters = first_items(list(outcome.without_tasks), _MAX_EXAMPLES)
        n = pluralize(outcome.n_missing, "item")
        findings.append(f"Nothing to judge in {clusters} by {part.name}: {n} not applicable.")
    if outcome.n_left:
        n_left = pluralize(outcome.n_left, "judgement")
        remedy = "rerun without 'limit' to continue"
        findings.append(f"A trial run: {n_left} by {part.name} remain; {remedy}.")
    suggestion = next_step(boards[0]) if boards else ""
    return StepRecord(
        told=details,
        findings=tuple(findings),
        next_step=suggestion if suggestion.startswith(NEXT) else "",
        n_items=missing_items.n_items,
        n_lost=missing_items.n_lost,
        n_again=missing_items.n_again,
    )


def run_name(step: str) -> str:
    """Return the prefix of the names of a step's run folders."""
    return step.replace(": ", "-").replace(" ", "-")


def run_folders(runs: Path, step: str) -> Iterator[Path]:
    """Return the run folders of a step, including those of former settings."""
    return runs.glob(f"{escape(run_name(step))}-{'[0-9a-f]' * KEY_LENGTH}")


def language_models(*models: Model) -> tuple[Model, ...]:
    """Return the language models among `models`."""
    return tuple(model for model in models if model.llm is not None)
