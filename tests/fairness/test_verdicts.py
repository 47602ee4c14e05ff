"""Verdicts of judges on single articles as support of them, on any scale, by hand."""

from __future__ import annotations

import pytest

from fairjudge.domain import Answer, Article, Cluster, Judgement, QuestionAnswers, Reference
from fairjudge.errors import InputError
from fairjudge.fairness.verdicts import clusters_with_answers, supports_from_judgements

ARTICLES = tuple(Article(aid=aid, content=f"Article {aid}.") for aid in "abc")
CLUSTER = Cluster(eid="d", articles=ARTICLES)


def verdict(value, aid="a", protocol="likert", **more):
    by_name = {"eid": "d", "system": "s", "aspect": "coverage", "judge": "j"} | more
    return Judgement(**{"unit": f"article:{aid}"} | by_name, protocol=protocol, value=value)


def support(*values, protocol="likert"):
    verdicts = [verdict(v, aid, protocol) for v, aid in zip(values, "abc", strict=False)]
    (supports,) = supports_from_judgements([CLUSTER], verdicts)
    assert supports.aids == ("a", "b", "c")
    return supports.probabilities[:, 0].tolist()


def test_support_is_the_relative_position_on_the_scale():
    assert support(1.0, 2.0, 5.0) == [0.0, 0.25, 1.0]
    assert support(0.0, 0.25, 1.0, protocol="binary") == [0.0, 0.25, 1.0]


@pytest.mark.parametrize(("value", "protocol"), [(0.5, "likert"), (5.5, "likert"), (1.5, "binary")])
def test_verdict_off_its_scale_raises(value, protocol):
    with pytest.raises(InputError, match=f"the {protocol} scale from"):
        supports_from_judgements([CLUSTER], [verdict(value, protocol=protocol)])


def test_summary_with_missing_article_verdicts_is_unscored():
    two = [verdict(3.0, "a"), verdict(3.0, "b")]
    assert supports_from_judgements([CLUSTER], two) == []
    assert supports_from_judgements([], [*two, verdict(3.0, "c")]) == []


def test_summary_level_verdicts_are_not_article_verdicts():
    with pytest.raises(InputError, match="no verdict is about a single article"):
        supports_from_judgements([CLUSTER], [verdict(3.0, unit="summary")])


def test_articles_without_answers_are_excluded():
    text = QuestionAnswers(
        question="Why?",
        answer_groups=((Answer(aid="c", answer="So."),), (Answer(aid="a", answer="Not so."),)),
    )
    silent = Cluster(eid="e", articles=ARTICLES)
    references = [
        Reference(eid="d", articles=ARTICLES, question_answers=(text,)),
        Reference(eid="e", articles=ARTICLES, question_answers=()),
    ]
    (reference,) = clusters_with_answers(
        [CLUSTER, silent, Cluster(eid="f", articles=ARTICLES)], references
    )
    assert reference.eid == "d"
    assert [article.aid for article in reference.articles] == ["a", "c"]
