"""The state machine that builds one cluster's reference by one call an article.

    write -> answer* -> collect -> group* -> settle -> (group* | write | finish)

Questions are written on all articles, or where these do not fit on representative ones, which a
first round over seed questions finds (DiverseSumm, section 3.1). Each article is asked all
questions at once, and each question's answers are filtered and grouped at once. Too few questions
left: more are asked. Nodes return values for all that depends on data; only programming errors
raise.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer, Send

from fairjudge.domain import Answer, Article, QuestionAnswers, Unscored
from fairjudge.graphs.reference import Progress, Row, problem, without_same_sources
from fairjudge.references.ports import ArticleBuilder, Found, Question
from fairjudge.references.rounds import (
    asked_otherwise,
    best_first,
    claim,
    found_in,
    how_many_to_ask,
    split_by_share,
    with_places,
    without_places,
)
from fairjudge.references.steps import (
    Validity,
    down_select,
    grouped,
    median_cluster_question,
    medium_length_article,
    representative_articles,
    split_valid,
)
from fairjudge.text.counting import pluralize

MAX_ROUNDS = 2
EXPECTED = 0.5
"""Writers overlook articles: a question is asked where they expect half of the answers needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleDeps:
    """What the nodes work with. ``articles`` are one cluster's usable ones, in cluster order.

    ``fits`` says that all of them can be shown at once; ``n_questions`` are wanted,
    and the ``max_articles`` stay that answer most of them, all where that is None.
    """

    articles: tuple[Article, ...]
    builder: ArticleBuilder
    validity: Validity = field(default_factory=Validity)
    max_articles: int | None = None
    n_seed_questions: int = 8
    n_questions: int = 12
    fits: bool = True
    progress: Progress = lambda stage, done: None  # noqa: ARG005


class ArticleState(TypedDict, total=False):
    """The whole build of one cluster; JSON all through, so that any checkpointer can keep it.

    ``round`` counts from 1, and is 0 while seed questions are asked. ``shown`` are the articles
    that questions are written on. ``waiting`` are questions whose answers are not grouped, best
    first. Answers hold their ``start`` and ``end`` until the end.
    """

    round: int
    shown: list[str]
    questions: list[str]
    cells: Annotated[list[Row], operator.add]
    waiting: list[Row]
    n_sent: int
    groupings: Annotated[list[Row], operator.add]
    kept: list[Row]
    kept_aids: list[str]
    problems: Annotated[list[Row], operator.add]
    dropped: Annotated[list[Row], operator.add]
    dropped_answers: Annotated[list[Row], operator.add]
    n_steps: Annotated[int, operator.add]
    question_answers: list[Row]


class _Part(TypedDict, total=False):
    """The payload of one `Send`."""

    round: int
    aid: str
    questions: list[str]
    question: Row


