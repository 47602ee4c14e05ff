"""The state machine that builds one cluster's reference (DiverseSumm, section 3.1).

    write_seed -> seed_pass -> write_questions -> main_pass -> select -> filter* -> finish

Both passes are the same subgraph: every article answers every question, then the answers to each
question are consolidated. Nodes return errors that depend on data as values; only programming
errors raise.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer, Send

from fairjudge.domain import Answer, Article, QuestionAnswers, Unscored
from fairjudge.references.ports import Builder
from fairjudge.references.steps import (
    Validity,
    down_select,
    drop_near_duplicates,
    drop_positions,
    drop_same_sources,
    median_cluster_question,
    medium_length_article,
    representative_articles,
    split_valid,
    with_answers,
)

Row: TypeAlias = dict[str, Any]
Stage: TypeAlias = Literal["questions", "answers", "groups", "filter", "completion"]
Progress: TypeAlias = Callable[[Stage, int], None]
"""Called with a stage and the number of its steps that finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceDeps:
    """The dependencies of the nodes. ``articles`` are the usable ones, in cluster order."""

    articles: tuple[Article, ...]
    builder: Builder
    validity: Validity = field(default_factory=Validity)
    max_articles: int = 10
    n_seed_questions: int = 8
    n_questions: int = 20
    progress: Progress = lambda stage, done: None  # noqa: ARG005


def problem(noun: str, outcome: Unscored) -> Row:
    """Return the row of a failed step with its reason and message."""
    return {"text": f"{noun}: {outcome.reason}: {outcome.detail}", "reason": outcome.reason}


def drop_same_source_questions(
    questions: list[QuestionAnswers], articles: Sequence[Article], validity: Validity
) -> tuple[list[QuestionAnswers], list[Row]]:
    """Drop questions whose sources all answer another question; return the dropped ones as rows."""
    if validity.max_source_overlap is None:
        return questions, []
    distinct_questions, dropped_questions = drop_same_sources(
        questions, articles, max_contained=validity.max_source_overlap
    )
    return distinct_questions, [
        {"question": q.question, "why": "answered by the same sources"} for q in dropped_questions
    ]


class PassInput(TypedDict, total=False):
    """Input of a pass, from its parent."""

    questions: list[str]


class PassOutput(TypedDict, total=False):
    """Output of a pass, to its parent."""

    asked: list[Row]
    asked_problems: list[Row]
    n_steps: int


class PassState(PassInput, PassOutput, total=False):
    """State of a pass: from questions to questions with grouped answers."""

    cells: Annotated[list[Row], operator.add]
    groups: Annotated[list[Row], operator.add]


class BuildState(TypedDict, total=False):
    """The build of one cluster, by either graph; JSON, so that any checkpointer can store it."""

    kept: list[Row]
    kept_aids: list[str]
    problems: Annotated[list[Row], operator.add]
    dropped: Annotated[list[Row], operator.add]
    n_steps: Annotated[int, operator.add]
    question_answers: list[Row]


class ReferenceState(BuildState, total=False):
    """`BuildState` with questions and their grouped answers."""

    questions: list[str]
    asked: list[Row]
    asked_problems: list[Row]
    checked: Annotated[list[Row], operator.add]


class _Part(TypedDict, total=False):
    """The payload of one `Send`."""

    aid: str
    index: int
    questions: list[str]
    answers: list[Row]
    question: Row


def _questions(rows: Sequence[Row]) -> list[QuestionAnswers]:
    return [QuestionAnswers.model_validate(row) for row in rows]


# --- one pass: article x question, then consolidation ---------------------------------------


def _send_articles(state: PassState, runtime: Runtime[ReferenceDeps]) -> list[Send] | str:
    questions = state["questions"]
    sends = [
        Send("answer", _Part(aid=article.aid, questions=questions))
        for article in runtime.context.articles
        if questions
    ]
    return sends or "assemble"


async def _answer(state: _Part, *, runtime: Runtime[ReferenceDeps]) -> PassState:
    deps = runtime.context
    article = next(article for article in deps.articles if article.aid == state["aid"])

    async def ask(index: int, question: str) -> Row:
        answers = await deps.builder.answerer.answer(question, article, cluster=deps.articles)
        deps.progress("answers", 1)
        row: Row = {"index": index, "aid": article.aid}
        if isinstance(answers, Unscored):
            noun = f"{article.aid} on question {index + 1}"
            return row | {"problem": problem(noun, answers)}
        return row | {"answers": [answer.to_json() for answer in answers]}

    calls = [ask(index, question) for index, question in enumerate(state["questions"])]
    return {"cells": list(await asyncio.gather(*calls))}


