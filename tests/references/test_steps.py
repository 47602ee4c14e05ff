"""The model-free steps of reference building; expected values are worked out by hand."""

from __future__ import annotations

import pytest

from fairjudge.domain import Article, QuestionAnswers
from fairjudge.references.steps import (
    Validity,
    containment,
    down_select,
    drop_near_duplicates,
    drop_positions,
    drop_same_sources,
    invalid_reason,
    median_cluster_question,
    medium_length_article,
    representative_articles,
)


def question_answers(question, *groups):
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
        (question_answers("q", "a", "b", "c"), 10, None),  # 3 of 10 is exactly 30 %
        (question_answers("q", "a", "b"), 10, "answered by 2 of 10 sources"),
        (question_answers("q", "aaa"), 3, "1 answer group, fewer than 2"),
        (question_answers("q"), 3, "answered by 0 of 3 sources"),
    ],
)
def test_validity_requires_30_percent_of_sources_and_two_groups(question, n_sources, why):
    result = invalid_reason(question, n_sources=n_sources, validity=Validity())
    assert result is None if why is None else why in str(result)


def test_one_article_answering_twice_counts_as_one_source():
    assert (
        invalid_reason(question_answers("q", "aa", "a"), n_sources=4, validity=Validity())
        is not None
    )


def test_consensus_filter_rejects_a_majority_group():
    validity = Validity(max_largest_share=0.5)
    assert invalid_reason(question_answers("q", "ab", "cd"), n_sources=4, validity=validity) is None
    assert "3 of 4 answers" in str(
        invalid_reason(question_answers("q", "abc", "d"), n_sources=4, validity=validity)
    )


def test_the_median_question_is_the_first_with_the_lower_median_of_groups():
    first, second, third, also_second = (
        question_answers("one", "a"),
        question_answers("two", "a", "b"),
        question_answers("three", "a", "b", "c"),
        question_answers("also two", "a", "c"),
    )
    assert median_cluster_question([third, first, second, also_second]) is second
    assert median_cluster_question([third, first]) is first  # of 1 and 3, the lower
    assert median_cluster_question([question_answers("none")]) is None


def test_the_medium_length_article_is_the_lower_median_in_words():
    articles = [article("a", 30), article("b", 10), article("c", 20), article("d", 40)]
    assert medium_length_article(articles).aid == "c"


def test_representatives_are_the_medium_articles_of_the_largest_groups_without_repeats():
    articles = [article(aid, n) for aid, n in zip("abcde", (10, 20, 30, 40, 50), strict=True)]
    question = question_answers("q", "d", "abc", "bc", "e")
    # groups by size: abc -> b (median of 10, 20, 30); bc -> b again; d -> d; e is beyond the three
    chosen = representative_articles(question, articles, limit=3)
    assert [a.aid for a in chosen] == ["b", "d"]


def quoted(question, *quotes):
    """A question whose answers, all in one group, are ("a", "the words") and so on."""
    group = [{"aid": aid, "answer": answer} for aid, answer in quotes]
    return QuestionAnswers.model_validate({"question": question, "answer_groups": [group]})


def test_question_with_paragraphs_of_another_is_dropped():
    articles = [
        Article(aid=aid, content=f"{aid} one red fox\n\n{aid} two old dogs\n \n{aid} three cats")
        for aid in "abcde"
    ]
    # paragraphs a0 b0 c0 d0 e0 a2; "few" has four of them and c1: 4 of its 5 are contained
    many = quoted("many", *((aid, "one red") for aid in "abcde"), ("a", "three cats"))
    few = quoted(
        "few", ("a", "red fox"), ("b", "red"), ("c", "two old"), ("d", "one"), ("e", "fox")
    )
    # the same articles, but other paragraphs of them: by articles alone this would go too
    elsewhere = quoted("elsewhere", *((aid, "old dogs") for aid in "abcd"))
    questions, dropped = drop_same_sources([few, elsewhere, many], articles, max_contained=0.8)
    assert ([q.question for q in questions], [q.question for q in dropped]) == (
        ["elsewhere", "many"], ["few"],
    )  # fmt: skip
    assert drop_same_sources([few, many], articles, max_contained=0.81) == ([few, many], [])


def test_containment_is_relative_to_the_question_with_fewer_answers():
    small, large = frozenset({("a", 0)}), frozenset({("a", 0), ("b", 0)})
    assert (containment(small, large), containment(large, small)) == (1.0, 0.5)
    assert containment(frozenset(), large) == 0.0


def test_down_selection_keeps_articles_with_most_answers_in_cluster_order():
    articles = [article(aid) for aid in "abcd"]
    questions = [
        question_answers("q1", "bd", "c"),
        question_answers("q2", "d", "c"),
        question_answers("q3", "a"),
    ]
    # answers: a 1, b 1, c 2, d 2; the tie between a and b goes to a
    selected, restricted = down_select(questions, articles, limit=3)
    assert [a.aid for a in selected] == ["a", "c", "d"]
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


def test_different_questions_are_not_duplicates():
    questions = ("Who?", "Why?", "When did the dam fail?", "Why did the dam fail?", "How?")
    assert drop_near_duplicates(questions) == questions
    questions = ("Who told the mayor?", "Whom had the mayor told?", "Which dam?", "Whose dam?")
    assert drop_near_duplicates(questions) == (questions[0], *questions[2:])
    questions = ("What was the creature under the skin?", "How was the creature under the skin?")
    assert drop_near_duplicates(questions) == questions
    questions = ("What dam failed in May?", "Which dam failed, in May?")
    assert drop_near_duplicates(questions) == questions[:1]


def test_positions_are_consecutive_across_groups_and_empty_groups_are_dropped():
    question = drop_positions(question_answers("q", "ab", "c", "d"), [1, 2])
    assert [[a.aid for a in group] for group in question.answer_groups] == [["a"], ["d"]]
