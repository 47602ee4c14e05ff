"""The reference graph, whole, over scripted parts: fan-out, selection, failures, resume."""

from __future__ import annotations

from dataclasses import replace

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.graphs.reference import ReferenceDeps, build_reference_graph
from fairjudge.references.ports import Builder, FilterResult

ARTICLES = tuple(
    Article(aid=aid, content=f"{aid} " + "word " * (10 * n)) for n, aid in enumerate("abcdef", 1)
)


class Writer:
    """Returns its questions and keeps the ids of the articles."""

    def __init__(self, *questions, failing=()):
        self.questions, self.aids, self.failing = questions, [], list(failing)

    async def write(self, articles, *, cluster, n):
        self.aids.append([article.aid for article in articles])
        return self.failing.pop(0) if self.failing else self.questions[:n]


class Answerer:
    """Answers from a table: question -> aid -> answers."""

    def __init__(self, table):
        self.table, self.calls = table, 0

    async def answer(self, question, article, *, cluster):
        self.calls += 1
        result = self.table[question].get(article.aid, ())
        return tuple(Answer(aid=article.aid, answer=item) for item in result)


class ByFirstLetter:
    """Groups answers that begin alike."""

    async def group(self, question, answers, articles):
        letters = dict.fromkeys(answer.answer[0] for answer in answers)
        return tuple(
            tuple(i for i, answer in enumerate(answers) if answer.answer[0] == letter)
            for letter in letters
        )


class Filter:
    def __init__(self, result):
        self.result = result

    async def check(self, question):
        return self.result


TABLE = {
    "seed?": {"a": ("x1",), "b": ("x2",), "c": ("y",), "d": ("z",), "e": ("x3",)},
    "cause?": {"a": ("rain",), "b": ("fault",), "c": ("rain, again",), "d": ("quake",)},
    "cost?": {"a": ("one",)},
    "who?": {"a": ("Ann",), "b": ("Ann too",), "c": ("Ann as well",)},
}


def deps(**changes):
    builder = Builder(
        seed_writer=Writer("seed?"),
        writer=Writer("cause?", "cost?", "who?"),
        answerer=Answerer(TABLE),
        consolidator=ByFirstLetter(),
        post_filter=None,
        signature="scripted",
    )
    return ReferenceDeps(articles=ARTICLES, builder=replace(builder, **changes), max_articles=3)


async def run(context, **kwargs):
    return await build_reference_graph().ainvoke({}, context=context, **kwargs)


def texts(state):
    """Return what the state says of steps that gave nothing."""
    return [problem["text"] for problem in state["problems"]]


async def test_only_valid_questions_are_kept_and_others_have_reasons():
    state = await run(deps())
    (question,) = state["question_answers"]
    assert question["question"] == "cause?"
    # a, b, c, d answer; the three kept are the busiest (a 2, b 2, c 2, d 1), so d's group goes
    assert [[a["aid"] for a in group] for group in question["answer_groups"]] == [["a", "c"], ["b"]]
    assert state["kept_aids"] == ["a", "b", "c"]
    assert {row["question"]: row["why"] for row in state["dropped"]} == {
        "cost?": "answered by 1 of 6 sources, fewer than 30 %",
        "who?": "1 answer group, fewer than 2",
    }
    assert state["problems"] == []


async def test_questions_are_written_on_the_representative_articles():
    context = deps()
    await run(context)
    # seed article: lower median of lengths 10..60 is c; seed groups: x = a, b, e -> median b; y; z
    assert context.builder.seed_writer.aids == [["c"]]
    assert context.builder.writer.aids == [["b", "c", "d"]]


async def test_every_question_is_asked_of_every_article():
    context = deps()
    await run(context)
    assert context.builder.answerer.calls == (1 + 3) * len(ARTICLES)