def _answers_to(state: PassState, index: int, aids: Sequence[str]) -> list[Row]:
    """Return the answers to one question in the cluster's order of articles."""
    cells = [cell for cell in state.get("cells", []) if cell["index"] == index]
    cells.sort(key=lambda cell: aids.index(cell["aid"]))
    return [answer for cell in cells for answer in cell.get("answers", [])]


def _send_questions(state: PassState, runtime: Runtime[ReferenceDeps]) -> list[Send] | str:
    aids = [article.aid for article in runtime.context.articles]
    sends = [
        Send("consolidate", _Part(index=index, questions=[question], answers=answers))
        for index, question in enumerate(state["questions"])
        if (answers := _answers_to(state, index, aids))
    ]
    return sends or "assemble"


async def _consolidate(state: _Part, *, runtime: Runtime[ReferenceDeps]) -> PassState:
    deps = runtime.context
    answers = [Answer.model_validate(row) for row in state["answers"]]
    question = state["questions"][0]
    groups = await deps.builder.consolidator.group(question, answers, deps.articles)
    deps.progress("groups", 1)
    if isinstance(groups, Unscored):
        row = problem(f"answers to {question!r} not grouped", groups)
        return {"groups": [{"index": state["index"], "problem": row}]}
    row = with_answers(question, answers, groups).to_json()
    return {"groups": [{"index": state["index"], "question": row}]}


def _assemble(state: PassState) -> PassOutput:
    rows = sorted(state.get("groups", []), key=lambda row: int(row["index"]))
    failures = [
        cell["problem"]
        for cell in sorted(state.get("cells", []), key=lambda c: (c["index"], c["aid"]))
        if "problem" in cell
    ]
    return {
        "asked": [row["question"] for row in rows if "question" in row],
        "asked_problems": [*failures, *(row["problem"] for row in rows if "problem" in row)],
        "n_steps": len(state.get("cells", [])) + len(rows),
    }


def build_pass_graph() -> CompiledStateGraph[PassState, ReferenceDeps, PassInput, PassOutput]:
    """Return the subgraph of one pass."""
    graph = StateGraph(
        PassState, context_schema=ReferenceDeps, input_schema=PassInput, output_schema=PassOutput
    )
    graph.add_node("answer", _answer)
    graph.add_node("collect", lambda _: {})
    graph.add_node("consolidate", _consolidate)
    graph.add_node("assemble", _assemble)
    graph.add_conditional_edges(START, _send_articles, ["answer", "assemble"])
    graph.add_edge("answer", "collect")
    graph.add_conditional_edges("collect", _send_questions, ["consolidate", "assemble"])
    graph.add_edge("consolidate", "assemble")
    graph.add_edge("assemble", END)
    return graph.compile()


# --- the whole build -------------------------------------------------------------------------


async def _write_seed(
    state: ReferenceState,  # noqa: ARG001  # LangGraph passes it
    *,
    runtime: Runtime[ReferenceDeps],
) -> ReferenceState:
    deps = runtime.context
    questions = await deps.builder.seed_writer.write(
        (medium_length_article(deps.articles),), cluster=deps.articles, n=deps.n_seed_questions
    )
    deps.progress("questions", 1)
    if isinstance(questions, Unscored):
        return {
            "questions": [],
            "problems": [problem("no seed questions", questions)],
            "n_steps": 1,
        }
    return {"questions": list(questions), "n_steps": 1}


