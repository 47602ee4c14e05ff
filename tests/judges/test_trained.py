"""The local judge over models of words: its contract; benchmarks/local.py measures its quality."""

from __future__ import annotations

import pytest
from builders import make_task
from trained_double import WordBag, WordModels

from fairjudge.domain import Answer, Article, Judgement, JudgeTask, QuestionAnswers, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.local import BLOCK_SIZE, LocalJudge, verdict_of
from fairjudge.judges.passages import Vectoriser, passages_of
from fairjudge.judges.trained import TrainedSupport
from fairjudge.text.statements import clauses_of

ARTICLE = Article(aid="1", content="The dam broke on Monday after heavy rain. Two people died.")
QUESTION = QuestionAnswers(
    question="Why did the dam break?",
    answer_groups=((Answer(aid="1", answer="The dam broke after heavy rain."),),),
)


def judge_of(aspect, embedder=None, *, models=None, tasks=()) -> LocalJudge:
    support = TrainedSupport(models=models or WordModels(), embedder=embedder or WordBag())
    return LocalJudge(aspect=aspect, support=support, tasks=tasks)


def task(*texts, aspect="faithfulness", **changes) -> JudgeTask:
    fields = {
        "articles": (ARTICLE,) if aspect == "faithfulness" else (),
        "questions": (QUESTION,) if aspect == "coverage" else (),
        "order": "ab" if texts[1:] else None,
    }
    return make_task(*texts, aspect=aspect, **fields | changes)


TRUE, FALSE = "The dam broke on Monday after heavy rain.", "Nine dragons ate the mayor of Paris."


@pytest.mark.parametrize("aspect", ["faithfulness", "coverage"])
async def test_statements_in_the_sources_have_higher_support(aspect):
    judge = judge_of(aspect)
    true = await judge.ask(task(TRUE, aspect=aspect))
    false = await judge.ask(task(FALSE, aspect=aspect))
    assert 1 <= false.value < 3 < true.value <= 5
    assert (true.scored_by, true.judge, true.raw) == ("embedding", "local", None)
    # the record holds what the rating was made from
    assert true.value == pytest.approx(
        verdict_of("likert", true.model_extra["support"][0]), abs=1e-5
    )


async def test_one_unsupported_statement_gives_no():
    judge = judge_of("faithfulness")
    mixed = f"{TRUE} Two people died. {FALSE}"
    assert (await judge.ask(task(mixed))).value > 3
    assert (await judge.ask(task(mixed, protocol="binary"))).value == 0


async def test_binary_and_pairs_follow_from_the_same_support():
    judge = judge_of("faithfulness")
    assert (await judge.ask(task(TRUE, protocol="binary"))).value == 1
    assert (await judge.ask(task(FALSE, protocol="binary"))).value == 0
    for order in ("ab", "ba"):  # texts stand in terms of a and b, whatever the order
        result = await judge.ask(task(TRUE, FALSE, protocol="pairwise", order=order))
        assert (result.value, result.order) == ("a", order)
    assert (await judge.ask(task(TRUE, TRUE, protocol="pairwise"))).value == "tie"


@pytest.mark.parametrize("text", ["", " \n", "***", "..."])
async def test_a_summary_without_a_sentence_is_unscored(text):
    judge = judge_of("faithfulness")
    result = await judge.ask(task(text))
    assert isinstance(result, Unscored)
    assert result.reason == "empty_input"


async def test_articles_without_sentences_are_unscored():
    judge = judge_of("faithfulness")
    result = await judge.ask(task(TRUE, articles=(Article(aid="1", content="***"),)))
    assert isinstance(result, Unscored)
    assert result.reason == "empty_input"


async def test_text_is_scored_once_across_pairs_and_orders():
    embedder = WordBag()
    judge = judge_of("faithfulness", embedder)
    await judge.ask(task(TRUE, FALSE, protocol="pairwise"))
    embedded = embedder.n_texts
    await judge.ask(task(FALSE, TRUE, protocol="pairwise", order="ba"))
    await judge.ask(task(TRUE))
    assert embedder.n_texts == embedded


async def test_equal_text_of_another_cluster_or_unit_is_scored_again():
    judge = judge_of("faithfulness")
    alone = await judge.ask(task(TRUE))
    other = Article(aid="1", content="A cat sat on a warm mat. It slept.")
    assert (await judge.ask(task(TRUE, eid="f", articles=(other,)))).value < alone.value
    assert (await judge.ask(task(TRUE, unit="article:2", articles=(other,)))).value < alone.value


