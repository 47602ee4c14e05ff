"""Build the items to label from references and summaries.

Items of summaries are built from the tasks of `fairjudge judge`, so that labels and judgements have
the same units and ``calibrate`` can join them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fairjudge.annotation.tasks import LabelTask
from fairjudge.domain import (
    Answer,
    Article,
    Cluster,
    JudgeTask,
    ProtocolName,
    QuestionAnswers,
    Reference,
    Summary,
    TaskName,
)
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.judges.asking import ReferenceUnit, TextUnit
from fairjudge.judges.tasks import JudgingPlan, plan_tasks
from fairjudge.text.sentences import Span, sentence_texts, split_sentences
from fairjudge.text.usable import worth_reading

REFERENCE_SYSTEM = "reference"
"""The system in labels of answers, which do not belong to a summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item to label.

    ``systems`` are one or two names, which are never shown to annotators. ``statement`` is the
    answer or sentence to label, empty for whole summaries; ``place`` is its span in ``texts[0]``.
    ``wordings`` are other wordings of the same answer, ``sources`` the aids of the articles that
    gave it. ``value`` is the value of the task's attribute that all ``articles`` have, where a
    sentence is labelled once for each value.
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
        """Return the key of items that share their texts: one person labels them in succession."""
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
    items = tuple(
        _answer_items(task, clusters)
        if task.name == "answers"
        else _summary_items(task, clusters, summaries)
    )
    if not items:
        requirement = ": it needs two systems' summaries of one cluster"
        raise InputError(
            f"task {task.name!r} found nothing to label{requirement * (task.name == 'preference')}"
        )
    return items


def attribute_values(attribute: str, articles: Iterable[Article]) -> tuple[str, ...]:
    """Return the values of `attribute` among `articles`, in alphabetical order."""
    values = (article.attributes.get(attribute) for article in articles)
    return tuple(sorted({str(value) for value in values if value is not None}))


def digest(task: LabelTask, items: Sequence[Item]) -> str:
    """Return a hash of the task and its items, by which a store rejects other tasks."""
    digest_state = hashlib.sha256(f"{task.name} {task.aspect} {task.scale.label}".encode())
    for item in items:
        parts = (item.id, item.question, item.statement, *item.texts)
        texts = [article.content for article in item.articles]
        digest_state.update(json.dumps([parts, texts]).encode())
    return digest_state.hexdigest()


def _answer_items(task: LabelTask, clusters: Sequence[Cluster]) -> Iterator[Item]:
    for cluster in clusters:
        if not isinstance(cluster, Reference):
            continue
        usable = worth_reading(cluster.articles)
        for q, question in enumerate(cluster.question_answers):
            for g, group in enumerate(question.answer_groups):
                sources = {answer.aid for answer in group}
                item = Item(
                    eid=cluster.eid,
                    systems=(REFERENCE_SYSTEM,),
                    aspect=task.aspect,
                    unit=f"answer:{q}.{g}",
                    # Short articles are left out, except those that the answer is from.
                    articles=tuple(
                        article
                        for article in cluster.articles
                        if article in usable or article.aid in sources
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
"""Protocol and units of the judge tasks that match the labels."""


def _summary_items(
    task: LabelTask, clusters: Sequence[Cluster], summaries: Sequence[Summary]
) -> Iterator[Item]:
    articles = {cluster.eid: worth_reading(cluster.articles) for cluster in clusters}
    text_by_key = {(summary.eid, summary.system): summary.text for summary in summaries}
    protocol, reference_unit, text_unit = _UNITS[task.name]
    plan = JudgingPlan(
        aspect=task.aspect, protocol=protocol, reference_unit=reference_unit, text_unit=text_unit
    )
    for plan_task in plan_tasks(clusters, summaries, plan, split_sentences=sentence_texts):
        if plan_task.order == "ba":
            continue  # the order is drawn for each annotator
        texts = tuple(text_by_key[plan_task.eid, system] for system in plan_task.systems)
        item = _item(plan_task, texts=texts, articles=articles[plan_task.eid])
        yield from _items_by_value(item, task.attribute) if task.name == "values" else (item,)


def _items_by_value(item: Item, attribute: str) -> Iterator[Item]:
    """Yield one item per value of the attribute, with the articles that have the value."""
    for value in attribute_values(attribute, item.articles):
        value_articles = tuple(
            a for a in item.articles if str(a.attributes.get(attribute)) == value
        )
        yield replace(item, unit=f"{item.unit}:{value}", articles=value_articles, value=value)


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
        question = judge_task.questions[0]
        return _about_answer(item, question, question.answer_groups[0])
    if judge_task.unit.startswith("sentence:"):
        place = split_sentences(texts[0])[int(judge_task.unit.removeprefix("sentence:"))]
        return replace(item, statement=place.text, place=place)
    return item
