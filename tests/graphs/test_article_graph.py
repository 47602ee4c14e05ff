"""The graph by article, whole, over scripted parts: what stays, what goes, failures, resume."""

from __future__ import annotations

from dataclasses import replace

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.graphs.by_article import ArticleDeps, build_article_graph
from fairjudge.references.ports import (
    ArticleAnswers,
    ArticleBuilder,
    CompletionResult,
    Grouping,
    LocatedAnswer,
    MissedAnswer,
    Question,
)

ARTICLES = tuple(
    Article(aid=aid, content=f"{aid} " + "word " * (10 * n)) for n, aid in enumerate("abcdef", 1)
)


class Writer:
    """Hands out questions, a list a call, and remembers what it was shown."""

    def __init__(self, *replies):
        self.replies, self.calls = list(replies), []

    async def write(self, articles, *, n, min_sources):
        self.calls.append(("".join(article.aid for article in articles), n, min_sources))
        result = self.replies.pop(0)
        return result if isinstance(result, Unscored) else tuple(Question(text=q) for q in result)


class Answerer:
    """Answers from a table: question -> aid -> texts; equal texts of an article stand together."""

    def __init__(self, table, failing=()):
        self.table, self.failing, self.calls, self.places = table, dict(failing), [], {}

    async def answer(self, questions, article):
        self.calls.append((article.aid, tuple(question.text for question in questions)))
        if article.aid in self.failing:
            return self.failing[article.aid]
        return ArticleAnswers(found=tuple(self._found(questions, article.aid)), n_absent=1)

    def _found(self, questions, aid):
        for index, question in enumerate(questions):
            for text in self.table[question.text].get(aid, ()):
                start = self.places.setdefault(text, 10 * len(self.places))
                answer = Answer(aid=aid, answer=text, speaker=None)
                yield LocatedAnswer(index=index, answer=answer, start=start, end=start + 5)


class ByFirstLetter:
    """Groups answers that begin alike, rivals all; those that begin with "!" are invalid."""

    def __init__(self, failing=()):
        self.failing, self.calls, self.sizes = dict(failing), [], {}

    async def group(self, answer_sets, questions, articles):
        self.calls.append([questions[item.index] for item in answer_sets])
        self.sizes |= {questions[item.index]: len(item.answers) for item in answer_sets}
        return tuple(self._grouping(questions[item.index], item.answers) for item in answer_sets)

    def _grouping(self, question, answers):
        if question in self.failing:
            return self.failing[question]
        letters = [x for x in dict.fromkeys(answer.answer[0] for answer in answers) if x != "!"]
        groups = [
            tuple(i for i, answer in enumerate(answers) if answer.answer[0] == letter)
            for letter in letters
        ]
        bad = frozenset(i for i, answer in enumerate(answers) if answer.answer[0] == "!")
        pairs = tuple((a, b) for b in range(len(groups)) for a in range(b))
        return Grouping(groups=tuple(groups), labels=tuple(letters), rivals=pairs, invalid=bad)


TABLE = {
    "cause?": {"a": ("rain",), "b": ("fault",), "c": ("rain, again",), "d": ("quake",)},
    "cost?": {"a": ("one",)},
    "sides?": {"a": ("yes", "no")},
    "culprit?": {"a": ("Ann",), "b": ("Ann too",), "c": ("Ann as well",)},
    "moment?": {"a": ("May",), "b": ("July",), "c": ("!no idea",)},
    "same as cause?": {"a": ("rain",), "b": ("fault",), "d": ("quake",)},
    "other sorting?": {"a": ("rain",), "b": ("fog",), "c": ("sun",), "d": ("sunny",)},
}


def deps(*replies, articles=ARTICLES, table=TABLE, **changes):
    how = {"max_articles", "n_questions", "n_parts", "progress"} & changes.keys()
    of_deps = {name: changes.pop(name) for name in how}
    builder = ArticleBuilder(
        writer=Writer(*replies),
        answerer=Answerer(table),
        grouper=ByFirstLetter(),
        completer=None,
        signature="scripted",
    )
    return ArticleDeps(articles=articles, builder=replace(builder, **changes), **of_deps)