async def test_without_seed_questions_the_medium_article_is_used():
    context = deps(seed_writer=Writer(failing=[Unscored(reason="backend", detail="down")]))
    state = await run(context)
    assert context.builder.writer.aids == [["c"]]
    assert texts(state) == ["no seed questions: backend: down"]
    assert len(state["question_answers"]) == 1


async def test_articles_too_long_together_are_split_until_they_fit():
    too_long = Unscored(reason="too_long")
    context = deps(writer=Writer("cause?", failing=[too_long]))
    state = await run(context)
    assert context.builder.writer.aids == [["b", "c", "d"], ["b"]]
    assert len(state["question_answers"]) == 1


async def test_single_too_long_article_gives_no_questions_and_a_reason():
    too_long = Unscored(reason="too_long", detail="9000 tokens")
    state = await run(deps(writer=Writer(failing=[too_long, too_long])))
    assert state["question_answers"] == []
    assert texts(state) == ["no questions: too_long: 9000 tokens"]


async def test_failed_answer_is_named_and_others_continue():
    class Failing(Answerer):
        async def answer(self, question, article, *, cluster):
            if article.aid == "b" and question == "cause?":
                return Unscored(reason="refused", detail="no")
            return await super().answer(question, article, cluster=cluster)

    state = await run(deps(answerer=Failing(TABLE)))
    assert texts(state) == ["b on question 1: refused: no"]
    assert state["question_answers"][0]["question"] == "cause?"


async def test_ungroupable_answers_drop_the_question_with_reason():
    class Failing:
        async def group(self, question, answers, articles):
            return Unscored(reason="unparseable", detail="no groups")

    state = await run(deps(consolidator=Failing()))
    assert state["question_answers"] == []
    assert "answers to 'cause?' not grouped: unparseable: no groups" in texts(state)


async def test_the_post_filter_drops_answers_and_validity_is_applied_again():
    result = await run(deps(post_filter=Filter(FilterResult(invalid=frozenset({0}), diverse=True))))
    assert [[a["aid"] for a in g] for g in result["question_answers"][0]["answer_groups"]] == [
        ["c"],
        ["b"],
    ]
    gone = await run(deps(post_filter=Filter(FilterResult(invalid=frozenset({2}), diverse=True))))
    assert gone["question_answers"] == []
    assert gone["dropped"][-1] == {"question": "cause?", "why": "1 answer group, fewer than 2"}


async def test_questions_whose_answers_do_not_differ_are_dropped():
    state = await run(deps(post_filter=Filter(FilterResult(invalid=frozenset(), diverse=False))))
    assert state["question_answers"] == []
    assert state["dropped"][-1]["why"] == "answers do not differ"


async def test_failed_post_filter_keeps_the_question_with_note():
    state = await run(deps(post_filter=Filter(Unscored(reason="budget", detail="spent"))))
    assert len(state["question_answers"]) == 1
    assert texts(state) == ["'cause?' not post-filtered: budget: spent"]


async def test_a_killed_run_resumes_where_it_stopped():
    class Dies(ByFirstLetter):
        alive = False

        async def group(self, question, answers, articles):
            if question == "who?" and not self.alive:
                raise SystemError("killed")
            return await super().group(question, answers, articles)

    consolidator = Dies()
    context = deps(consolidator=consolidator)
    graph = build_reference_graph(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    with pytest.raises(SystemError, match="killed"):
        await graph.ainvoke({}, config, context=context)
    calls = context.builder.answerer.calls
    consolidator.alive = True
    state = await graph.ainvoke(None, config, context=context)
    assert [q["question"] for q in state["question_answers"]] == ["cause?"]
    assert context.builder.answerer.calls == calls
    assert len(context.builder.writer.aids) == 1


async def test_progress_counts_every_step():
    states = {}

    def count(stage, n_done):
        states[stage] = states.get(stage, 0) + n_done

    await run(replace(deps(), progress=count))
    # 2 writers; 4 questions x 6 articles; 4 consolidations; no post-filter
    assert states == {"questions": 2, "answers": 24, "groups": 4}
