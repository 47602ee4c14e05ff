"""The graph by article, whole, over scripted parts: rounds, waves, selection, failures, resume."""

from __future__ import annotations

from dataclasses import replace

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.graphs.by_article import ArticleDeps, build_article_graph
from fairjudge.references.ports import Answered, ArticleBuilder, Found, Grouping, Question
from fairjudge.references.steps import Validity

ARTICLES = tuple(
    Article(aid=aid, content=f"{aid} " + "word " * (10 * n)) for n, aid in enumerate("abcdef", 1)
)


class Writer:
    """Hands out its rounds of questions and remembers what it was shown and told."""

    def __init__(self, *rounds):
        self.rounds, self.calls = list(rounds), []

    async def write(self, articles, *, n, at_least, earlier=()):
        self.least = at_least
        self.calls.append(([article.aid for article in articles], n, dict(earlier)))
        found = self.rounds.pop(0)
        if isinstance(found, Unscored):
            return found
        return tuple(Question(text=one) if isinstance(one, str) else one for one in found)


class Answerer:
    """Answers from a table: question -> aid -> texts; each stands where no other does."""

    def __init__(self, table, failing=()):
        self.table, self.failing, self.calls, self.places = table, dict(failing), [], {}

    async def answer(self, questions, article):
        self.calls.append((article.aid, tuple(questions)))
        if article.aid in self.failing:
            return self.failing[article.aid]
        return Answered(found=tuple(self._found(questions, article.aid)), n_absent=1)

    def _found(self, questions, aid):
        for index, question in enumerate(questions):
            for text in self.table[question].get(aid, ()):
                start = self.places.setdefault(text, 10 * len(self.places))
                answer = Answer(aid=aid, answer=text, speaker=None)
                yield Found(index=index, answer=answer, start=start, end=start + 5)


class ByFirstLetter:
    """Groups answers that begin alike; those that begin with "!" are invalid."""

    def __init__(self, failing=()):
        self.failing, self.asked = dict(failing), []

    async def group(self, question, answers, articles):
        self.asked.append(question)
        if question in self.failing:
            return self.failing[question]
        letters = dict.fromkeys(answer.answer[0] for answer in answers)
        bad = frozenset(i for i, answer in enumerate(answers) if answer.answer[0] == "!")
        groups = [
            tuple(i for i, answer in enumerate(answers) if answer.answer[0] == letter)
            for letter in letters
            if letter != "!"
        ]
        labels = tuple(one for one in letters if one != "!")
        return Grouping(groups=tuple(groups), labels=labels, invalid=bad)


TABLE = {
    "seed?": {"a": ("x1",), "b": ("x2",), "c": ("y",), "d": ("z",), "e": ("x3",)},
    "cause?": {"a": ("rain",), "b": ("fault",), "c": ("rain, again",), "d": ("quake",)},
    "cost?": {"a": ("one",)},
    "culprit?": {"a": ("Ann",), "b": ("Ann too",), "c": ("Ann as well",)},
    "moment?": {"a": ("May",), "b": ("July",), "c": ("!no idea",)},
    "reason?": {"a": ("heat",), "b": ("frost",)},
}


def deps(*rounds, n_questions=1, table=TABLE, fits=True, **changes):
    builder = ArticleBuilder(
        writer=Writer(*rounds),
        answerer=Answerer(table),
        grouper=ByFirstLetter(),
        signature="scripted",
    )
    return ArticleDeps(
        articles=ARTICLES,
        builder=replace(builder, **changes),
        max_articles=3,
        n_questions=n_questions,
        fits=fits,
    )


async def run(context):
    return await build_article_graph().ainvoke({}, context=context)


def whys(state):
    return {row["question"]: row["why"] for row in state["dropped"]}


def texts(state):
    """Return what the state says of steps that gave nothing."""
    return [problem["text"] for problem in state["problems"]]


