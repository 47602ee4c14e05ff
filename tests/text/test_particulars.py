"""Names and numbers of statements, and which of them sources lack."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.text.particulars import names_in, numbers_in, vocabulary_of

SOURCES = (
    "The council of Harwell voted on Tuesday. Anna Lind, the mayor, spoke for six minutes.",
    "It cost 1,200 pounds, said Lind's office in the United States (U.S.).",
)


@pytest.mark.parametrize(
    ("statement", "lacking"),
    [
        ("Mayor Anna Lind of Harwell spoke on Tuesday.", 0),
        ("Mayor Anna Berg of Harwell spoke on Tuesday.", 1),
        ("Mayor Berg of Norwell spoke on Friday, and Berg left.", 3),  # Berg once
        ("Lind's office said it cost 1200 pounds.", 0),
        ("It took 6 minutes and cost 1,300 pounds.", 1),
        ("It took seven minutes.", 1),
        ("One council voted, as I said.", 0),
        ("Berg spoke for six minutes.", 0),  # a first word tells nothing
        ("the council of norwell voted", 0),  # nor does text without capitals
        ("Council Votes In Norwell As Berg Resigns", 0),  # nor a headline
        ("The U.S. Councils paid.", 0),  # by its stem
        ("", 0),
    ],
)
def test_particulars_missing_from_sources(statement, lacking):
    assert vocabulary_of(SOURCES).lacks(statement) == lacking


def test_empty_text_has_no_particulars():
    assert vocabulary_of(()).lacks("Then Anna Lind paid 12 pounds.") == 3


def test_names_are_in_order():
    assert names_in("Then Lind met Jean-Luc O'Neill in the U.S. twice") == (
        "Lind", "Jean-Luc", "O'Neill", "U.S.",
    )  # fmt: skip


@given(st.text(max_size=200))
def test_text_has_no_missing_particulars_against_itself(text):
    assert vocabulary_of([text]).lacks(text) == 0


@given(st.text(max_size=100), st.text(max_size=100))
def test_additional_source_never_adds_missing_particulars(statement, more):
    assert vocabulary_of([more, "a"]).lacks(statement) <= vocabulary_of(["a"]).lacks(statement)
    assert numbers_in(more) <= vocabulary_of([more]).numbers
