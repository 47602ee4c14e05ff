"""Points, by word counts in place of models: what is grouped, what alone, and what is bounded."""

import pytest
from trained_double import WordBag, WordModels

from fairjudge.domain import Article
from fairjudge.references import points as points_module
from fairjudge.references.local import (
    OTHER_QUESTION,
    LocalReferences,
    count_questions,
    group_by_topic,
    noun_phrases,
)
from fairjudge.references.points import Point, PointFinder
from fairjudge.references.statements import (
    MAX_STATEMENTS,
    MIN_PER_ARTICLE,
    Statement,
    content_stems,
    is_self_contained,
    statements_of,
)


@pytest.mark.parametrize("text", [
    "Mayor Ilse Brandt closed the harbour bridge on Monday.",
    '"The bridge is safe," the mayor said at the harbour on Monday.',
    "2,300 people crossed the harbour bridge each day last year.",
])  # fmt: skip
def test_sentence_naming_its_subject_is_self_contained(text):
    assert is_self_contained(text)


@pytest.mark.parametrize("text", [
    "She closed the harbour bridge on Monday after cracks were found.",
    "But the harbour bridge was closed on Monday by the mayor.",
    "On Monday it was closed by the mayor of the town.",  # a pronoun near the head
    "Why was the harbour bridge closed on Monday by the mayor?",
    "The harbour bridge was closed on Monday after the mayor...",
    "The harbour bridge closed.",
    "Readers of the paper can send us pictures of the bridge.",
    "The documents present conflicting views on whether the bridge is safe.",
    "The third document says that Mayor Ilse Brandt closed the bridge.",
    'The mayor said "the harbour bridge is safe and will be open.',
])  # fmt: skip
def test_sentence_depending_on_context_is_not_self_contained(text):
    assert not is_self_contained(text)


def articles_of(*texts):
    return tuple(Article(aid=f"a{n}", content=text) for n, text in enumerate(texts, 1))


def found_in(*texts):
    finder = PointFinder(embedder=WordBag(), models=WordModels())
    return finder.find(articles_of(*texts))


FILL = (
    "Rain fell over northern valleys during most of that quiet week. ",
    "Farmers sold apples and pears at low prices near Oldham station. ",
    "Painters finished seven murals along Cedar Avenue before winter came. ",
)


def test_equivalent_statements_of_different_articles_form_one_point():
    one, other = (
        "Mayor Ilse Brandt closed the old harbour bridge on Monday. ",
        "Mayor Brandt closed the harbour bridge on Tuesday after inspections. ",
    )
    points = found_in(one + FILL[0], other + FILL[1], FILL[2])
    assert points[0].sources == {"a1", "a2"}
    assert all(len(point.sources) == 1 for point in points[1:])
    assert {s.text for p in points for s in p.statements} >= {FILL[2].strip(), one.strip()}


@pytest.mark.parametrize(("statement", "other"), [
    # other numbers; the same article; copies, which no second source worded
    ("The harbour bridge cost 12 million crowns, Mayor Brandt said.",
     "The harbour bridge cost 19 million crowns, so Mayor Brandt said."),
    ("Mayor Ilse Brandt closed the harbour bridge on Monday.",
     "Mayor Ilse Brandt closed the harbour bridge on Monday."),
    ("Mayor Ilse Brandt closed the harbour bridge on Monday.",
     "Painters finished seven murals along Cedar Avenue before winter came."),
    # one denies what the other says; no name or number in common
    ("Mayor Ilse Brandt closed the old harbour bridge on Monday.",
     "Mayor Brandt never closed the harbour bridge on Tuesday after inspections."),
    ("Dockers closed the old harbour bridge on every market day.",
     "Dockers closed the harbour bridge on another day after inspections."),
    # a number beside another
    ("Mayor Ilse Brandt closed the old harbour bridge for 12 of 30 days.",
     "Mayor Brandt closed the harbour bridge for 19 of 30 days after inspections."),
])  # fmt: skip
def test_different_copied_or_negated_statements_form_no_point(statement, other):
    assert not [point for point in found_in(statement, other) if len(point.sources) > 1]