async def test_one_call_an_article_and_one_a_question():
    context = deps(["cause?", "cost?", "culprit?"], n_questions=2, table=TABLE)
    context.builder.writer.rounds.append([])
    state = await run(context)
    assert [q["question"] for q in state["question_answers"]] == ["cause?"]
    # a, b, c, d answer "cause?"; the three that answer most are kept, so d's group goes
    (question,) = state["question_answers"]
    assert state["kept_aids"] == ["a", "b", "c"]
    assert question["answer_groups"] == [
        [
            {"aid": "a", "answer": "rain", "speaker": None},
            {"aid": "c", "answer": "rain, again", "speaker": None},
        ],
        [{"aid": "b", "answer": "fault", "speaker": None}],
    ]
    assert question["group_labels"] == ["r", "f"]
    assert whys(state)["cost?"] == "answered by 1 of 6 sources, fewer than 30%"
    assert whys(state)["culprit?"] == "1 answer group, fewer than 2"


async def test_all_articles_stay_where_no_number_is_given():
    context = replace(deps(["cause?", "moment?"], n_questions=2), max_articles=None)
    context.builder.writer.rounds.append([])
    state = await run(context)
    assert state["kept_aids"] == list("abcdef")
    groups = {q["question"]: q["group_labels"] for q in state["question_answers"]}
    assert groups == {"cause?": ["r", "f", "q"], "moment?": ["M", "J"]}
    # 30 % of the six are 1.8
    assert context.builder.writer.least == 2


async def test_a_question_that_goes_takes_no_passage_from_one_that_stays():
    table = {
        "p?": {"a": ("rain",), "b": ("sun",)},
        "q?": {"a": ("rain",)},
    }
    context = deps(["p?", "q?"], n_questions=2, table=table)
    context.builder.writer.rounds.append([])
    state = await run(context)
    # "q?" has one of six sources, and would else have had the passage that fewer articles give
    assert [q["question"] for q in state["question_answers"]] == ["p?"]
    assert whys(state) == {"q?": "answered by 1 of 6 sources, fewer than 30%"}


async def test_half_as_many_again_are_asked_for_and_what_was_dropped_is_told():
    context = deps(["cause?", "cost?", "culprit?"], ["moment?", "cause?"], n_questions=2)
    state = await run(context)
    assert [q["question"] for q in state["question_answers"]] == ["cause?", "moment?"]
    every = [article.aid for article in ARTICLES]
    first, second = context.builder.writer.calls
    assert first == (every, 3, {})
    # one is missing: 1.5 of it, rounded up
    assert second[:2] == (every, 2)
    assert second[2] == {
        "cause?": "kept",
        "cost?": "dropped: answered by 1 of 6 sources, fewer than 30%",
        "culprit?": "dropped: 1 answer group, fewer than 2",
    }
    # the second round asks the articles that were kept, and only what is new
    assert context.builder.answerer.calls[6:] == [(aid, ("moment?",)) for aid in "abc"]


async def test_there_are_two_rounds_at_most():
    context = deps(["cost?"], ["culprit?"], ["cause?"], n_questions=2)
    state = await run(context)
    assert state["question_answers"] == []
    assert len(context.builder.writer.calls) == 2


async def test_questions_beyond_those_wanted_are_grouped_only_where_others_fail():
    context = deps(["culprit?", "reason?", "cause?", "moment?"], n_questions=2)
    state = await run(context)
    # of a, b, c three answer each but "reason?"; "culprit?" has one group, so the rest follow
    assert context.builder.grouper.asked[:2] == ["culprit?", "cause?"]
    assert set(context.builder.grouper.asked[2:]) == {"moment?", "reason?"}
    assert [q["question"] for q in state["question_answers"]] == ["cause?", "moment?", "reason?"]
    context = deps(["reason?", "cause?", "moment?"], n_questions=2)
    state = await run(context)
    assert context.builder.grouper.asked == ["cause?", "moment?"]
    assert whys(state) == {"reason?": "not needed: 2 questions that more articles answer were kept"}


async def test_dropped_answers_are_counted_by_reason():
    state = await run(deps(["moment?"]))
    counts = {}
    for row in state["dropped_answers"]:
        counts[row["why"]] = counts.get(row["why"], 0) + row["n"]
    assert counts == {"does not stand in its article": 6, "does not answer its question": 1}