def test_other_aspects_raise():
    with pytest.raises(ConfigurationError, match="'tone' needs an LLM"):
        judge_of("tone")


def test_unscored_and_signature_name_the_judge():
    judge = judge_of("coverage")
    result = judge.unscored_judgement(
        task("", aspect="coverage"), Unscored(reason="empty_input", detail="none")
    )
    assert isinstance(result, Judgement)
    assert (result.unscored, result.scored_by, result.signature) == (
        "empty_input",
        "embedding",
        judge.signature,
    )
    assert "word-bag" in judge.signature


async def test_a_verbatim_sentence_of_any_article_needs_no_model():
    """Case, punctuation and which article it is of do not matter."""
    models = WordModels()
    other = Article(aid="2", content="A third person is missing, the mayor said. It is cold.")
    copy = "two people died . A third person is missing, the mayor said."
    result = await judge_of("faithfulness", models=models).ask(
        task(copy, articles=(ARTICLE, other))
    )
    assert (result.value, models.pairs) == (5.0, [])


async def test_statement_is_compared_with_few_passages():
    models = WordModels()
    content = " ".join(f"Sentence {n} speaks of matter {n} and nothing else." for n in range(200))
    request = task(
        "Matter 7 and matter 150 are alike.", articles=(Article(aid="1", content=content),)
    )
    await judge_of("faithfulness", models=models).ask(request)
    passages = [passage for passage, _ in models.pairs]
    assert len(passages) <= 4
    assert any("matter 7 " in p and "matter 150 " in p for p in passages), "joined from two places"


async def test_summary_is_embedded_once_for_all_answers():
    embedder, models = WordBag(), WordModels()
    groups = tuple((Answer(aid="1", answer=f"Answer number {n}."),) for n in range(30))
    request = task(TRUE, aspect="coverage", protocol="checklist",
                 questions=(QuestionAnswers(question="Q?", answer_groups=groups),))  # fmt: skip
    judge = judge_of("coverage", embedder, models=models)
    result = await judge.ask(request)
    assert len(result.checklist) == 30
    assert (embedder.n_calls, embedder.n_texts) == (1, 31)
    await judge.ask(task(TRUE, aspect="coverage", questions=request.questions))
    assert embedder.n_calls == 1


async def test_upcoming_texts_are_scored_in_the_first_batch():
    class Counting(WordModels):
        n_calls = 0

        def support_probabilities(self, pairs, n_missing):
            self.n_calls += 1
            return super().support_probabilities(pairs, n_missing)

    models = Counting()
    tasks = [task(f"Text {n} of the dam.", eid=f"e{n}") for n in range(20)]
    judge = judge_of("faithfulness", models=models, tasks=tasks)
    together = [(await judge.ask(task)).value for task in tasks]
    assert models.n_calls == 1
    alone = [(await judge_of("faithfulness").ask(task)).value for task in tasks]
    assert together == alone


class Together(WordModels):
    """Notes which pairs were read in one pass."""

    def __init__(self):
        super().__init__()
        self.passes = set()

    def support_probabilities(self, pairs, n_missing):
        self.passes.add(frozenset(pairs))
        return super().support_probabilities(pairs, n_missing)


@pytest.mark.parametrize("protocol", ["likert", "pairwise"])
async def test_batching_does_not_depend_on_the_first_request(protocol):
    texts = [f"Text {n} of the dam." for n in range(3 * BLOCK_SIZE)]
    if protocol == "likert":
        tasks = [task(text) for text in texts]
    else:  # every text in many pairs
        tasks = [
            task(text, other, protocol=protocol)
            for text, other in zip(texts * 2, texts[1:] + texts, strict=False)
        ]
    passes, values = [], []
    for order in (tasks, tasks[::-1], tasks[50:] + tasks[:50]):
        models = Together()
        judge = judge_of("faithfulness", models=models, tasks=tasks)
        values.append({item.texts: (await judge.ask(item)).value for item in order})
        passes.append(models.passes)
    assert passes[0] == passes[1] == passes[2]
    assert len(passes[0]) == 3
    assert values[0] == values[1] == values[2]


async def test_gloss_replaces_the_answer_if_present():
    short = Answer(aid="1", answer="two", gloss="two people died")
    questions = (QuestionAnswers(question="Q?", answer_groups=((short,),)),)
    request = task("Two people died.", aspect="coverage", protocol="checklist", questions=questions)
    models = WordModels()
    result = await judge_of("coverage", models=models).ask(request)
    assert result.checklist[0].covered == 1