async def run(context):
    return await build_article_graph().ainvoke({}, context=context)


def questions_of(state):
    return [question["question"] for question in state["question_answers"]]


def whys(state):
    return {row["question"]: row["why"] for row in state["dropped"]}


def texts(state):
    """Return what the state says of steps that gave nothing."""
    return [problem["text"] for problem in state["problems"]]


async def test_build_makes_one_call_per_step_article_and_question():
    context = deps(["cause?", "moment?"])
    state = await run(context)
    assert questions_of(state) == ["cause?", "moment?"]
    assert context.builder.writer.calls == [("abcdef", 4, 2)]  # 30 % of six are 1.8
    assert context.builder.answerer.calls == [(aid, ("cause?", "moment?")) for aid in "abcdef"]
    assert sorted(context.builder.grouper.calls) == [["cause?"], ["moment?"]]
    assert state["n_steps"] == 1 + 6 + 2
    assert state["kept_aids"] == list("abcdef")
    cause = state["question_answers"][0]
    assert cause["group_labels"] == ["r", "f", "q"]
    assert cause["answer_groups"][0] == [
        {"aid": "a", "answer": "rain", "speaker": None},
        {"aid": "c", "answer": "rain, again", "speaker": None},
    ]
    assert cause["group_sources"][0] == {"support": ["a", "c"], "dispute": []}
    assert (cause["group_weights"], cause["kind"]) == ([2, 1, 1], "rivals")


async def test_questions_of_five_articles_are_grouped_in_one_call():
    context = deps(["cause?", "moment?", "cost?"], articles=ARTICLES[:5])
    state = await run(context)
    assert context.builder.grouper.calls == [["cause?", "moment?"]]
    assert questions_of(state) == ["cause?", "moment?"]


async def test_too_many_answers_for_one_call_are_grouped_per_question():
    many = {aid: tuple(f"{n}-{aid}" for n in range(8)) for aid in "abcde"}
    context = deps(["p?", "q?"], articles=ARTICLES[:5], table={"p?": many, "q?": many})
    await run(context)
    assert context.builder.grouper.calls == [["p?"], ["q?"]]


async def test_number_of_questions_is_limited_by_words_without_second_round():
    """min(12, max(4, words // 60)): 246 words bear 4, 600 bear 10, 6,000 bear 12."""
    for n_words, n in ((40, 4), (300, 10), (3000, 12)):
        articles = [Article(aid=aid, content="word " * n_words) for aid in "ab"]
        context = deps(["cost?"], articles=tuple(articles))
        state = await run(context)
        assert context.builder.writer.calls == [("ab", n, 2)]
        assert questions_of(state) == []
    context = deps(["cost?"], n_questions=30)
    await run(context)
    assert context.builder.writer.calls[0][1] == 30


async def test_one_passage_may_answer_several_questions():
    """Cause 1: a passage counts under each question, whatever other question has it."""
    context = deps(["cause?", "other sorting?"])
    state = await run(context)
    assert questions_of(state) == ["cause?", "other sorting?"]
    assert context.builder.grouper.sizes == {"cause?": 4, "other sorting?": 4}
    # nor is anything lost to a question that goes
    context = deps(["cost?", "cause?"], table=TABLE | {"cost?": {"a": ("rain",)}})
    state = await run(context)
    assert [len(items) for items in state["question_answers"][0]["answer_groups"]] == [2, 1, 1]


async def test_question_with_memberships_of_another_is_dropped():
    # a in r, b in f, d in q: all three are those of "cause?", which has four
    context = deps(["same as cause?", "cause?"])
    state = await run(context)
    assert questions_of(state) == ["cause?"]
    assert whys(state) == {"same as cause?": "its answers are those to 'cause?'"}