async def _write(state: ArticleState, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    """Ask for questions: seed ones first where the articles do not fit, at most two rounds then."""
    deps = runtime.context
    articles: tuple[Article, ...]
    if "round" not in state and not deps.fits:
        number, articles = 0, (medium_length_article(deps.articles),)
    else:
        number = state.get("round", 0) + 1
        shown = state.get("shown") or [article.aid for article in deps.articles]
        articles = tuple(article for article in deps.articles if article.aid in shown)
    n_wanted = deps.n_questions - len(state.get("kept", []))
    n = how_many_to_ask(n_wanted) if number else deps.n_seed_questions
    earlier = _earlier(state) if number else []
    written = await _written(deps, articles, n, earlier)
    while isinstance(written, Unscored) and written.reason == "too_long" and len(articles) > 1:
        articles = articles[: len(articles) // 2]
        written = await _written(deps, articles, n, earlier)
    deps.progress("questions", 1)
    update: ArticleState = {"round": number, "n_steps": 1, "questions": []}
    if isinstance(written, Unscored):
        kind = "questions" if number else "seed questions"
        return {**update, "problems": [problem(f"no {kind}", written)]}
    needed = deps.validity.least_sources(len(articles)) if number else 0
    questions, dropped = asked_otherwise(written, [q for q, _ in earlier], least=EXPECTED * needed)
    return {**update, "questions": questions, "dropped": dropped}


async def _written(
    deps: ArticleDeps, articles: Sequence[Article], n: int, earlier: Sequence[tuple[str, str]]
) -> tuple[Question, ...] | Unscored:
    least = deps.validity.least_sources(len(articles))
    return await deps.builder.writer.write(articles, n=n, at_least=least, earlier=earlier)


def _earlier(state: ArticleState) -> list[tuple[str, str]]:
    kept = [(row["question"], "kept") for row in state.get("kept", [])]
    return [*kept, *((row["question"], f"dropped: {row['why']}") for row in state["dropped"])]


def _send_articles(state: ArticleState, runtime: Runtime[ArticleDeps]) -> list[Send] | str:
    among = state.get("kept_aids")
    sends = [
        Send("answer", _Part(round=state["round"], aid=article.aid, questions=state["questions"]))
        for article in runtime.context.articles
        if state["questions"] and (among is None or article.aid in among)
    ]
    return sends or "collect"


async def _answer(state: _Part, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    deps = runtime.context
    article = next(article for article in deps.articles if article.aid == state["aid"])
    answered = await deps.builder.answerer.answer(state["questions"], article)
    deps.progress("answers", 1)
    row: Row = {"round": state["round"], "aid": article.aid}
    update: ArticleState = {"n_steps": 1, "cells": [row]}
    if isinstance(answered, Unscored):
        return {**update, "problems": [problem(f"{article.aid} not asked", answered)]}
    row |= {"answers": [with_places(one) for one in answered.found]}
    if answered.n_absent:
        update["dropped_answers"] = [
            {"why": "does not stand in its article", "n": answered.n_absent}
        ]
    if answered.problem:
        text = f"{article.aid} asked in part: {answered.problem}"
        update["problems"] = [{"text": text, "reason": "unparseable"}]
    return update


def _collect(state: ArticleState, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    """Bring a round's answers under their questions, and choose the articles that stay."""
    deps = runtime.context
    places = {article.aid: n for n, article in enumerate(deps.articles)}
    cells = [cell for cell in state.get("cells", []) if cell["round"] == state["round"]]
    cells.sort(key=lambda cell: places[cell["aid"]])
    found = [found_in(row) for cell in cells for row in cell.get("answers", [])]
    kept_aids = state.get("kept_aids")
    n_sources = len(deps.articles if kept_aids is None else kept_aids)
    dropped: list[Row] = []
    if state["round"]:  # a question that will go takes no passage from one that may stay
        asked, dropped = split_by_share(_asked(state, found), n_sources, deps.validity)
        staying = {question.question for question in asked}
        found = [one for one in found if state["questions"][one.index] in staying]
    claimed = claim(found, taken=_taken(state.get("kept", [])))
    gone = {row["question"] for row in dropped}
    asked = [one for one in _asked(state, claimed) if one.question not in gone]
    if not state["round"]:
        return {"waiting": [question.to_json() for question in asked], "n_sent": 0}
    answered, later = split_by_share(asked, n_sources, deps.validity)
    dropped += later
    if kept_aids is None and answered:
        articles, restricted = down_select(
            answered, deps.articles, limit=deps.max_articles or n_sources
        )
        kept_aids = [article.aid for article in articles]
        answered, later = split_by_share(restricted, len(kept_aids), deps.validity)
        dropped += later
    update: ArticleState = {
        "waiting": [question.to_json() for question in best_first(answered)],
        "n_sent": 0,
        "dropped": dropped,
    }
    if kept_aids is not None:
        update["kept_aids"] = kept_aids
    if len(claimed) < len(found):
        why = "its words answer another question, or stand in a longer answer"
        update["dropped_answers"] = [{"why": why, "n": len(found) - len(claimed)}]
    return update


def _taken(kept: Sequence[Row]) -> list[Found]:
    return [
        found_in(row) for question in kept for group in question["answer_groups"] for row in group
    ]


def _asked(state: ArticleState, found: Sequence[Found]) -> list[QuestionAnswers]:
    """Return the questions of this round, each with its answers in one group."""
    asked = []
    for index, question in enumerate(state["questions"]):
        rows = [with_places(one) for one in found if one.index == index]
        answers = tuple(map(Answer.model_validate, rows))
        groups = (answers,) if answers else ()
        asked.append(QuestionAnswers(question=question, answer_groups=groups))
    return asked


def _send_questions(state: ArticleState, runtime: Runtime[ArticleDeps]) -> list[Send] | str:
    sends = [
        Send("group", _Part(round=state["round"], question=row))
        for row in _next_to_group(state, runtime)
    ]
    return sends or "settle"


def _next_to_group(state: ArticleState, runtime: Runtime[ArticleDeps]) -> list[Row]:
    """Return as many questions as are wanted still, and then twice as many: some do not stay."""
    left = state["waiting"][state["n_sent"] :]
    if not state["round"]:
        return left
    missing = runtime.context.n_questions - len(state.get("kept", []))
    return left[: missing if state["n_sent"] == 0 else 2 * missing]


async def _group(state: _Part, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    deps = runtime.context
    question = QuestionAnswers.model_validate(state["question"])
    answers = [answer for group in question.answer_groups for answer in group]
    found = await deps.builder.grouper.group(question.question, answers, deps.articles)
    deps.progress("groups", 1)
    row: Row = {"round": state["round"], "question": question.question}
    if isinstance(found, Unscored):
        row |= {"why": f"answers not grouped: {found.reason}: {found.detail}"}
        failed = problem(f"{question.question!r}: answers not grouped", found)
        return {"n_steps": 1, "groupings": [row], "problems": [failed]}
    row |= {"grouped": grouped(question.question, answers, found.groups, found.labels).to_json()}
    update: ArticleState = {"n_steps": 1, "groupings": [row]}
    if found.invalid:
        update["dropped_answers"] = [
            {"why": "does not answer its question", "n": len(found.invalid)}
        ]
    if found.problem:
        text = f"{question.question!r} grouped {found.problem}"
        update["problems"] = [{"text": text, "reason": found.reason}]
    return update


def _settle(state: ArticleState, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    """Keep the questions that are valid with their groups; after seed ones, choose articles."""
    deps = runtime.context
    sent = _next_to_group(state, runtime)
    rows = {row["question"]: row for row in state.get("groupings", [])}
    done = [rows[row["question"]] for row in sent]
    questions = [QuestionAnswers.model_validate(row["grouped"]) for row in done if "grouped" in row]
    update: ArticleState = {"n_sent": state["n_sent"] + len(sent)}
    if not state["round"]:
        middle = median_cluster_question(questions)
        shown = representative_articles(middle, deps.articles) if middle else ()
        articles = shown or (medium_length_article(deps.articles),)
        return {**update, "shown": [article.aid for article in articles]}
    valid, dropped = split_valid(questions, len(state.get("kept_aids", [])), deps.validity)
    dropped += [{"question": row["question"], "why": row["why"]} for row in done if "why" in row]
    kept = [*state.get("kept", []), *(question.to_json() for question in valid)]
    return {**update, "kept": kept, "dropped": dropped}


def _go_on(state: ArticleState, runtime: Runtime[ArticleDeps]) -> list[Send] | str:
    if not state["round"]:
        return "write"
    if len(state["kept"]) >= runtime.context.n_questions:
        return "finish"
    if state["n_sent"] < len(state["waiting"]):
        return _send_questions(state, runtime)
    again = state["round"] < MAX_ROUNDS and state["questions"]
    return "write" if again else "finish"


def _finish(state: ArticleState, *, runtime: Runtime[ArticleDeps]) -> ArticleState:
    """Name the questions that were not needed, and leave out where answers stood."""
    deps = runtime.context
    questions = [QuestionAnswers.model_validate(row) for row in state.get("kept", [])]
    why = f"not needed: {pluralize(len(questions), 'question')} that more articles answer were kept"
    dropped = [
        {"question": row["question"], "why": why} for row in state["waiting"][state["n_sent"] :]
    ]
    questions, same = without_same_sources(questions, deps.articles, deps.validity)
    return {
        "question_answers": [without_places(question).to_json() for question in questions],
        "kept_aids": state.get("kept_aids", []),
        "dropped": [*dropped, *same],
    }


def build_article_graph(
    *, checkpointer: Checkpointer = None
) -> CompiledStateGraph[ArticleState, ArticleDeps]:
    """Return the graph that builds one cluster's reference by one call an article.

    Invoke it with an empty state and an `ArticleDeps` as context; what it leaves is as in
    `build_reference_graph`, with ``dropped_answers`` (why, and how many) beside it.
    """
    graph = StateGraph(ArticleState, context_schema=ArticleDeps)
    graph.add_node("write", _write)
    graph.add_node("answer", _answer)
    graph.add_node("collect", _collect)
    graph.add_node("group", _group)
    graph.add_node("settle", _settle)
    graph.add_node("finish", _finish)
    graph.add_edge(START, "write")
    graph.add_conditional_edges("write", _send_articles, ["answer", "collect"])
    graph.add_edge("answer", "collect")
    graph.add_conditional_edges("collect", _send_questions, ["group", "settle"])
    graph.add_edge("group", "settle")
    graph.add_conditional_edges("settle", _go_on, ["group", "write", "finish"])
    graph.add_edge("finish", END)
    return graph.compile(checkpointer=checkpointer)


def article_graph() -> CompiledStateGraph[ArticleState, ArticleDeps]:
    """Return the graph for LangGraph's own tools, which bring their own checkpointer."""
    return build_article_graph()
