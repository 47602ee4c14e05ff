"""What is shown of others' texts, and how things are counted."""

from __future__ import annotations

import sys

import pytest

from fairjudge.text.counting import pluralize
from fairjudge.text.printable import printable, shows_on_terminal


@pytest.mark.parametrize(
    ("path", "terminal", "shows"),
    [("-", True, True), ("-", False, False), ("out.json", True, False)],
)
def test_only_stdout_is_a_terminal(monkeypatch, path, terminal, shows):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    assert shows_on_terminal(path) is shows


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("Größe", "Größe"),
        ("two\nlines", "two\nlines"),
        ("\x1b[31mred\n", " [31mred\n"),
        ("a\u202eb\x07c\u009bd", "a b c d"),
    ],
)
def test_control_characters_become_spaces_and_line_breaks_are_kept(text, printed):
    assert printable(text) == printed


def test_one_is_singular_and_other_counts_plural():
    assert [pluralize(n, "item") for n in (0, 1, 2, 1234)] == [
        "0 items", "1 item", "2 items", "1,234 items"
    ]  # fmt: skip
    assert pluralize(2, "summary", "summaries") == "2 summaries"
    assert pluralize(1, "summary", "summaries") == "1 summary"