class SomeFacets(ByFirstLetter):
    """Like `ByFirstLetter`; the answers to questions that begin with "which" exclude nothing."""

    def _grouping(self, question, answers):
        grouping = super()._grouping(question, answers)
        return replace(grouping, rivals=()) if question.startswith("which") else grouping


async def test_compatible_question_is_kept_only_if_none_has_rivals():
    rivals = {f"rivals {n}?": {"a": (f"x{n}",), "b": (f"y{n}",)} for n in range(4)}
    facets = {
        "which effects?": {"c": ("heat",), "d": ("smoke",)},
        "which reasons?": {"a": ("poor",), "c": ("sick",), "d": ("tired",)},
    }

    async def kept_of(*questions, up_to=1):
        table = rivals | facets
        context = deps(list(questions), table=table, grouper=SomeFacets(), n_questions=6)
        state = await run(replace(context, facets=up_to))
        return questions_of(state), whys(state)

    why = "most of its answers can be true together ({} kept)"
    questions, dropped = await kept_of("which effects?", "rivals 0?", "which reasons?")
    assert questions == ["rivals 0?"]
    assert dropped == dict.fromkeys(facets, why.format("1 question"))
    # the one with more answers
    questions, dropped = await kept_of(*facets)
    assert (questions, dropped) == (
        ["which reasons?"],
        {"which effects?": why.format("1 question")},
    )
    assert (await kept_of(*rivals))[0] == list(rivals)
    none = dict.fromkeys(facets, why.format("0 questions"))
    assert await kept_of(*facets, up_to=0) == ([], none)
    # up to three, in the place that they had
    items = ("which effects?", "rivals 0?", "rivals 1?", "which reasons?")
    questions, dropped = await kept_of(*items, up_to=3)
    assert questions == ["rivals 0?", "rivals 1?", "which reasons?"]
    assert dropped == {"which effects?": why.format("3 questions")}
    assert (await kept_of(*facets, "rivals 0?", up_to=3))[0] == [*facets, "rivals 0?"]


class OnePair(ByFirstLetter):
    """Like `ByFirstLetter`, with the first two groups as the only rivals."""

    def _grouping(self, question, answers):
        return replace(super()._grouping(question, answers), rivals=((0, 1),))


@pytest.mark.parametrize(("letters", "stays"), [("xyzw", True), ("xyzwv", False)])
async def test_a_question_on_which_most_groups_have_no_rival_counts_as_facets(letters, stays):
    table = {
        "many?": {aid: (letter,) for aid, letter in zip("abcde", letters, strict=False)},
        "two?": {"a": ("p",), "b": ("q",)},
    }
    state = await run(deps(list(table), table=table, grouper=OnePair()))
    assert questions_of(state) == (["many?", "two?"] if stays else ["two?"])


async def test_question_answered_by_one_source_is_dropped():
    # of three articles 30 % are one: "sides?" has two answers, both of a
    context = deps(["sides?", "cause?"], articles=ARTICLES[:3])
    state = await run(context)
    assert questions_of(state) == ["cause?"]
    assert whys(state) == {"sides?": "answered by 1 source, fewer than 2"}


async def test_question_left_with_one_source_after_validation_is_dropped():
    table = {"when?": {"a": ("May",), "b": ("!no idea",)}, "cause?": TABLE["cause?"]}
    state = await run(deps(["when?", "cause?"], table=table))
    assert whys(state) == {"when?": "answered by 1 of 6 sources, fewer than 30 %"}
    state = await run(deps(["culprit?"]))
    assert whys(state) == {"culprit?": "1 answer group, fewer than 2"}


async def test_near_duplicate_questions_are_merged_unless_question_words_differ():
    """Cause 2: "How did the creature get under the skin?" is not "What was the creature ...?"."""
    question = "What was the creature under the skin?"
    how = "How was the creature under the skin?"
    again = "What was that creature, under the skin?"
    context = deps([question, how, question.replace("the creature", "creature"), again])
    context = replace(context, builder=replace(context.builder, answerer=Answerer(
        {question: {}, how: {}}
    )))  # fmt: skip
    state = await run(context)
    assert context.builder.answerer.calls[0] == ("a", (question, how))
    assert list(whys(state).values())[:2] == ["nearly the same as another question"] * 2


