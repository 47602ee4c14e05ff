"""Statements: sentences split inside quotations too."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.text.statements import split_statements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # an unbalanced quote must not join what follows
        (
            "he ` armed himself ' on march 14 . torres is on leave . siler 's friends said so .",
            ["he ` armed himself ' on march 14 .", "torres is on leave .",
             "siler 's friends said so ."],
        ),
        (
            'She said: "We lost it all. Nobody came." Then she left.',
            ['She said: "We lost it all.', 'Nobody came."', "Then she left."],
        ),
        (
            'He told us: "Mr. Voss and Dr. Lind met J. Okafor in the U.S. Senate. It rained."',
            ['He told us: "Mr. Voss and Dr. Lind met J. Okafor in the U.S. Senate.',
             'It rained."'],
        ),
        ("Prices rose 3.5 percent.", ["Prices rose 3.5 percent."]),
        ("", []),
        (" ... ", []),
    ],
)  # fmt: skip
def test_every_full_stop_ends_a_statement(text, expected):
    assert [span.text for span in split_statements(text)] == expected


@given(st.text(alphabet="ab .!?'\"\n", max_size=60))
def test_statements_are_verbatim_ordered_and_complete(text):
    spans = split_statements(text)
    assert all(text[span.start : span.end] == span.text for span in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    remaining = "".join(span.text for span in spans)
    assert [c for c in remaining if c.isalpha()] == [c for c in text if c.isalpha()]


@pytest.mark.parametrize("word", ["up", "it", "off"])
def test_a_short_word_ends_a_sentence_and_an_initial_does_not(word):
    source = f'She said: "We gave {word}. Nobody came."'
    items = [statement.text for statement in split_statements(source)]
    assert items == [f'She said: "We gave {word}.', 'Nobody came."']
    assert len(split_statements('She said: "We met J. Okafor there."')) == 1
