"""Who is covered: slices by hand on one cluster, and what is named as left out."""

from __future__ import annotations

import pytest

from fairjudge.domain import Judgement, Reference
from fairjudge.judges.who_is_covered import question_word, who_is_covered

REFERENCE = Reference.model_validate(
    {
        "eid": "e",
        "articles": [
            {"aid": "a", "domain": "a.example", "content": "x", "attributes": {"side": "left"}},
            {"aid": "b", "domain": "b.example", "content": "x", "attributes": {"side": "right"}},
            {"aid": "c", "domain": "c.example", "content": "x", "attributes": {"side": "right"}},
        ],
        "question_answers": [
            {
                "question": "Why did it close?",
                "answer_groups": [
                    [{"aid": "a", "answer": "money"}, {"aid": "b", "answer": "no money"}],
                    [{"aid": "c", "answer": "politics"}],
                ],
            }
        ],
    }
)


def judged(unit, value, *, protocol="binary", **rest):
    item = {"eid": "e", "system": "s", "aspect": "coverage", "protocol": protocol, "unit": unit}
    return Judgement(**item, judge="j", value=value, **rest)


def means(found, by):
    return {one.name: one.mean.value for one in found.slices[by]}


def test_slices_and_what_is_left_out():
    """0.0 is covered, 0.1 is not; the former is held by a and b, the latter by c alone."""
    found = who_is_covered([judged("answer:0.0", 1), judged("answer:0.1", 0)], [REFERENCE])
    assert means(found, "coverage by question word") == {"why": 0.5}
    assert means(found, "coverage by articles that hold the answer") == {"1": 0.0, "2": 1.0}
    assert means(found, "coverage by article position") == {"first third": 1.0, "last third": 0.0}
    assert means(found, "coverage by attribute side") == {"left": 1.0, "right": 0.5}
    assert means(found, "coverage by outlet")["c.example"] == 0.0
    (left_out,) = found.uncovered
    assert (left_out.answer, left_out.outlets) == ("politics", ("c.example",))
    assert found.left_out == {("e", "s"): ("c.example",)}


def test_ratings_are_brought_to_shares_and_articles_have_their_position():
    """A rating of 2 of 1 to 5 is a quarter; article b is the second of three."""
    found = who_is_covered([judged("article:b", 2, protocol="likert")], [REFERENCE])
    assert means(found, "faithfulness by article position") == {"middle third": 0.25}
    assert found.uncovered == ()


def test_what_does_not_fit_is_counted():
    rows = [
        judged("answer:7.0", 1),
        judged("article:z", 1),
        judged("answer:0.0", None, unscored="refused"),
        judged("summary", 1),
    ]
    found = who_is_covered(rows, [REFERENCE])
    assert (found.n, found.n_unknown, found.n_unscored) == (0, 2, 1)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("To whom was it sold?", "who"),
        ("Which party won?", "other"),
        ("In the end, how did it go?", "how"),
        ("", "other"),
    ],
)
def test_question_words(question, word):
    assert question_word(question) == word