async def test_article_limit_keeps_those_with_most_answers():
    state = await run(deps(["cause?", "culprit?"], max_articles=3))
    assert state["kept_aids"] == ["a", "b", "c"]
    (question,) = state["question_answers"]
    assert question["group_labels"] == ["r", "f"]  # d's group is gone


async def test_too_long_articles_are_split_and_best_questions_come_first():
    context = deps(["cause?", "cost?"], ["moment?", "cause?"], n_parts=2, n_questions=3)
    state = await run(context)
    assert context.builder.writer.calls == [("ace", 3, 2), ("bdf", 3, 2)]
    prompt = context.builder.answerer.calls[0][1]
    assert prompt == ("cause?", "moment?", "cost?")
    assert questions_of(state) == ["cause?", "moment?"]
    # no part has fewer than two articles
    context = deps(["cause?"], ["cost?"], ["moment?"], n_parts=9)
    await run(context)
    assert [call[0] for call in context.builder.writer.calls] == ["ad", "be", "cf"]


async def test_articles_too_long_together_are_split_until_they_fit():
    context = deps(Unscored(reason="too_long"), ["cause?"], ["moment?"])
    state = await run(context)
    assert [call[0] for call in context.builder.writer.calls] == ["abcdef", "ace", "bdf"]
    assert questions_of(state) == ["cause?", "moment?"]
    assert state["problems"] == []
    context = deps(Unscored(reason="too_long", detail="much"), articles=ARTICLES[:2])
    assert texts(await run(context)) == ["no questions: too_long: much"]


async def test_dropped_answers_are_counted_by_reason():
    state = await run(deps(["moment?"]))
    counts = {}
    for row in state["dropped_answers"]:
        counts[row["why"]] = counts.get(row["why"], 0) + row["n"]
    assert counts == {"does not stand in its article": 6, "does not answer its question": 1}


async def test_failed_step_does_not_affect_its_siblings():
    context = deps(
        ["cause?", "moment?"],
        answerer=Answerer(TABLE, failing={"f": Unscored(reason="refused", detail="no")}),
        grouper=ByFirstLetter(failing={"moment?": Unscored(reason="budget", detail="spent")}),
    )
    state = await run(context)
    assert questions_of(state) == ["cause?"]
    assert texts(state) == [
        "f not asked: refused: no",
        "'moment?': answers not grouped: budget: spent",
    ]
    assert [problem["reason"] for problem in state["problems"]] == ["refused", "budget"]
    assert whys(state)["moment?"] == "answers not grouped: budget: spent"


async def test_no_questions_give_a_reason_without_retry():
    context = deps(Unscored(reason="refused", detail="no"))
    state = await run(context)
    assert (state["question_answers"], state["kept_aids"]) == ([], [])
    assert texts(state) == ["no questions: refused: no"]
    assert len(context.builder.writer.calls) == 1


class Completer:
    """Finds that e says "rain" too, that f disputes it, and that c does not say so."""

    def __init__(self, failing=None, unsupported=()):
        self.calls, self.failing, self.unsupported = [], failing, unsupported

    async def complete(self, questions, articles):
        aids = [article.aid for article in articles]
        self.calls.append("".join(aids))
        if self.failing is not None:
            return self.failing
        return CompletionResult(
            missed=tuple(
                MissedAnswer(
                    index=0,
                    group=0,
                    answer=Answer(aid=aid, answer="wet", stance=stance),
                    start=0,
                    end=3,
                )
                for aid, stance in (("e", "reports"), ("f", "disputes"))
                if aid in aids
            ),
            doubtful=tuple((0, 0, "c") for aid in aids if aid == "c"),
            unsupported=self.unsupported,
            n_absent=1,
        )


