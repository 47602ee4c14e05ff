"""Checks before any work, by plan and run, for errors that would stop a study half-way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairjudge.analysis.label_lines import locate_label_errors
from fairjudge.calibration.baselines import covariate_names
from fairjudge.calibration.items import join
from fairjudge.datasets import (
    Loaded,
    check_distinct,
    read_clusters,
    read_labels,
    read_references,
    read_summaries,
)
from fairjudge.domain import (
    Answer,
    Cluster,
    Judgement,
    JudgeTask,
    QuestionAnswers,
    Reference,
    Summary,
)
from fairjudge.engine.build_work import check_any_usable, select_articles
from fairjudge.engine.coroutines import run_to_end
from fairjudge.errors import ConfigurationError, InputError, MissingExtraError
from fairjudge.fairness.values import label_corpus
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.next_commands import ranking_obstacle
from fairjudge.run.judges import check_without_llm, make_judge
from fairjudge.run.judging import check_priced
from fairjudge.run.jury import check_members
from fairjudge.run.material import Material, check_material
from fairjudge.run.planning import check_opens, planned
from fairjudge.run.probing import check_checkable
from fairjudge.run.summaries import check_requirements
from fairjudge.studies.files import CalibrateTable, JudgePart, Study
from fairjudge.studies.key_lines import flags_to_keys

_PLACEHOLDER = "What is said?"


def check_study(study: Study, *, skip_bad: bool) -> None:
    """Raise the error that would stop `study`, as far as its file and its data show it.

    Outputs of later steps are assumed: a question for every cluster whose references can be built,
    and a summary of every cluster by every system.
    """
    budget = study.budget()
    study = study.map_llms(lambda model: model.with_budget(budget))
    sources = _sources(study, skip_bad=skip_bad)
    summaries = [read_summaries(path, skip_bad=skip_bad) for path in study.data.summaries]
    for options, model in study.writers:
        with _error_context(study, f"[[summarize]] {options.system}"):
            check_priced([model])
            check_requirements(sources, options)
        summaries.append(_placeholder_summaries(sources, str(options.system)))
    check_distinct(summaries)
    judgements: list[Judgement] = []
    for part in study.judges:
        with _error_context(study, f"[[judge]] {part.name}"):
            judgements += map(_judgement, _judge(study, part, sources, summaries))
    labels = study.data.labels
    if study.tables.calibrate is not None and labels is not None:
        with _error_context(study, "[calibrate]"):
            _calibrate(study.tables.calibrate, judgements, labels, skip_bad=skip_bad)
    for table in study.tables.fairness:
        with _error_context(study, f"[[fairness]] {table.attribute}"):
            label_corpus(sources.records, attribute=table.attribute, bins=table.bins)


def note_on_labels(study: Study) -> str:
    """Return the reason why the labels can never show that a judge ranks systems, or ``""``."""
    if study.tables.calibrate is None or study.data.labels is None:
        return ""
    aspects = {plan.aspect for part in study.judges for plan in part.options.plans()}
    labels = read_labels(study.data.labels, skip_bad=True)
    return ranking_obstacle(label for label in labels if label.aspect in aspects)


def _sources(study: Study, *, skip_bad: bool) -> Loaded[Any]:
    """Return the references, or placeholders of those to be built; else the clusters."""
    data = study.data
    if data.references is not None:
        if data.clusters is not None:
            read_clusters(data.clusters, skip_bad=skip_bad)
        # Later steps read the questions of references, whatever the judges need.
        try:
            return read_references(data.references, skip_bad=skip_bad)
        except InputError as error:
            if error.field != "question_answers":
                raise
            problem = f"{error.problem}, or set [data] clusters in place of references"
            raise InputError(problem, path=error.path, line=error.line, field=error.field) from None
    clusters = read_clusters(str(data.clusters), skip_bad=skip_bad)
    if study.build is None:
        return clusters
    model, _ = study.build
    with _error_context(study, "[build]"):
        check_priced([model])
        check_any_usable(clusters)
    return replace(clusters, records=tuple(map(_placeholder_reference, clusters)))


def _placeholder_reference(cluster: Cluster) -> Reference:
    """Return `cluster` as a reference with a placeholder question, if one can be built."""
    articles, _, reason = select_articles(cluster)
    answers = tuple((Answer(aid=article.aid, answer=_PLACEHOLDER),) for article in articles[:2])
    question = QuestionAnswers(question=_PLACEHOLDER, answer_groups=answers)
    return Reference(
        eid=cluster.eid,
        articles=cluster.articles,
        question_answers=() if reason else (question,),
    )


def _placeholder_summaries(clusters: Loaded[Any], system: str) -> Loaded[Summary]:
    rows = [Summary(eid=cluster.eid, system=system, text=_PLACEHOLDER) for cluster in clusters]
    return Loaded(path=system, records=tuple(rows), lines=tuple(range(1, len(rows) + 1)))


def _judge(
    study: Study,
    part: JudgePart,
    sources: Loaded[Any],
    summaries: Sequence[Loaded[Summary]],
) -> tuple[JudgeTask, ...]:
    """Return the material of a judge or a jury; raise if it cannot judge."""
    options = part.options
    check_members(part.models, options)
    # Skip sentence splitting: it is slow and cannot raise.
    unsplit = options if options.text_unit is None else replace(options, text_unit="summary")
    material = check_material(sources, summaries, options=unsplit, limit=study.tables.limit)
    for model in part.models:
        if model.llm is None:
            check_without_llm(options, material.plan)
        else:
            run_to_end(_check_model(model, options, material))
    if "checks" in part.audits:
        check_checkable(material.plan.aspect)
    return material.tasks


async def _check_model(model: Model, options: JudgeOptions, material: Material) -> None:
    check_opens(model)
    async with planned(model) as (models, _):
        make_judge(models, replace(options, cascade=None), plan=material.plan)


def _judgement(task: JudgeTask) -> Judgement:
    """Return a possible judgement of `task`."""
    fields: dict[str, Any] = {
        name: getattr(task, name)
        for name in ("eid", "aspect", "protocol", "unit", "order", "repeat", "variant")
    }
    protocol = PROTOCOLS[task.protocol]
    if protocol.listwise:
        fields |= {"systems": task.systems, "ranking": task.systems}
    elif protocol.paired:
        fields |= {"system_a": task.systems[0], "system_b": task.systems[1], "value": "tie"}
    else:
        fields |= {"system": task.systems[0], "value": protocol.score_range[1]}
    return Judgement.model_validate({**fields, "judge": "judge"})


def _calibrate(
    table: CalibrateTable, judgements: Iterable[Judgement], labels: Path, *, skip_bad: bool
) -> None:
    covariate_names(table.covariates, has_summaries=True, has_clusters=True)
    people = read_labels(labels, skip_bad=skip_bad)
    with locate_label_errors(people):
        join(judgements, people, annotators=table.annotators, label_scale=table.label_scale)


@contextmanager
def _error_context(study: Study, table: str) -> Iterator[None]:
    """Add the table's name and line to errors, and replace flags by keys of the study file."""
    try:
        yield
    except MissingExtraError:
        raise
    except ConfigurationError as error:
        message = f"{table}: {flags_to_keys(str(error))}"
        raise ConfigurationError(f"{study.location(message)}: {message}") from None
    except InputError as error:
        problem = flags_to_keys(error.problem)
        if error.path is not None:
            raise InputError(problem, path=error.path, line=error.line, field=error.field) from None
        message = f"{table}: {problem}"
        raise InputError(message, path=study.location(message)) from None
