"""The model-free steps of reference building; expected values are worked out by hand."""

from __future__ import annotations

import pytest

from fairjudge.domain import Article, QuestionAnswers
from fairjudge.references.steps import (
    Validity,
    down_select,
    drop_near_duplicates,
    drop_positions,
    drop_same_sources,
    median_cluster_question,
    medium_length_article,
    representative_articles,
    source_overlap,
    why_invalid,
)


def asked(question, *groups):
    return QuestionAnswers.model_validate(
        {
            "question": question,
            "answer_groups": [
                [{"aid": aid, "answer": f"{aid}-{g}"} for aid in group]
                for g, group in enumerate(groups)
            ],
        }
    )


def article(aid, n_words=10):
    return Article(aid=aid, content="word " * n_words)


@pytest.mark.parametrize(
    ("question", "n_sources", "why"),
    [
        (asked("q", "a", "b", "c"), 10, None),  # 3 of 10 is exactly 30 %
        (asked("q", "a", "b"), 10, "answered by 2 of 10 sources"),
        (asked("q", "aaa"), 3, "1 answer group, fewer than 2"),
        (asked("q"), 3, "answered by 0 of 3 sources"),
    ],
)
def test_validity_wants_thirty_percent_of_sources_and_two_groups(question, n_sources, why):
    found = why_invalid(question, n_sources=n_sources, validity=Validity())
    assert found is None if why is None else why in str(found)


def test_one_article_answering_twice_counts_as_one_source():
    assert why_invalid(asked("q", "aa", "a"), n_sources=4, validity=Validity()) is not None


def test_consensus_filter_refuses_a_group_of_more_than_half():
    validity = Validity(max_largest_share=0.5)
    assert why_invalid(asked("q", "ab", "cd"), n_sources=4, validity=validity) is None
    assert "3 of 4 answers" in str(
        why_invalid(asked("q", "abc", "d"), n_sources=4, validity=validity)
    )


def test_the_median_question_is_the_first_with_the_lower_median_of_groups():
    one, two, three, also_two = (
        asked("one", "a"),
        asked("two", "a", "b"),
        asked("three", "a", "b", "c"),
        asked("also two", "a", "c"),
    )
    assert median_cluster_question([three, one, two, also_two]) is two
    assert median_cluster_question([three, one]) is one  # of 1 and 3, the lower
    assert median_cluster_question([asked("none")]) is None


def test_the_medium_length_article_is_the_lower_median_in_words():
    articles = [article("a", 30), article("b", 10), article("c", 20), article("d", 40)]
    assert medium_length_article(articles).aid == "c"


def test_representatives_are_the_medium_articles_of_the_largest_groups_without_repeats():
    articles = [article(aid, n) for aid, n in zip("abcde", (10, 20, 30, 40, 50), strict=True)]
    question = asked("q", "d", "abc", "bc", "e")
    # groups by size: abc -> b (median of 10, 20, 30); bc -> b again; d -> d; e is beyond the three
    chosen = representative_articles(question, articles, most=3)
    assert [a.aid for a in chosen] == ["b", "d"]


def test_overlap_is_intersection_over_union_and_the_richer_question_stays():
    poor, rich, other = asked("p", "abcd", "e"), asked("r", "ab", "cd", "e"), asked("o", "x", "y")
    assert source_overlap(poor, rich) == 1.0
    assert source_overlap(poor, other) == 0.0
    kept, dropped = drop_same_sources([poor, rich, other], max_overlap=0.8)
    assert (kept, dropped) == ([rich, other], [poor])


def test_down_selection_keeps_the_busiest_articles_in_cluster_order():
    articles = [article(aid) for aid in "abcd"]
    questions = [asked("q1", "bd", "c"), asked("q2", "d", "c"), asked("q3", "a")]
    # answers: a 1, b 1, c 2, d 2; the tie between a and b goes to a
    kept, restricted = down_select(questions, articles, most=3)
    assert [a.aid for a in kept] == ["a", "c", "d"]
    assert [[[a.aid for a in g] for g in q.answer_groups] for q in restricted] == [
        [["d"], ["c"]],
        [["d"], ["c"]],
        [["a"]],
    ]


def test_near_duplicate_questions_are_merged_into_the_first():
    questions = (
        "What caused the dam to fail?",
        "According to officials, what caused the dam to fail?",
        "Who will pay for the repairs?",
    )
    # words that count: {caused, dam, fail}; {officials, caused, dam, fail}: 3/4; {pay, repairs}
    assert drop_near_duplicates(questions) == (questions[0], questions[2])


def test_positions_count_through_all_groups_and_empty_groups_vanish():
    question = drop_positions(asked("q", "ab", "c", "d"), [1, 2])
    assert [[a.aid for a in group] for group in question.answer_groups] == [["a"], ["d"]]
