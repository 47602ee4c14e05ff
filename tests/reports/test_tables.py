"""Tables on a terminal: what fits, what wraps between words, and what is left out by name."""

import pytest

from fairjudge.reports.tables import TextTable, columns, print_table


def shown(capsys, monkeypatch, table, width):
    monkeypatch.setenv("COLUMNS", str(width))
    print_table(table)
    return capsys.readouterr().out


WIDE = TextTable(
    title="Word-list inclusion",
    columns=columns("system", "group", *(heads := ("n", "difference", "interval", "p"))),
    rows=(("extract-then-summarize", "female", "120", "-0.12", "-0.31, 0.07", "0.004"),),
)


@pytest.mark.parametrize("width", [120, 80, 72, 50, 40])
def test_words_are_never_broken(capsys, monkeypatch, width):
    out = shown(capsys, monkeypatch, WIDE, width)
    words = {word for line in out.splitlines()[1:] for word in line.split()}
    assert "extract-then-summarize" in words
    said = "Columns hidden (terminal too narrow): " in out
    for heading, cell in zip(heads, WIDE.rows[0][2:], strict=True):
        assert set(cell.split()) <= words or (said and heading in out.split("narrow): ")[1])
    table = out.split("Columns hidden")[0]
    assert all(len(line.rstrip()) <= width for line in table.splitlines())


def test_what_has_no_room_is_named(capsys, monkeypatch):
    out = shown(capsys, monkeypatch, WIDE, 40)
    assert "Columns hidden (terminal too narrow): difference, interval, p." in out
    assert "0.004" not in out
    assert "Columns hidden" not in shown(capsys, monkeypatch, WIDE, 80)


def test_a_word_longer_than_the_terminal_is_broken_as_nothing_else_can_be(capsys, monkeypatch):
    table = TextTable(title="t", columns=columns("system"), rows=(("x" * 50,),))
    assert shown(capsys, monkeypatch, table, 40).count("x") == 50