async def test_one_passage_counts_under_one_question():
    table = {"p?": {"a": ("rain",), "b": ("sun",)}, "q?": {"a": ("rain",), "b": ("snow",)}}
    context = deps(["p?", "q?"], n_questions=2, table=table)
    context.builder.writer.rounds.append([])
    state = await run(replace(context, validity=Validity(min_source_share=0.1)))
    assert [q["question"] for q in state["question_answers"]] == ["p?"]
    assert {
        "why": "its words answer another question, or stand in a longer answer",
        "n": 1,
    } in (state["dropped_answers"])


async def test_articles_that_do_not_fit_are_represented_as_in_the_paper():
    context = deps(["seed?"], ["cause?"], fits=False)
    state = await run(context)
    # seed article: lower median of 10..60 words is c; seed groups: x = a, b, e -> b; y -> c; z -> d
    assert [call[:2] for call in context.builder.writer.calls] == [(["c"], 8), (["b", "c", "d"], 2)]
    assert [q["question"] for q in state["question_answers"]] == ["cause?"]
    assert "seed?" not in whys(state)


async def test_without_seed_questions_the_medium_article_stands_in():
    context = deps(Unscored(reason="backend", detail="down"), ["cause?"], fits=False)
    state = await run(context)
    assert context.builder.writer.calls[1][0] == ["c"]
    assert texts(state) == ["no seed questions: backend: down"]
    assert len(state["question_answers"]) == 1


async def test_articles_too_long_together_are_halved_until_they_fit():
    context = deps(Unscored(reason="too_long"), ["cause?"])
    state = await run(context)
    assert [call[0] for call in context.builder.writer.calls] == [list("abcdef"), list("abc")]
    assert len(state["question_answers"]) == 1


async def test_one_failed_step_never_loses_its_siblings():
    context = deps(
        ["cause?", "moment?"],
        n_questions=2,
        answerer=Answerer(TABLE, failing={"f": Unscored(reason="refused", detail="no")}),
        grouper=ByFirstLetter(failing={"moment?": Unscored(reason="budget", detail="spent")}),
    )
    context.builder.writer.rounds.append([])
    state = await run(context)
    assert [q["question"] for q in state["question_answers"]] == ["cause?"]
    assert texts(state) == [
        "f not asked: refused: no",
        "'moment?': answers not grouped: budget: spent",
    ]
    assert [problem["reason"] for problem in state["problems"]] == ["refused", "budget"]
    assert whys(state)["moment?"] == "answers not grouped: budget: spent"


async def test_without_questions_there_is_a_reason_and_no_second_try_of_the_same_prompt():
    context = deps(Unscored(reason="refused", detail="no"))
    state = await run(context)
    assert (state["question_answers"], state["kept_aids"]) == ([], [])
    assert texts(state) == ["no questions: refused: no"]
    assert len(context.builder.writer.calls) == 1


async def test_a_killed_run_resumes_where_it_stopped():
    class Dies(ByFirstLetter):
        alive = False

        async def group(self, question, answers, articles):
            if question == "culprit?" and not self.alive:
                raise SystemError("killed")
            return await super().group(question, answers, articles)

    grouper = Dies()
    context = deps(["cause?", "culprit?"], [], n_questions=2, grouper=grouper)
    graph = build_article_graph(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    with pytest.raises(SystemError, match="killed"):
        await graph.ainvoke({}, config, context=context)
    calls = len(context.builder.answerer.calls)
    grouper.alive = True
    state = await graph.ainvoke(None, config, context=context)
    assert [q["question"] for q in state["question_answers"]] == ["cause?"]
    assert len(context.builder.answerer.calls) == calls
    assert grouper.asked.count("cause?") == 1


async def test_progress_counts_every_step():
    seen = {}

    def count(stage, done):
        seen[stage] = seen.get(stage, 0) + done

    state = await run(replace(deps(["cause?"]), progress=count))
    assert seen == {"questions": 1, "answers": 6, "groups": 1}
    assert state["n_steps"] == 8