def test_passages_do_not_cross_articles_and_join_the_nearest():
    texts = ("One fell. Two rose.", "Three sang. Four danced. Five slept. Six woke.")
    vectoriser = Vectoriser(WordBag())
    passages = passages_of(texts, vectoriser)
    result = passages.near(vectoriser.rows(["Two rose and six woke."])[0], limit=2)
    assert result == ("One fell. Two rose.", "Five slept. Six woke.", "Two rose. Six woke.")
    assert passages_of(("", "***"), vectoriser) is None


def test_verdicts_follow_from_support():
    assert [verdict_of("likert", item) for item in (0.0, 0.5, 1.0)] == [1.0, 3.0, 5.0]
    assert [verdict_of("binary", item) for item in (0.49, 0.5)] == [0, 1]
    assert [verdict_of("pairwise", 0.5, item) for item in (0.54, 0.56)] == ["tie", "b"]
    with pytest.raises(ValueError, match="from 0 to 1"):
        verdict_of("likert", 1.01)


def test_a_statement_is_cut_where_clauses_are_joined():
    text = "The county spoke of 1,800 people, while the wardens counted 2,300."
    parts = ("The county spoke of 1,800 people", "the wardens counted 2,300")
    assert clauses_of(text) == parts
    assert clauses_of("The dam is safe, but old.") == ("The dam is safe, but old.",)
    assert clauses_of("It rained; nobody came to the old mill") == (
        "It rained; nobody came to the old mill",
    )


@pytest.mark.parametrize("changed", ["broke on Friday after", "broke on Monday after 9"])
async def test_unknown_name_or_number_lowers_support(changed):
    judge = judge_of("faithfulness")
    text = "The dam, they say, broke on Monday after heavy rain."
    result = await judge.ask(task(text))
    other = await judge.ask(task(text.replace("broke on Monday after", changed)))
    assert other.value < result.value - 1


async def test_clauses_of_one_statement_may_be_in_different_articles():
    articles = (
        Article(aid="1", content="The county spoke of 1,800 people. It was late."),
        Article(aid="2", content="Later on the wardens counted 2,300. Rain fell."),
    )
    text = "The county spoke of 1,800 people, while the wardens counted 2,300."
    result = await judge_of("faithfulness").ask(task(text, articles=articles))
    assert result.value == 5.0


@pytest.mark.parametrize(("statement", "is_held"), [
    ("The dam broke on Monday after heavy rain", True),  # a sentence
    ("two people died", True),  # a sentence, however short
    ("the dam broke on monday .", True),  # five words in a row
    ("the dam broke", False),  # too short to say what the sentence says
    ("broke on Monday after rain", False),  # a word left out
])  # fmt: skip
def test_verbatim_text_is_supported(statement, is_held):
    result = passages_of([ARTICLE.content], Vectoriser(WordBag()))
    assert result is not None
    assert result.contains(statement) is is_held


OTHERS = (
    Article(aid="2", content="Officials spoke. The dam broke on Monday after heavy rain."),
    Article(aid="3", content="A fair opened in the city. Nobody spoke of water."),
)


async def test_checklist_lists_statements_with_supporting_articles():
    request = task(
        f"{TRUE} Two people were dead. {FALSE}",
        protocol="checklist",
        articles=(OTHERS[1], ARTICLE, OTHERS[0]),
    )
    result = await judge_of("faithfulness").ask(request)
    first, second, third = result.statements
    assert [statement.verdict for statement in result.statements] == [
        "supported",
        "supported",
        "absent",
    ]
    assert result.value == pytest.approx(2 / 3)
    # word for word in two articles; in other words in one; in none
    assert (first.articles, first.quote) == (("1", "2"), TRUE)
    assert (second.articles[0], second.quote) == ("1", "Two people died.")
    assert (third.articles, third.quote, third.grave) == ((), "", False)
    assert 0 <= third.support < 0.5 <= second.support <= first.support == 1
    assert Judgement.model_validate_json(result.model_dump_json()) == result


async def test_checklist_of_an_unreadable_text_is_unscored():
    nothing = await judge_of("faithfulness").ask(task("...", protocol="checklist"))
    assert (nothing.reason, isinstance(nothing, Unscored)) == ("empty_input", True)
    empty = task(TRUE, protocol="checklist", articles=(Article(aid="1", content=""),))
    assert (await judge_of("faithfulness").ask(empty)).reason == "empty_input"
