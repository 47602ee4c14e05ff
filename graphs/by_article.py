"""The state machine that builds one cluster's reference with one call per article.

    write -> answer* -> collect -> group* -> settle -> complete* -> finish

Questions are about points on which articles differ, written from all articles at once, or in parts
if they do not fit the context. One call per article answers all questions. The answers are grouped
in one call per question, or in one call for all questions if there are few articles. A second
reading for missed answers is optional. Nodes return errors that depend on data as values; only
programming errors raise.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer, Send

from fairjudge.domain import Answer, Article, QuestionAnswers, Unscored
from fairjudge.graphs.reference import (
    BuildState,
    Progress,
    Row,
    drop_same_source_questions,
    problem,
)
from fairjudge.references.overlap import (
    drop_equal_answers,
    drop_repetitions,
    with_positions,
    without_positions,
)
from fairjudge.references.ports import (
    AnswerSet,
    ArticleBuilder,
    Question,
)
from fairjudge.references.steps import (
    MIN_SOURCES,
    Validity,
    add_missed_answer,
    down_select,
    drop_near_duplicates,
    drop_surplus_facets,
    drop_unsupported,
    question_count,
    split_articles,
    split_valid,
    with_grouping,
    with_weights,
)
from fairjudge.text.counting import pluralize

MAX_ARTICLES_PER_GROUPING = 5
"""Maximum number of articles for which one call groups the answers to all questions."""
MAX_ANSWERS_PER_GROUPING = 60
"""Maximum number of answers that one call groups."""
MAX_CHARACTERS_PER_COMPLETION = 20_000
"""Maximum total length of articles, in characters, that completion reads in one call."""
_ABSENT = "does not stand in its article"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleDeps:
    """The dependencies of the nodes. ``articles`` are the usable ones, in cluster order.

    Questions are written from the articles in ``n_parts`` parts, so that each part fits into the
    context. ``n_questions`` is the maximum number of questions (default: by the articles' length).
    ``max_articles`` is the maximum number of articles (default: all); those that answer most
    questions are selected. If fewer than ``facets`` questions remain, questions whose answers can
    all be true (facets) are added.
    """

    articles: tuple[Article, ...]
    builder: ArticleBuilder
    validity: Validity = field(default_factory=Validity)
    max_articles: int | None = None
    n_questions: int | None = None
    facets: int = 1
    n_parts: int = 1
    progress: Progress = lambda stage, done: None  # noqa: ARG005


class ArticleState(BuildState, total=False):
    """`BuildState` of a build with one call per article.

    ``answered`` are questions with ungrouped answers. Answers have their ``start`` and ``end`` in
    the article until the last node removes them.
    """

    questions: list[Row]
    cells: Annotated[list[Row], operator.add]
    answered: list[Row]
    sorted: Annotated[list[Row], operator.add]
    completed: Annotated[list[Row], operator.add]
    dropped_answers: Annotated[list[Row], operator.add]
    doubtful: list[Row]


class _Part(TypedDict, total=False):
    """The payload of one `Send`."""

    aids: list[str]
    questions: list[Row]
    places: list[int]


async def _write(state: ArticleState, *, runtime: Runtime[ArticleDeps]) -> ArticleState:  # noqa: ARG001
    """Write questions on all articles, or on each part of them if they do not fit the context."""
    deps = runtime.context
    n_questions = deps.n_questions or question_count(deps.articles)
    pending_parts = list(split_articles(deps.articles, deps.n_parts))
    questions_by_part: list[tuple[Question, ...]] = []
    failures: list[Row] = []
    n_calls = 0
    while pending_parts:
        articles = pending_parts.pop(0)
        n_calls += 1
        min_sources = max(MIN_SOURCES, deps.validity.min_sources(len(articles)))
        outcome = await deps.builder.writer.write(articles, n=n_questions, min_sources=min_sources)
        if not isinstance(outcome, Unscored):
            questions_by_part.append(outcome)
        elif outcome.reason == "too_long" and len(articles) > 2:
            pending_parts = [*split_articles(articles, 2), *pending_parts]
        else:
            failures.append(problem("no questions", outcome))
    deps.progress("questions", 1)
    questions, dropped_rows = _select_questions(questions_by_part, n_questions)
    rows: list[Row] = [{"text": q.text, "kind": q.kind, "seen": list(q.seen)} for q in questions]
    return {
        "questions": rows,
        "dropped": dropped_rows,
        "problems": failures,
        "n_steps": n_calls,
    }


def _select_questions(
    questions_by_part: Sequence[Sequence[Question]], n: int
) -> tuple[list[Question], list[Row]]:
    """Return `n` distinct questions, taken from the parts in turn, and the dropped ones."""
    candidates = [
        question for turn in zip_longest(*questions_by_part) for question in turn if question
    ]
    texts = drop_near_duplicates([question.text for question in candidates])
    distinct_questions = [next(q for q in candidates if q.text == text) for text in texts]
    same_reason = "nearly the same as another question"
    surplus_reason = f"not among the first {n}"
    dropped_rows = [
        {"question": q.text, "why": same_reason} for q in candidates if q.text not in texts
    ]
    dropped_rows += [{"question": q.text, "why": surplus_reason} for q in distinct_questions[n:]]
    return distinct_questions[:n], dropped_rows


def _questions(rows: Sequence[Row]) -> list[Question]:
    return [Question(text=row["text"], kind=row["kind"], seen=tuple(row["seen"])) for row in rows]


def _send_articles(state: ArticleState, runtime: Runtime[ArticleDeps]) -> list[Send] | str:
    sends = [
        Send("answer", _Part(aids=[article.aid], questions=state["questions"]))
        for article in runtime.context.articles
        if state["questions"]
    ]
    return sends or "collect"


async def _answer(state: _Part, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    deps = runtime.context
    (article,) = _find_articles(deps, state["aids"])
    outcome = await deps.builder.answerer.answer(_questions(state["questions"]), article)
    deps.progress("answers", 1)
    row: Row = {"aid": article.aid}
    update: ArticleState = {"n_steps": 1, "cells": [row]}
    if isinstance(outcome, Unscored):
        return {**update, "problems": [problem(f"{article.aid} not asked", outcome)]}
    row |= {"answers": [with_positions(answer) for answer in drop_equal_answers(outcome.found)]}
    update["dropped_answers"] = _count_row(_ABSENT, outcome.n_absent)
    if outcome.problem:
        text = f"{article.aid} asked in part: {outcome.problem}"
        update["problems"] = [{"text": text, "reason": "unparseable"}]
    return update


def _find_articles(deps: ArticleDeps, aids: Sequence[str]) -> tuple[Article, ...]:
    return tuple(article for article in deps.articles if article.aid in aids)


def _count_row(reason: str, n: int) -> list[Row]:
    return [{"why": reason, "n": n}] if n else []


def _collect(state: ArticleState, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    """Collect the answers by question, and select the articles."""
    deps = runtime.context
    positions = {article.aid: n for n, article in enumerate(deps.articles)}
    cells = sorted(state.get("cells", []), key=lambda cell: positions[cell["aid"]])
    rows = [row for cell in cells for row in cell.get("answers", [])]
    questions = [
        QuestionAnswers(question=question["text"], answer_groups=_one_group(rows, index))
        for index, question in enumerate(state["questions"])
    ]
    selected_questions, dropped_rows = _split_by_share(questions, len(deps.articles), deps)
    articles: Sequence[Article] = deps.articles
    if deps.max_articles is not None and selected_questions:
        articles, restricted_questions = down_select(
            selected_questions, deps.articles, limit=deps.max_articles
        )
        selected_questions, later_rows = _split_by_share(restricted_questions, len(articles), deps)
        dropped_rows += later_rows
    return {
        "answered": [question.to_json() for question in selected_questions],
        "kept_aids": [article.aid for article in articles] if selected_questions else [],
        "dropped": dropped_rows,
    }


def _one_group(rows: Sequence[Row], index: int) -> tuple[tuple[Answer, ...], ...]:
    answers = tuple(Answer.model_validate(row) for row in rows if row["index"] == index)
    return (answers,) if answers else ()


def _split_by_share(
    questions: Sequence[QuestionAnswers], n_sources: int, deps: ArticleDeps
) -> tuple[list[QuestionAnswers], list[Row]]:
    """Split questions by whether enough sources answer them, before grouping."""
    by_share = Validity(min_source_share=deps.validity.min_source_share, min_groups=1)
    valid, dropped_rows = split_valid(questions, n_sources, by_share, min_sources=MIN_SOURCES)
    return valid, list(dropped_rows)


def _send_questions(state: ArticleState, runtime: Runtime[ArticleDeps]) -> list[Send] | str:
    """Send all questions to one grouping if answers are few, else each to its own."""
    rows = state["answered"]
    n_answers = sum(len(row["answer_groups"][0]) for row in rows)
    is_joint = (
        len(runtime.context.articles) <= MAX_ARTICLES_PER_GROUPING
        and n_answers <= MAX_ANSWERS_PER_GROUPING
    )
    calls = [list(range(len(rows)))] if is_joint and rows else [[n] for n in range(len(rows))]
    sends = [Send("group", _Part(questions=rows, places=places)) for places in calls]
    return sends or "settle"


async def _group(state: _Part, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    deps = runtime.context
    questions = [QuestionAnswers.model_validate(row) for row in state["questions"]]
    to_group = [AnswerSet(index=n, answers=questions[n].answer_groups[0]) for n in state["places"]]
    texts = [question.question for question in questions]
    groupings = await deps.builder.grouper.group(to_group, texts, deps.articles)
    deps.progress("groups", len(to_group))
    rows: list[Row] = []
    problems: list[Row] = []
    n_invalid = 0
    for entry, grouping in zip(to_group, groupings, strict=True):
        question, row = texts[entry.index], {"index": entry.index}
        if isinstance(grouping, Unscored):
            problems.append(problem(f"{question!r}: answers not grouped", grouping))
            rows.append(row | {"why": f"answers not grouped: {grouping.reason}: {grouping.detail}"})
            continue
        rows.append(row | {"grouped": with_grouping(question, entry.answers, grouping).to_json()})
        n_invalid += len(grouping.invalid)
        if grouping.problem:
            text = f"{question!r} grouped {grouping.problem}"
            problems.append({"text": text, "reason": grouping.reason})
    return {
        "n_steps": len(to_group),
        "sorted": rows,
        "problems": problems,
        "dropped_answers": _count_row("does not answer its question", n_invalid),
    }


def _settle(state: ArticleState, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    """Select valid questions that do not repeat another question."""
    deps = runtime.context
    rows = sorted(state.get("sorted", []), key=lambda row: int(row["index"]))
    questions = [QuestionAnswers.model_validate(row["grouped"]) for row in rows if "grouped" in row]
    n_sources = len(state["kept_aids"])
    valid, dropped_rows = split_valid(questions, n_sources, deps.validity, min_sources=MIN_SOURCES)
    dropped_rows += [
        {"question": state["answered"][row["index"]]["question"], "why": row["why"]}
        for row in rows
        if "why" in row
    ]
    valid, same_source_rows = drop_same_source_questions(valid, deps.articles, deps.validity)
    distinct_questions, repeated_rows = drop_repetitions(valid)
    selected_questions, surplus_questions = drop_surplus_facets(
        distinct_questions, target=deps.facets
    )
    n_kept = pluralize(len(selected_questions), "question")
    reason = f"most of its answers can be true together ({n_kept} kept)"
    return {
        "kept": [question.to_json() for question in selected_questions],
        "dropped": [*dropped_rows, *same_source_rows, *repeated_rows]
        + [{"question": question.question, "why": reason} for question in surplus_questions],
    }


def _send_to_complete(state: ArticleState, runtime: Runtime[ArticleDeps]) -> list[Send] | str:
    deps = runtime.context
    if deps.builder.completer is None or not state["kept"]:
        return "finish"
    articles = _find_articles(deps, state["kept_aids"])
    length = sum(len(article.title) + len(article.content) for article in articles)
    aids = [article.aid for article in articles]
    parts = [aids] if length <= MAX_CHARACTERS_PER_COMPLETION else [[aid] for aid in aids]
    return [Send("complete", _Part(aids=part, questions=state["kept"])) for part in parts]


async def _complete(state: _Part, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    deps = runtime.context
    if deps.builder.completer is None:
        raise TypeError("the complete node runs only with a completer")
    questions = [QuestionAnswers.model_validate(row) for row in state["questions"]]
    articles = _find_articles(deps, state["aids"])
    completion = await deps.builder.completer.complete(questions, articles)
    deps.progress("completion", 1)
    aids_text = ", ".join(state["aids"])
    if isinstance(completion, Unscored):
        return {"n_steps": 1, "problems": [problem(f"{aids_text} not read again", completion)]}
    row: Row = {
        "aids": state["aids"],
        "missed": [
            {"question": missed.index, "group": missed.group, "answer": with_positions(missed)}
            for missed in completion.missed
        ],
        "doubtful": [list(doubt) for doubt in completion.doubtful],
        "unsupported": [list(place) for place in completion.unsupported],
    }
    text = f"{aids_text} read again in part: {completion.problem}"
    problems: list[Row] = [{"text": text, "reason": "unparseable"}] if completion.problem else []
    return {
        "n_steps": 1,
        "completed": [row],
        "problems": problems,
        "dropped_answers": _count_row(_ABSENT, completion.n_absent)
        + _count_row("does not say its group's label", len(completion.unsupported)),
    }


def _finish(state: ArticleState, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    """Apply the second reading, weight the groups, and remove the answers' offsets."""
    deps = runtime.context
    order = {article.aid: n for n, article in enumerate(deps.articles)}
    rows = sorted(state.get("completed", []), key=lambda row: order[row["aids"][0]])
    checked_questions: list[QuestionAnswers] = []
    dropped_rows: list[Row] = []
    doubtful_labels: list[Row] = []
    for n, row_json in enumerate(state.get("kept", [])):
        question, doubts = _with_completion(QuestionAnswers.model_validate(row_json), n, rows)
        valid, invalid = split_valid(
            [question], len(state["kept_aids"]), deps.validity, min_sources=MIN_SOURCES
        )
        checked_questions += valid
        dropped_rows += invalid
        doubtful_labels += doubts if valid else []
    return {
        "question_answers": [
            without_positions(with_weights(question)).to_json() for question in checked_questions
        ],
        "dropped": dropped_rows,
        "doubtful": doubtful_labels,
    }


def _with_completion(
    question: QuestionAnswers, n: int, rows: Sequence[Row]
) -> tuple[QuestionAnswers, list[Row]]:
    """Apply the second reading to question `n`; return it and its doubtful labels."""
    missed_answers = (entry for row in rows for entry in row["missed"] if entry["question"] == n)
    for entry in missed_answers:
        answer = Answer.model_validate(entry["answer"])
        question = add_missed_answer(question, entry["group"], answer)
    places = [(g, position) for row in rows for q, g, position in row["unsupported"] if q == n]
    result, new_index = drop_unsupported(question, places)
    aids: dict[int, list[str]] = {}
    for g, aid in ((g, aid) for row in rows for q, g, aid in row["doubtful"] if q == n):
        group = result.answer_groups[new_index[g]] if g in new_index else ()
        if any(answer.aid == aid for answer in group):
            aids.setdefault(new_index[g], []).append(aid)
    text = question.question
    return result, [{"question": text, "group": g, "aids": aids[g]} for g in sorted(aids)]


def build_article_graph(
    *, checkpointer: Checkpointer = None
) -> CompiledStateGraph[ArticleState, ArticleDeps]:
    """Return the graph that builds one cluster's reference with one call per article.

    Invoke it with an empty state and an `ArticleDeps` as context. Its final state has the keys of
    `build_reference_graph`, ``dropped_answers`` (reasons with counts), and ``doubtful`` (labels
    that a second reading did not find in a member's article).
    """
    graph = StateGraph(ArticleState, context_schema=ArticleDeps)
    graph.add_node("write", _write)
    graph.add_node("answer", _answer)
    graph.add_node("collect", _collect)
    graph.add_node("group", _group)
    graph.add_node("settle", _settle)
    graph.add_node("complete", _complete)
    graph.add_node("finish", _finish)
    graph.add_edge(START, "write")
    graph.add_conditional_edges("write", _send_articles, ["answer", "collect"])
    graph.add_edge("answer", "collect")
    graph.add_conditional_edges("collect", _send_questions, ["group", "settle"])
    graph.add_edge("group", "settle")
    graph.add_conditional_edges("settle", _send_to_complete, ["complete", "finish"])
    graph.add_edge("complete", "finish")
    graph.add_edge("finish", END)
    return graph.compile(checkpointer=checkpointer)


def article_graph() -> CompiledStateGraph[ArticleState, ArticleDeps]:
    """Return the graph for LangGraph's own tools, which provide the checkpointer."""
    return build_article_graph()
