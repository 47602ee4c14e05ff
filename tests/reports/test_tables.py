"""Tables on a terminal: what fits, what wraps between words, and what is left out by name."""

import csv
import io
from dataclasses import replace

import pytest

from fairjudge.reports.tables import (
    TABLE_FORMAT,
    WRITERS,
    TextTable,
    columns,
    print_table,
    to_csv,
    to_latex,
    to_markdown,
)


def printed(capsys, monkeypatch, table, width):
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
    out = printed(capsys, monkeypatch, WIDE, width)
    words = {word for line in out.splitlines()[1:] for word in line.split()}
    assert words & {"extract-then-summarize", "extract-…mmarize"}
    assert "extract-then-summarize" in words or width < 80
    assert "-0.31, 0.07" in out or width < 60
    text = "Columns hidden (terminal too narrow): " in out
    for heading, cell in zip(heads, WIDE.rows[0][2:], strict=True):
        assert set(cell.split()) <= words or (text and heading in out.split("narrow): ")[1])
    table = out.split("Columns hidden")[0]
    assert all(len(line.rstrip()) <= width for line in table.splitlines())


@pytest.mark.parametrize("width", [200, 120, 80, 60, 50])
@pytest.mark.parametrize(
    "figure",
    ["0.42 [0.33, 0.50]", "-1.136 [-2.718, +1.566]", "33 % [1.5, 40.2]", "(33.1 %)", "p <= 0.003",
     "69 % (61-78)", "96.4 %", "inf [3.2, inf]", "1,234 [1,100, 1,302]"],
)  # fmt: skip
def test_number_in_a_sentence_is_never_broken(capsys, monkeypatch, figure, width):
    sentence = f"Over all of the documents it is {figure}, and of the others {figure}; so it is."
    table = TextTable(
        title="t",
        columns=columns("use", "because", "n", numbers=("n",)),
        rows=tuple((f"score {n} systems", "and " * n + sentence, "12") for n in range(12)),
    )
    out = printed(capsys, monkeypatch, table, width)
    assert out.count(figure) == 24


@pytest.mark.parametrize("width", [80, 60, 50, 44])
def test_an_interval_in_a_column_of_numbers_is_never_broken(capsys, monkeypatch, width):
    heads = ("before", "after", "change")
    row = ("agreement with people", "<= 0.020", "-0.12 [-0.31, 0.07]", "0.05 [-0.10, 0.20]")
    table = TextTable(title="t", columns=columns("figure", *heads, numbers=heads), rows=(row,))
    out = printed(capsys, monkeypatch, table, width)
    assert "[-0.31, 0.07]" in out
    assert "<= 0.020" in out
    assert "[-0.10, 0.20]" in out or "Columns hidden (terminal too narrow): change" in out


def test_omitted_columns_are_named(capsys, monkeypatch):
    out = printed(capsys, monkeypatch, WIDE, 40)
    assert "Columns hidden (terminal too narrow): difference, interval, p." in out
    assert "0.004" not in out
    assert "Columns hidden" not in printed(capsys, monkeypatch, WIDE, 80)


IDS = [f"dailymail-{middle}-0011223344556677889900aabbccddee-{n}" for middle, n in
       (("c1", 1), ("c1", 2), ("d7", 1))]  # fmt: skip


def test_long_ids_are_shortened_so_that_every_column_has_room(capsys, monkeypatch):
    heads = ("answers", "mean [95 %]")
    table = TextTable(
        title="Answers",
        columns=columns("cluster", "system", *heads, numbers=heads),
        rows=tuple((name, f"org/{'m' * 30}-{n}", "1,234", "3.20 [3.11, 4.22]")
                   for n, name in enumerate(IDS)),
    )  # fmt: skip
    out = printed(capsys, monkeypatch, table, 80)
    assert "Columns hidden" not in out
    assert all(len(line.rstrip()) <= 80 for line in out.splitlines())
    rows = [line.split() for line in out.splitlines() if "3.20 [3.11, 4.22]" in line]
    assert len({row[0] for row in rows}) == len({row[1] for row in rows}) == 3
    assert all(row[0].startswith("dailymai") and "…" in row[0] for row in rows)
    wide = printed(capsys, monkeypatch, table, 200)
    assert all(name in wide for name in IDS)
    assert all(name in to_markdown(table) for name in IDS)


ONE_COLUMN = TextTable(title="t", columns=columns("system"), rows=())


def test_an_id_longer_than_the_terminal_is_shortened_and_other_text_broken(capsys, monkeypatch):
    out = printed(capsys, monkeypatch, replace(ONE_COLUMN, rows=(("x" * 50,),)), 40)
    assert f" {'x' * 16}…{'x' * 15} " in out
    out = printed(capsys, monkeypatch, replace(ONE_COLUMN, rows=(("新" * 50,),)), 40)
    assert out.count("新") == 50


ODD = TextTable(
    title="50 % of A & B",
    columns=columns("system_1", "share", numbers=("share",)),
    rows=(("[x] \\input{y} ~ ^ {z} #1", "-0.5"), ("=HYPERLINK(1)", "$3 <b>"), ('a,b\n"c"', "")),
    notes=("1 of 3 excluded.",),
)


def test_latex_escapes_cells():
    text = to_latex(ODD)
    assert r"\caption{50 \% of A \& B}" in text
    assert r"system\_1 & share \\" in text
    assert (
        r"{[}x] \textbackslash{}input\{y\} \textasciitilde{} \textasciicircum{} \{z\} \#1" in text
    )
    assert r"\$3 \textless{}b\textgreater{}" in text
    assert r"\begin{tabular}{lr}" in text
    assert r"\par\footnotesize 1 of 3 excluded." in text
    rows = text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert len(rows) == len(ODD.rows)  # a line break in a cell breaks no row


def test_csv_round_trips_without_formulas():
    title, _, body = to_csv(ODD).partition("\n")
    assert title == "# 50 % of A & B"
    head, *rows = csv.reader(io.StringIO(body))
    assert head == ["system_1", "share"]
    assert [row[0] for row in rows] == [ODD.rows[0][0], "'=HYPERLINK(1)", 'a,b\n"c"']
    assert rows[0][1] == "-0.5"


@pytest.mark.parametrize("form", ["markdown", "latex", "csv"])
def test_a_table_is_printed_in_the_format_that_is_set(capsys, form):
    token = TABLE_FORMAT.set(form)
    try:
        print_table(ODD)
    finally:
        TABLE_FORMAT.reset(token)
    assert capsys.readouterr().out == f"{WRITERS[form](ODD)}\n"
