"""What models send when asked for questions, answers, groups and findings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.domain import Unscored
from fairjudge.references.ports import FilterResult
from fairjudge.references.replies import (
    read_answers,
    read_check,
    read_groups,
    read_questions,
)


@pytest.mark.parametrize(
    "text",
    [
        '{"questions": ["Why did it fail?", "Who will pay for it?"]}',
        '["Why did it fail?", "Who will pay for it?"]',
        "1. Why did it fail?\n2) **Who will pay for it?**\n",
        "Here are the questions:\n- Why did it fail?\n- Why did it fail?\n• Who will pay for it?",
    ],
)
def test_questions_are_read_from_json_and_from_lists(text):
    assert read_questions(text, limit=20, max_words=14) == (
        "Why did it fail?",
        "Who will pay for it?",
    )


def test_a_reply_without_questions_is_unscored_with_its_text():
    records = read_questions("I cannot help with that.", limit=20, max_words=14)
    assert isinstance(records, Unscored)
    assert records.reason == "unparseable"
    assert records.raw == "I cannot help with that."


def test_too_many_and_too_long_questions_are_cut():
    long = "Why " + "very " * 30 + "long?"
    assert read_questions(f"{long}\nWhy is a b?\nWhy is a c?", limit=1, max_words=14) == (
        "Why is a b?",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"answers": ["a fault", "a fault", "12"]}', ("a fault", "12")),
        ('{"answers": []}', ()),
        ('{"answers": ["No answer found.", "N/A"]}', ()),
        ("No answer.", ()),
        ("The article does not answer the question.", ()),
        ('- "a fault in the gate"\n- rain', ("a fault in the gate", "rain")),
    ],
)
def test_missing_answer_is_a_valid_result(text, expected):
    assert read_answers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"reply": "a fault"}',
        '{"answers": [{"answer": "a fault"}]}',
        '{"answers": ["He said "no" to it"]}',
        '{"answers": ["a fault in the ga',
        "<think>The article says it was a fault.",
    ],
)
def test_unreadable_answers_are_unscored_not_missing(text):
    assert isinstance(read_answers(text), Unscored)


def test_truncated_answer_is_discarded():
    for text in (
        "- a fault in the gate\n- the heavy ra",
        '{"answers": ["a fault in the gate", "th',
    ):
        assert read_answers(text, cut_off=True) == ("a fault in the gate",)


def test_groups_are_a_partition_sorted_by_size():
    assert read_groups('{"groups": [[3], [2, 1]]}', n=3) == ((0, 1), (2,))
    assert read_groups('{"groups": [["3"], [2.0, 1], []]}', n=3) == ((0, 1), (2,))


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "none",
        '{"groups": [[1]]}',
        '{"groups": [[1, 2], [2]]}',
        '{"groups": [[1, 2, 3]]}',
        '{"groups": [["x"]]}',
        '{"groups": [[0, 1]]}',
        '{"groups": 3}',
        '{"groups": ["12"]}',
        '{"groups": [[1, 1e999]]}',
        '{"groups": [[1, 2.5]]}',
        '{"groups": [[true, 2]]}',
        "12",
        "1\n2",
    ],
)
def test_groups_that_do_not_partition_are_unscored(text):
    assert isinstance(read_groups(text, n=2), Unscored)


def test_filter_verdicts_are_read():
    records = read_check('{"invalid": [2], "diverse": true}', n=2)
    assert records == FilterResult(invalid=frozenset({1}), diverse=True)


@pytest.mark.parametrize(
    "text",
    [
        '{"invalid": [3], "diverse": true}',
        '{"invalid": [1]}',
        '{"diverse": "yes"}',
        "fine",
        '{"invalid": ["x"], "diverse": true}',
        '{"invalid": null, "diverse": true}',
        '{"invalid": [1e999], "diverse": true}',
        '{"invalid": [true], "diverse": true}',
        '{"invalid": "12", "diverse": true}',
    ],
)
def test_filter_verdicts_outside_the_options_are_unscored(text):
    assert isinstance(read_check(text, n=2), Unscored)


@given(st.text())
def test_no_reply_crashes_the_parser(text):
    for result in (
        read_questions(text, limit=3, max_words=14),
        read_answers(text),
        read_groups(text, n=2),
        read_check(text, n=2),
    ):
        assert isinstance(result, tuple | Unscored | FilterResult)
