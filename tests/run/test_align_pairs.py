"""Labels of pairs for align: which count, what ratings tell, and how a pair is shown."""

from __future__ import annotations

import pytest

from fairjudge.aligning.material import preferences, preferred_pairs
from fairjudge.domain import Label, Summary
from fairjudge.errors import InputError

HERE = {("e", "x"), ("e", "y"), ("e", "z")}
TEXTS = [Summary(eid="e", system=name, text=f"text {name}") for name in "xyz"]


def pair(a: str, b: str, value: object, annotator: str = "p", **more: object) -> Label:
    item = {"eid": "e", "system_a": a, "system_b": b, "aspect": "f", "annotator": annotator}
    return Label.model_validate(item | {"value": value} | more)


def rating(system: str, value: float, annotator: str = "p") -> Label:
    return Label(eid="e", system=system, aspect="f", annotator=annotator, value=value)


def test_pair_labels_count_if_both_summaries_are_present():
    first, other = pair("x", "y", "a"), pair("x", "elsewhere", "a")
    assert preferences([first, other, rating("x", 3)], HERE) == (first,)


def test_numeric_label_for_a_pair_raises():
    with pytest.raises(InputError, match="expected 'a', 'b' or 'tie'"):
        preferences([pair("x", "y", 1)], HERE)


def test_preference_of_each_annotator_derives_from_both_ratings():
    rows = [rating("y", 2), rating("x", 4), rating("z", 2), rating("x", 1, "q")]
    rows += [rating("x", 2), rating("gone", 5)]  # p's mean of x is 3
    result = preferences(rows, HERE)
    assert [(item.system_a, item.system_b, item.value, item.annotator) for item in result] == [
        ("x", "y", "a", "p"),
        ("x", "z", "a", "p"),
        ("y", "z", "tie", "p"),
    ]


def test_pair_is_shown_in_the_order_of_its_first_annotator():
    labels = [
        pair("x", "y", "a", "p", order="ba", note="the second is right"),
        pair("y", "x", "a", "q", order="ba", note="seen the other way round"),
        pair("x", "y", "tie", "r", order="ba", note=" alike "),
    ]
    (first,) = preferred_pairs(labels, TEXTS, {"e": "material"}, {"e": ("article",)})
    assert (first.text, first.second) == ("text y", "text x")
    assert first.value == pytest.approx((-1 + 1 + 0) / 3)
    assert first.share == pytest.approx(0.5)
    assert first.notes == ("the second is right", "alike")
    assert first.material == "material"
