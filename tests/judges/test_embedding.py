"""The local judge over a bag of words: its contract, not its quality (see test_support)."""

from __future__ import annotations

import numpy as np
import pytest

from fairjudge.domain import Answer, Article, Judgement, JudgeTask, QuestionAnswers, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.embedding import EmbeddingSupport
from fairjudge.judges.local import LocalJudge
from fairjudge.judges.mappings import EMBEDDING_MAPPING

ARTICLE = Article(aid="1", content="The dam broke on Monday after heavy rain. Two people died.")
QUESTION = QuestionAnswers(
    question="Why did the dam break?",
    answer_groups=((Answer(aid="1", answer="The dam broke after heavy rain."),),),
)


class WordBag:
    """Embeds a text as its counted words, each in a place of its own."""

    fingerprint = "word-bag"

    def __init__(self):
        self.places, self.n_texts = {}, 0

    def embed(self, texts):
        self.n_texts += len(texts)
        rows = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", "").split():
                row[self.places.setdefault(word, len(self.places))] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def judge_of(aspect, embedder) -> LocalJudge:
    return LocalJudge(aspect=aspect, support=EmbeddingSupport(embedder=embedder))


def task(*texts, aspect="faithfulness", protocol="likert", **changes) -> JudgeTask:
    fields = {
        "eid": "e",
        "systems": ("s", "t")[: len(texts)],
        "texts": texts,
        "unit": "summary",
        "articles": (ARTICLE,) if aspect == "faithfulness" else (),
        "questions": (QUESTION,) if aspect == "coverage" else (),
        "order": "ab" if texts[1:] else None,
    }
    return JudgeTask(aspect=aspect, protocol=protocol, **fields | changes)


TRUE, FALSE = "The dam broke on Monday after heavy rain.", "Nine dragons ate the mayor of Paris."


@pytest.mark.parametrize("aspect", ["faithfulness", "coverage"])
async def test_what_the_sources_say_is_supported_more_than_what_they_do_not(aspect):
    judge = judge_of(aspect, WordBag())
    true = await judge.ask(task(TRUE, aspect=aspect))
    false = await judge.ask(task(FALSE, aspect=aspect))
    assert 1 <= false.value < 3 < true.value <= 5
    assert (true.scored_by, true.judge, true.raw) == ("embedding", "local", None)
    # the record holds what the rating was made from
    assert true.value == pytest.approx(
        EMBEDDING_MAPPING.likert(true.model_extra["support"][0]), abs=1e-5
    )


async def test_binary_and_pairs_follow_from_the_same_support():
    judge = judge_of("faithfulness", WordBag())
    assert (await judge.ask(task(TRUE, protocol="binary"))).value == 1
    assert (await judge.ask(task(FALSE, protocol="binary"))).value == 0
    for order in ("ab", "ba"):  # texts stand in terms of a and b, whatever the order
        found = await judge.ask(task(TRUE, FALSE, protocol="pairwise", order=order))
        assert (found.value, found.order) == ("a", order)
    assert (await judge.ask(task(TRUE, TRUE, protocol="pairwise"))).value == "tie"


@pytest.mark.parametrize("text", ["", " \n", "***", "..."])
async def test_a_summary_without_a_sentence_is_unscored(text):
    judge = judge_of("faithfulness", WordBag())
    found = await judge.ask(task(text))
    assert isinstance(found, Unscored)
    assert found.reason == "empty_input"


async def test_articles_without_a_sentence_leave_nothing_to_judge_by():
    judge = judge_of("faithfulness", WordBag())
    found = await judge.ask(task(TRUE, articles=(Article(aid="1", content="***"),)))
    assert isinstance(found, Unscored)
    assert found.reason == "empty_input"


async def test_a_text_is_measured_once_whatever_pairs_and_orders_it_stands_in():
    embedder = WordBag()
    judge = judge_of("faithfulness", embedder)
    await judge.ask(task(TRUE, FALSE, protocol="pairwise"))
    embedded = embedder.n_texts
    await judge.ask(task(FALSE, TRUE, protocol="pairwise", order="ba"))
    await judge.ask(task(TRUE))
    assert embedder.n_texts == embedded


async def test_the_same_text_of_another_cluster_or_unit_is_measured_anew():
    judge = judge_of("faithfulness", WordBag())
    here = await judge.ask(task(TRUE))
    other = Article(aid="1", content="A cat sat on a warm mat. It slept.")
    assert (await judge.ask(task(TRUE, eid="f", articles=(other,)))).value < here.value
    assert (await judge.ask(task(TRUE, unit="article:2", articles=(other,)))).value < here.value


def test_other_aspects_are_refused():
    with pytest.raises(ConfigurationError, match="not 'tone'"):
        judge_of("tone", WordBag())


def test_unscored_and_signature_say_who_it_was():
    judge = judge_of("coverage", WordBag())
    found = judge.unscored(
        task("", aspect="coverage"), Unscored(reason="empty_input", detail="none")
    )
    assert isinstance(found, Judgement)
    assert (found.unscored, found.scored_by, found.signature) == (
        "empty_input",
        "embedding",
        judge.signature,
    )
    assert "word-bag" in judge.signature