def test_all_statement_pairs_of_a_point_are_equivalent():
    """b is linked with a and with c; a and c are not: the group is of two, not of three."""
    statements = [Statement(aid, aid, frozenset()) for aid in "abc"]
    links = {0: {1: 1.4}, 1: {0: 1.4, 2: 1.3}, 2: {1: 1.3}}
    assert points_module._stars(statements, links) == [(0, 1)]


def test_the_statements_of_a_very_long_article_are_bounded():
    long = " ".join(
        f"Councillor Number{n} visited district {n} beside harbour quay{n}." for n in range(5000)
    )
    remaining = statements_of(
        articles_of(long, FILL[0] + "The harbour bridge was closed on Monday.")
    )
    assert len(remaining) <= MAX_STATEMENTS
    assert len([item for item in remaining if item.aid == "a2"]) == 2
    many = statements_of(articles_of(*[long[:20_000]] * 100))
    assert max(len([s for s in many if s.aid == f"a{n}"]) for n in range(1, 101)) == MIN_PER_ARTICLE


def point(*texts):
    return Point(
        tuple(Statement(f"a{n}", text, content_stems(text)) for n, text in enumerate(texts, 1))
    )


def test_each_point_belongs_to_its_most_common_topic():
    articles = articles_of(
        "The mayor spoke about the harbour bridge, and about the tram strike.",
        "Crowds stood on the harbour bridge. The unions have called for the tram strike.",
    )
    assert {"the harbour bridge", "the tram strike"} <= set(noun_phrases(articles))
    bridge = [point("The harbour bridge was shut.", "Police shut the harbour bridge.")]
    bridge += [point("Cracks in the harbour bridge were found.")]
    strike = [
        point("The tram strike began.", "Crews began the tram strike."),
        point("A tram strike."),
    ]
    other = [point("Snow fell.", "Snow came."), point("Bread is dear.", "Bread costs more.")]
    alone = [point("Nobody knows the crow.")]
    topics = group_by_topic([*bridge, *strike, *other, *alone], articles)
    assert {topic.question: topic.points for topic in topics} == {
        "What do the sources say of the harbour bridge?": tuple(bridge),
        "What do the sources say of the tram strike?": tuple(strike),
        OTHER_QUESTION: tuple(other),
    }


def test_topic_of_a_single_source_is_dropped():
    articles = articles_of("Cars on the old bridge, and on the old bridge.", "On the old bridge.")
    assert group_by_topic([point("The old bridge."), point("An old bridge.")], articles) == []


def test_differing_numbers_form_a_question():
    question = "How many people were injured?"
    models = WordModels(answers={question: ["12", "19", "Nine", "Not one"]})
    texts = (
        "In all 12 people were injured.",
        "Doctors said 19 people were injured.",
        "At least 12 people were injured on Monday.",
        "Nine residents went home.",
    )
    result = count_questions(articles_of(*texts), models)
    assert [[a.aid for a in group] for group in result[question]] == [["a1", "a3"], ["a2"], ["a4"]]
    assert count_questions(articles_of(texts[0], texts[2]), models) == {}


async def test_point_is_an_answer_group():
    texts = (
        "Mayor Ilse Brandt closed the old harbour bridge on Monday. Two old dancers lived by the "
        "bridge.",
        "Mayor Brandt closed the harbour bridge on Tuesday after inspections. They met on the "
        "bridge.",
    )
    articles = articles_of(
        *(text + " " + fill * 4 for text, fill in zip(texts, FILL, strict=False))
    )
    local = LocalReferences(WordBag(), WordModels())
    (question,) = await local.write((), cluster=articles, n=1)
    answers = [
        item for article in articles
        for item in await local.answer(question, article, cluster=articles)
    ]  # fmt: skip
    groups = await local.group(question, answers, articles)
    assert {answers[i].aid for i in groups[0]} == {"a1", "a2"}
    assert sorted(i for group in groups for i in group) == list(range(len(answers)))
