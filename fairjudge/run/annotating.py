"""Set up a labelling job: read the files, build and assign the items, open the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from fairjudge.annotation.active import Draw, Target, draw
from fairjudge.annotation.adjudication import Adjudication, read_adjudication
from fairjudge.annotation.board import Job
from fairjudge.annotation.desk import LabelService
from fairjudge.annotation.items import Item, attribute_values, build_items, digest
from fairjudge.annotation.labels_file import LabelWriter
from fairjudge.annotation.passages import (
    Marks,
    embedding_similarity,
    mark_passages,
    word_similarity,
)
from fairjudge.annotation.planning import JobOptions, item_key, match_controls, plan_job
from fairjudge.annotation.store import Store
from fairjudge.annotation.tasks import LabelTask, label_task, without_controls
from fairjudge.datasets import (
    Loaded,
    match_summaries,
    read_clusters,
    read_judgements,
    read_labels,
    read_references,
    read_summaries,
)
from fairjudge.domain import Judgement, Record, Summary, TaskName, Value
from fairjudge.engine.runs import check_writable
from fairjudge.errors import InputError
from fairjudge.records.matching import harmonize_ids, match
from fairjudge.scales import load_scale

Highlight: TypeAlias = Literal["words", "embeddings", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedJob:
    """A job ready to be opened; ``drawn`` is None if all items are to be labelled.

    ``n_empty`` summaries have no text and are not judged.
    """

    task: LabelTask
    items: tuple[Item, ...]
    job: Job
    drawn: Draw | None
    n_empty: int = 0
    adjudication: Adjudication | None = None


def prepare(
    name: TaskName,
    source: Path,
    *,
    summaries: Path | None = None,
    scale: Path | None = None,
    controls: Path | None = None,
    judgements: Path | None = None,
    adjudicate: Path | None = None,
    aspect: str | None = None,
    attribute: str | None = None,
    options: JobOptions,
    budget: int | None = None,
    random_share: float = 0.25,
    target: Target = "mean",
    skip_bad: bool = False,
) -> PreparedJob:
    """Read the files and plan the job; `source` has references, or clusters without questions.

    With `judgements` and a `budget`, about `budget` items are sampled, `random_share` of them
    uniformly, so that labels narrow the calibrated interval of `target` most.

    Raises FairJudgeError if a file cannot be read, the task requires another file, or there is
    nothing to label.
    """
    reader = read_references if name in {"answers", "coverage"} else read_clusters
    clusters = reader(source, skip_bad=skip_bad)
    articles = (article for cluster in clusters for article in cluster.articles)
    values = attribute_values(attribute, articles) if attribute else ()
    task = label_task(
        name,
        aspect=aspect,
        scale=load_scale(scale) if scale else None,
        attribute=attribute,
        values=values,
    )
    matched_summaries: Sequence[Summary] | Loaded[Summary] = ()
    if summaries:
        matched_summaries = match_summaries(read_summaries(summaries, skip_bad=skip_bad), clusters)
    usable = [summary for summary in matched_summaries if summary.text.strip()]
    items = build_items(task, list(clusters), usable)
    records = (*clusters, *usable)
    answers = _controls(controls, items, task, records, skip_bad=skip_bad)
    if not answers:
        task = without_controls(task)
    active_draw = None
    if judgements is not None and budget is not None:
        active_draw = draw(
            items,
            _read_judgements_of_items(judgements, items, records, skip_bad=skip_bad),
            budget=budget,
            random_share=random_share,
            target=target,
            seed=options.seed,
            leave_out=answers,
        )
    adjudication = read_adjudication(adjudicate, items) if adjudicate else None
    item_order = (
        adjudication.numbers if adjudication else active_draw.drawn if active_draw else None
    )
    job = plan_job(items, options=options, controls=answers, order=item_order)
    if adjudication is not None:
        item_numbers = (number for number in adjudication.numbers if job.wanted[number])
        job = replace(job, blocks=tuple((number,) for number in item_numbers))
    return PreparedJob(
        task=task,
        items=items,
        job=job,
        drawn=active_draw,
        n_empty=len(matched_summaries) - len(usable),
        adjudication=adjudication,
    )


def _controls(
    path: Path | None,
    items: tuple[Item, ...],
    task: LabelTask,
    records: Sequence[Record],
    *,
    skip_bad: bool,
) -> dict[int, Value]:
    if path is None:
        return {}
    values_by_item = match_controls(
        items, harmonize_ids(read_labels(path, skip_bad=skip_bad), records)
    )
    pair = task.scale.kind == "pair"
    values = {level.value for level in task.scale.levels}
    for number, value in values_by_item.items():
        if isinstance(value, str) != pair or not (pair or value in values):
            raise InputError(
                f"the control {items[number].id} has the invalid value {value!r}",
                path=path,
                field="value",
            )
    return values_by_item


def _read_judgements_of_items(
    path: Path, items: Sequence[Item], records: Sequence[Record], *, skip_bad: bool
) -> Sequence[Judgement]:
    """Read the judgements for active sampling, with the ids of `records`; some must match items."""
    rows = harmonize_ids(read_judgements(path, skip_bad=skip_bad), records)
    keys = ((item_key(item)[0] for item in group) for group in (rows, items))
    match(*keys, names=("judgement", "item of this job")).check(path=str(path))
    return rows


def open_desk(prepared: PreparedJob, output: Path) -> tuple[LabelService, Store]:
    """Open the job's store next to `output`, and `output` itself.

    Raises InputError or RunError if they cannot be used, or belong to another job.
    """
    if output.suffix != ".jsonl":
        raise InputError("labels are written as uncompressed .jsonl", path=output)
    check_writable(output)
    store = Store(
        output.with_name(f"{output.name}.db"),
        identity=digest(prepared.task, prepared.items),
        items=[item.id for item in prepared.items],
    )
    try:
        writer = LabelWriter(
            items=prepared.items,
            leanings=_leanings(prepared.task),
            probabilities=prepared.drawn.probabilities if prepared.drawn else None,
            adjudicated=prepared.adjudication is not None,
        )
        return LabelService(prepared.job, writer, store=store, path=output), store
    except BaseException:
        store.close()
        raise


def _leanings(task: LabelTask) -> dict[Value, str]:
    """Return the answer of each value of the task ``leaning``."""
    levels = task.scale.levels if task.name == "leaning" else ()
    return {level.value: level.answer for level in levels if isinstance(level.value, float)}


def find_passages(prepared: PreparedJob, highlight: Highlight) -> dict[str, Marks]:
    """Find the passage to mark for every item of the job."""
    if highlight == "none":
        return {}
    job = prepared.job
    items = [
        item
        for number, item in enumerate(prepared.items)
        if job.wanted[number] or number in job.controls
    ]
    if highlight == "words":
        return mark_passages(items, word_similarity)
    from fairjudge.scorers.embedding import load_embedder

    return mark_passages(items, embedding_similarity(load_embedder()))