@pytest.mark.parametrize(("n_words", "calls"), [(10, ["abcdef"]), (900, list("abcdef"))])
async def test_short_articles_share_one_second_reading_call(n_words, calls):
    articles = [Article(aid=aid, content="word " * n_words) for aid in "abcdef"]
    completer = Completer()
    state = await run(deps(["cause?"], articles=tuple(articles), completer=completer))
    assert sorted(completer.calls) == calls
    (question,) = state["question_answers"]
    # e says it and stands in the group; f is against it, and does not
    assert [item["aid"] for item in question["answer_groups"][0]] == ["a", "c", "e"]
    assert question["answer_groups"][0][2] == {"aid": "e", "answer": "wet", "stance": "reports"}
    assert question["group_sources"][0] == {"support": ["a", "c", "e"], "dispute": ["f"]}
    assert question["group_weights"] == [3, 1, 1]
    # what a second reading did not find is a warning, and c stays
    assert state["doubtful"] == [{"question": "cause?", "group": 0, "aids": ["c"]}]
    absent = [row["n"] for row in state["dropped_answers"] if "article" in row["why"]]
    assert sum(absent) == 6 + len(calls)


async def test_passages_not_supporting_their_label_leave_the_group():
    whole = await run(deps(["cause?"], completer=Completer()))
    groups = [[item["aid"] for item in group] for group in texts_of(whole)]
    assert groups == [["a", "c", "e"], ["b"], ["d"]]
    # c leaves the first group; the second loses all that it has, and is no rival any more
    completer = Completer(unsupported=((0, 0, 1), (0, 1, 0)))
    state = await run(deps(["cause?"], completer=completer))
    (question,) = state["question_answers"]
    assert [[item["aid"] for item in group] for group in texts_of(state)] == [["a", "e"], ["d"]]
    assert question["group_sources"][0] == {"support": ["a", "e"], "dispute": ["f"]}
    assert question["rivals"] == [[0, 1]]
    assert question["group_weights"] == [2, 1]
    assert state["doubtful"] == []  # c, which the label was doubtful of, is gone
    counts = {row["why"]: row["n"] for row in state["dropped_answers"]}
    assert counts["does not say its group's label"] == 2


async def test_question_with_one_group_after_second_reading_is_dropped():
    completer = Completer(unsupported=((0, 1, 0), (0, 2, 0)))
    state = await run(deps(["cause?"], completer=completer))
    assert state["question_answers"] == []
    assert whys(state) == {"cause?": "1 answer group, fewer than 2"}


def texts_of(state):
    return state["question_answers"][0]["answer_groups"]


async def test_failed_second_reading_changes_nothing_and_is_reported():
    completer = Completer(failing=Unscored(reason="backend", detail="down"))
    state = await run(deps(["cause?"], completer=completer))
    assert questions_of(state) == ["cause?"]
    assert texts(state) == ["a, b, c, d, e, f not read again: backend: down"]


async def test_a_killed_run_resumes_where_it_stopped():
    class Dies(ByFirstLetter):
        alive = False

        async def group(self, answer_sets, questions, articles):
            if questions[answer_sets[0].index] == "culprit?" and not self.alive:
                raise SystemError("killed")
            return await super().group(answer_sets, questions, articles)

    grouper = Dies()
    context = deps(["cause?", "culprit?"], grouper=grouper)
    graph = build_article_graph(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    with pytest.raises(SystemError, match="killed"):
        await graph.ainvoke({}, config, context=context)
    calls = len(context.builder.answerer.calls)
    grouper.alive = True
    state = await graph.ainvoke(None, config, context=context)
    assert questions_of(state) == ["cause?"]
    assert len(context.builder.answerer.calls) == calls
    assert grouper.calls.count(["cause?"]) == 1


async def test_progress_counts_every_step():
    states = {}

    def count(stage, n_done):
        states[stage] = states.get(stage, 0) + n_done

    state = await run(deps(["cause?"], progress=count, completer=Completer()))
    assert states == {"questions": 1, "answers": 6, "groups": 1, "completion": 1}
    assert state["n_steps"] == 9
