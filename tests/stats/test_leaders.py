"""Who is first, and who shares that place."""

import pytest

from fairjudge.stats.leaders import leaders


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ({}, ()),
        ({"a": 1.0}, ("a",)),
        ({"a": 4.0, "b": 4.0}, ("a", "b")),
        ({"b": 4.0, "a": 4.0, "c": 3.9}, ("b", "a")),
        ({"a": 0.1 + 0.2, "b": 0.3}, ("a", "b")),  # they differ by 5.6e-17
        ({"a": -0.1, "b": -0.2}, ("a",)),
        ({"a": 0.0, "b": 1e-6}, ("b",)),
        ({"a": 1e6 / 3, "b": 1e6 / 3 + 1e-10}, ("a", "b")),
    ],
)
def test_leaders_have_the_highest_score_up_to_rounding(values, first):
    assert leaders(values) == first
