"""What models send when asked for a list in JSON."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.parsing import read_list, read_object, whole_number

ASKED = [
    ('{"a": ["x", "y"]}', ["x", "y"]),
    ('["x", "y"]', ["x", "y"]),
    ("[]", []),
    ('Sure!\n```json\n{"a": ["x"]}\n```\nAnything else?', ["x"]),
    ('Here you are: ["x"]', ["x"]),
    ('first {"a": ["x"]}, corrected {"a": ["y"]}', ["y"]),
    ('{"a": ["x"]} as source [1] says', ["x"]),
    ('{"a": ["x"]} {"note": ["y"]}', ["x"]),
    ('<think>["y"] or {"a": ["z"]}?</think>\n["x"]', ["x"]),
    ('so, ["y"]</think>["x"]', ["x"]),
    ('{"a": ["x"], "note": "not end', ["x"]),
]
LINES = [
    ("1. x\n2) y\n\n", ["x", "y"]),
    ("- x\n* y\n• z", ["x", "y", "z"]),
    ("```\nx\n```", ["x"]),
    ("x {as it were}\n[1] y", ["x {as it were}", "[1] y"]),
    ("<think>x?\ny?</think>\n\nz", ["z"]),
]
NO_LISTS = [
    "",
    " \n ",
    "<think>x\ny",
    '{"b": ["x"]}',
    '{"a": "x"}',
    '{"a": {"x": 1}}',
    '{"a": ["x", "y',
    'Sure: {"a": ["x", "y',
    '{\n"a": [\n"x",\n"y',
    '```json\n[\n  "x",\n  "y',
    '{"b": ["x"], "a": ["y',
    '{"a": [["x"], ["y"',
    '{"a": ["x said "y" to z"]}',
    "{'a': ['x']}",
]


@pytest.mark.parametrize(("text", "expected"), ASKED + LINES)
def test_lists_are_read_from_json_and_from_lines(text, expected):
    assert read_list(text, "a") == expected


@pytest.mark.parametrize("text", NO_LISTS)
def test_fragments_of_json_and_reasoning_are_not_items(text):
    assert read_list(text, "a") is None


@pytest.mark.parametrize(("text", "expected"), ASKED)
def test_complete_json_in_a_truncated_reply_is_read(text, expected):
    assert read_list(text + "   \n", "a", cut_off=True) == expected
    assert read_list(text, "a", cut_off=True) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3), (-3, -3), (3.0, 3), (3.5, None), (" 12 ", 12), ("12a", None), ("", None),
        ("99999", 99999), ("100000", None), (True, None), (None, None), ([3], None), ({}, None),
    ],
)  # fmt: skip
def test_integers_and_invalid_numbers(value, expected):
    result = whole_number(value)
    assert result == expected
    assert result is None or type(result) is int


def test_truncated_line_is_dropped():
    assert read_list("x\ny\nand th", "a", cut_off=True) == ["x", "y"]
    assert read_list("x\ny\n", "a", cut_off=True) == ["x", "y"]
    assert read_list("and th", "a", cut_off=True) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": ["x", "y", "and th', ["x", "y"]),
        ('{"a": ["x", "y"', ["x"]),
        ('{"a": ["x", "y",', ["x", "y"]),
        ('```json\n{\n  "a": [\n    "x",\n    "y",\n    "an', ["x", "y"]),
        ('["x", "y', ["x"]),
        ('```json\n["x", "y', ["x"]),
        ('{"a": ["x", "said that "y", or so", "z', ["x"]),  # the second one's end is unknown
        ('{"a": ["x said "y" to', None),
        ('{"b": ["x", "y', None),
        ('{"a": ["x', None),
        ('{"a"', None),
        ('<think>["x", "y", ', None),
    ],
)
def test_complete_items_of_truncated_json_are_read(text, expected):
    assert read_list(text, "a", cut_off=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1} then {"a": 2} and {"b": 3}', {"a": 2}),
        ('<think>{"a": 1}</think>', None),
        ("no { json } here", None),
        ("[" * 5000, None),
    ],
)
def test_last_object_with_the_key_is_used(text, expected):
    assert read_object(text, "a") == expected


@given(st.text(alphabet='[]{}",:\\ ax1\n<think>/'))
def test_no_reply_crashes_the_parser(text):
    for cut_off in (False, True):
        records = read_list(text, "a", cut_off=cut_off)
        assert records is None or isinstance(records, list)
