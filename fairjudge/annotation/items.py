"""From references and summaries to the single items that people label.

Items of summaries are made from the tasks that `fairjudge judge` makes, so that their units are
the same and ``calibrate`` can join the two.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fairjudge.annotation.tasks import LabelTask, TaskName
from fairjudge.domain import (
    Answer,
    Article,
    Cluster,
    JudgeTask,
    ProtocolName,
    QuestionAnswers,
    Reference,
    Summary,
)
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.judges.asking import ReferenceUnit, TextUnit
from fairjudge.judges.tasks import JudgingPlan, plan_tasks
from fairjudge.text.sentences import Span, sentence_texts, split_sentences
from fairjudge.text.usable import worth_reading

REFERENCE_SYSTEM = "reference"
"""Stands for the system in labels of answers, which no summary is part of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to label.

    ``systems`` are one or two; they never reach a page. ``statement`` is the answer or sentence
    asked about, empty where whole summaries are; ``place`` is where it stands in ``texts[0]``.
    ``wordings`` are other ways in which articles give the same answer. ``sources`` are the aids
    of the articles that gave the answer. ``value`` is that of an attribute which the articles
    share, where a sentence is asked about once for each.
    """

    eid: str
    systems: tuple[str, ...]
    aspect: str
    unit: str
    articles: tuple[Article, ...]
    texts: tuple[str, ...] = ()
    question: str = ""
    statement: str = ""
    wordings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    place: Span | None = None
    value: str = ""

    @property
    def id(self) -> str:
        """Return a key that is unique within a task."""
        return json.dumps([self.eid, *self.systems, self.unit], ensure_ascii=False)

    @property
    def block(self) -> tuple[str, ...]:
        """Return what one person should label in one go: items that share their texts."""
        return (self.eid, *self.systems)


def build_items(
    task: LabelTask, clusters: Sequence[Cluster], summaries: Sequence[Summary]
) -> tuple[Item, ...]:
    """Return every item of `task`, cluster by cluster.

    Raises ConfigurationError (the task needs summaries, or questions, and there are none) or
    InputError (nothing is left to label).
    """
    if task.name != "answers" and not summaries:
        raise ConfigurationError(f"task {task.name!r} needs --summaries")
    if task.name in {"answers", "coverage"} and not any(
        isinstance(cluster, Reference) and cluster.question_answers for cluster in clusters
    ):
        raise ConfigurationError(
            f"task {task.name!r} needs references with questions and answers: "
            "run 'fairjudge build' first"
        )
    found = tuple(
        _of_answers(task, clusters)
        if task.name == "answers"
        else _of_summaries(task, clusters, summaries)
    )
    if not found:
        needed = ": it needs two systems' summaries of one cluster"
        raise InputError(
            f"task {task.name!r} found nothing to label{needed * (task.name == 'preference')}"
        )
    return found


def values_of(attribute: str, articles: Iterable[Article]) -> tuple[str, ...]:
    """Return the values of an attribute that articles have, in alphabetical order."""
    found = (article.attributes.get(attribute) for article in articles)
    return tuple(sorted({str(value) for value in found if value is not None}))


def digest(task: LabelTask, items: Sequence[Item]) -> str:
    """Return a hash of all that is asked, so that a store is never used for something else."""
    seen = hashlib.sha256(f"{task.name} {task.aspect} {task.scale.label}".encode())
    for item in items:
        parts = (item.id, item.question, item.statement, *item.texts)
        texts = [article.content for article in item.articles]
        seen.update(json.dumps([parts, texts]).encode())
    return seen.hexdigest()


def _of_answers(task: LabelTask, clusters: Sequence[Cluster]) -> Iterator[Item]:
    for cluster in clusters:
        if not isinstance(cluster, Reference):
            continue
        read = worth_reading(cluster.articles)
        for q, question in enumerate(cluster.question_answers):
            for g, group in enumerate(question.answer_groups):
                sources = {answer.aid for answer in group}
                item = Item(
                    eid=cluster.eid,
                    systems=(REFERENCE_SYSTEM,),
                    aspect=task.aspect,
                    unit=f"answer:{q}.{g}",
                    # what an answer is checked against is shown, however short
                    articles=tuple(
                        article
                        for article in cluster.articles
                        if article in read or article.aid in sources
                    ),
                )
                yield _about_answer(item, question, group)


def _about_answer(item: Item, question: QuestionAnswers, group: Sequence[Answer]) -> Item:
    wordings = tuple(dict.fromkeys(answer.answer for answer in group))
    return replace(
        item,
        question=question.question,
        statement=wordings[0] if wordings else "",
        wordings=wordings[1:],
        sources=tuple(dict.fromkeys(answer.aid for answer in group)),
    )


_UNITS: Mapping[TaskName, tuple[ProtocolName, ReferenceUnit, TextUnit]] = {
    "coverage": ("binary", "qa_pair", "summary"),
    "faithfulness": ("binary", "articles", "sentence"),
    "preference": ("pairwise", "articles", "summary"),
    "rating": ("likert", "articles", "summary"),
    "values": ("binary", "articles", "sentence"),
    "leaning": ("likert", "articles", "summary"),
}
"""The row of the judge's table of protocols whose units the labels have."""


def _of_summaries(
    task: LabelTask, clusters: Sequence[Cluster], summaries: Sequence[Summary]
) -> Iterator[Item]:
    articles = {cluster.eid: worth_reading(cluster.articles) for cluster in clusters}
    whole = {(summary.eid, summary.system): summary.text for summary in summaries}
    protocol, reference_unit, text_unit = _UNITS[task.name]
    plan = JudgingPlan(
        aspect=task.aspect, protocol=protocol, reference_unit=reference_unit, text_unit=text_unit
    )
    for plan_task in plan_tasks(clusters, summaries, plan, split_sentences=sentence_texts):
        if plan_task.order == "ba":
            continue  # which side stands first is drawn for each annotator
        texts = tuple(whole[plan_task.eid, system] for system in plan_task.systems)
        item = _item(plan_task, texts=texts, articles=articles[plan_task.eid])
        yield from _by_value(item, task.attribute) if task.name == "values" else (item,)


def _by_value(item: Item, attribute: str) -> Iterator[Item]:
    """Yield an item beside the articles of each value of their attribute."""
    for value in values_of(attribute, item.articles):
        own = [one for one in item.articles if str(one.attributes.get(attribute)) == value]
        yield replace(
            item,
            unit=f"{item.unit}:{value}",
            articles=tuple(own),
            value=value,
        )


def _item(judge_task: JudgeTask, *, texts: tuple[str, ...], articles: tuple[Article, ...]) -> Item:
    item = Item(
        eid=judge_task.eid,
        systems=judge_task.systems,
        aspect=judge_task.aspect,
        unit=judge_task.unit,
        articles=articles,
        texts=texts,
    )
    if judge_task.questions:
        return _about_answer(
            item, judge_task.questions[0], judge_task.questions[0].answer_groups[0]
        )
    if judge_task.unit.startswith("sentence:"):
        place = split_sentences(texts[0])[int(judge_task.unit.removeprefix("sentence:"))]
        return replace(item, statement=place.text, place=place)
    return item