async def _write_questions(
    state: ReferenceState, *, runtime: Runtime[ReferenceDeps]
) -> ReferenceState:
    deps = runtime.context
    middle = median_cluster_question(_questions(state["asked"]))
    articles = (
        representative_articles(middle, deps.articles)
        if middle
        else (medium_length_article(deps.articles),)
    )
    write = partial(deps.builder.writer.write, cluster=deps.articles, n=deps.n_questions)
    questions = await write(articles)
    while isinstance(questions, Unscored) and questions.reason == "too_long" and len(articles) > 1:
        articles = articles[: len(articles) // 2]
        questions = await write(articles)
    deps.progress("questions", 1)
    if isinstance(questions, Unscored):
        return {"questions": [], "problems": [problem("no questions", questions)], "n_steps": 1}
    return {"questions": list(drop_near_duplicates(questions)), "n_steps": 1}


def _select(state: ReferenceState, *, runtime: Runtime[ReferenceDeps]) -> ReferenceState:
    """Select valid questions and the best articles, then questions valid on those articles."""
    deps = runtime.context
    valid, dropped_rows = split_valid(_questions(state["asked"]), len(deps.articles), deps.validity)
    valid, same_source_rows = drop_same_source_questions(valid, deps.articles, deps.validity)
    articles, restricted_questions = down_select(valid, deps.articles, limit=deps.max_articles)
    remaining_questions, later_rows = split_valid(
        restricted_questions, len(articles), deps.validity
    )
    return {
        "kept": [question.to_json() for question in remaining_questions],
        "kept_aids": [article.aid for article in articles],
        "dropped": [*dropped_rows, *same_source_rows, *later_rows],
        "problems": state.get("asked_problems", []),
    }


def _send_to_filter(state: ReferenceState, runtime: Runtime[ReferenceDeps]) -> list[Send] | str:
    if runtime.context.builder.post_filter is None:
        return "finish"
    sends = [
        Send("filter", _Part(index=index, question=question))
        for index, question in enumerate(state["kept"])
    ]
    return sends or "finish"


async def _filter(state: _Part, *, runtime: Runtime[ReferenceDeps]) -> ReferenceState:
    """Check one question; if the check fails, keep the question and report the failure."""
    deps = runtime.context
    question = QuestionAnswers.model_validate(state["question"])
    if deps.builder.post_filter is None:
        raise TypeError("the filter node runs only with a post-filter")
    checked = await deps.builder.post_filter.check(question)
    deps.progress("filter", 1)
    if isinstance(checked, Unscored):
        row = problem(f"{question.question!r} not post-filtered", checked)
        return {"problems": [row], "n_steps": 1}
    return {
        "n_steps": 1,
        "checked": [
            {
                "index": state["index"],
                "invalid": sorted(checked.invalid),
                "diverse": checked.diverse,
            }
        ],
    }


def _finish(state: ReferenceState, *, runtime: Runtime[ReferenceDeps]) -> ReferenceState:
    """Apply the post-filter's findings, and drop questions that are no longer valid."""
    deps = runtime.context
    findings = {row["index"]: row for row in state.get("checked", [])}
    checked_questions: list[QuestionAnswers] = []
    dropped: list[Row] = []
    for index, question in enumerate(_questions(state["kept"])):
        finding = findings.get(index, {"invalid": [], "diverse": True})
        if not finding["diverse"]:
            dropped.append({"question": question.question, "why": "answers do not differ"})
            continue
        checked_questions.append(drop_positions(question, finding["invalid"]))
    valid, later_rows = split_valid(checked_questions, len(state["kept_aids"]), deps.validity)
    return {
        "question_answers": [question.to_json() for question in valid],
        "dropped": [*dropped, *later_rows],
    }


def build_reference_graph(
    *, checkpointer: Checkpointer = None
) -> CompiledStateGraph[ReferenceState, ReferenceDeps]:
    """Return the graph that builds one cluster's reference.

    Invoke it with an empty state and a `ReferenceDeps` as context. The result is in
    ``question_answers`` and ``kept_aids`` of its state; ``problems`` are the failures among
    ``n_steps`` steps, ``dropped`` the dropped questions, with reasons.
    """
    pass_graph = build_pass_graph()
    graph = StateGraph(ReferenceState, context_schema=ReferenceDeps)
    graph.add_node("write_seed", _write_seed)
    graph.add_node("seed_pass", pass_graph)
    graph.add_node("write_questions", _write_questions)
    graph.add_node("main_pass", pass_graph)
    graph.add_node("select", _select)
    graph.add_node("filter", _filter)
    graph.add_node("finish", _finish)
    graph.add_edge(START, "write_seed")
    graph.add_edge("write_seed", "seed_pass")
    graph.add_edge("seed_pass", "write_questions")
    graph.add_edge("write_questions", "main_pass")
    graph.add_edge("main_pass", "select")
    graph.add_conditional_edges("select", _send_to_filter, ["filter", "finish"])
    graph.add_edge("filter", "finish")
    graph.add_edge("finish", END)
    return graph.compile(checkpointer=checkpointer)


def reference_graph() -> CompiledStateGraph[ReferenceState, ReferenceDeps]:
    """Return the graph for LangGraph's own tools, which provide the checkpointer."""
    return build_reference_graph()
