"""A column for each system, with ratings of each or what people prefer, and spreadsheets' ways."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import pytest

import fairjudge as fj
from fairjudge.errors import InputError

TEXT = "The dam above Dunmere broke at noon, and two thousand people had to leave their homes."


def table(texts: tuple[str, str], **more: tuple[object, ...]) -> str:
    rows = [
        {"id": n, "source": f"{TEXT} {n}", **{name: f"{name} on {n}." for name in texts}}
        | {name: cells[n] for name, cells in more.items()}
        for n in range(3)
    ]
    with Path("w.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return "w.csv"


def labels(conversion) -> set[tuple[str, str | None, str, object]]:
    return {(label.eid, label.system, label.aspect, label.value) for label in conversion.labels}


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (("gpt", "llama-3"), ("gpt_fluency", "llama-3_fluency")),
        (("gpt_summary", "llama_summary"), ("fluency (gpt)", "fluency (llama)")),
        (("Output GPT", "Output GPT-4"), ("GPT fluency", "GPT-4 fluency")),
    ],
)
def test_rating_belongs_to_the_system_in_its_column_name(texts, names):
    path = table(texts, **dict(zip(names, [(1, 2, 3), (5, 4, 5)], strict=True)))
    result = fj.convert(path, columns={"text": texts})
    assert labels(result) == {
        *((str(n), texts[0], "fluency", n + 1) for n in range(3)),
        *((str(n), texts[1], "fluency", value) for n, value in enumerate((5, 4, 5))),
    }
    assert {label.annotator for label in result.labels} == {"annotator1"}


def test_column_without_system_name_is_not_assigned():
    path = table(("one", "two"), first=(1, 2, 3), other=(5, 5, 5), fluency=(3, 3, 3))
    columns = {"text": ["one", "two"], "value": ["first"]}
    with pytest.raises(InputError, match=r"the rated system is unknown.*first@SYSTEM"):
        fj.convert(path, columns=columns)
    assert not fj.convert(path, columns={"text": ["one", "two"]}).labels
    mapping = {"value:tone@one": "first", "value:tone@two": "other"}
    result = fj.convert(path, columns={"text": ["one", "two"], **mapping})
    assert labels(result) == {
        *((str(n), "one", "tone", n + 1) for n in range(3)),
        *((str(n), "two", "tone", 5) for n in range(3)),
    }


@pytest.mark.parametrize(
    ("texts", "cells"),
    [
        (("summary_a", "summary_b"), ("A", "b", "Tie")),
        (("gpt", "llama"), ("gpt", "Llama", "equal")),
        (("left output", "right output"), ("left", "right", "neither")),
    ],
)
def test_human_preference_becomes_a_pair_label(texts, cells):
    path = table(texts, better=cells)
    result = fj.convert(path, columns={"text": texts, "value:quality": "better"})
    assert [(label.system_a, label.system_b, label.value) for label in result.labels] == [
        (*texts, value) for value in ("a", "b", "tie")
    ]
    (command, *_) = result.next_commands("data")
    assert "--protocol pairwise" in command.command
    (warning,) = fj.convert(path, columns={"text": texts}).command_line_warnings
    assert warning.endswith("--map value:quality=better")


def test_decimal_commas_are_parsed():
    result = fj.convert(table(("a", "b"), a_tone=("3,5", "2", "n/a")), columns={
        "text": ["a", "b"], "value": ["a_tone"],
    })  # fmt: skip
    assert labels(result) == {("0", "a", "tone", 3.5), ("1", "a", "tone", 2)}


def test_text_columns_are_named_if_no_summary_is_found(cli):
    result = cli("convert", table(("By one system", "By two")), "-o", "data", code=0)
    assert "--map 'text=By one system,text=By two'" in " ".join(result.out.split())


@pytest.mark.parametrize("mark", [";", ",", "\t"])
def test_separator_line_and_trailing_empty_cells_are_accepted(mark):
    rows = [["id", "source", "summary", "", ""], ["1", f"'{TEXT}'", "It broke.", "", ""]]
    lines = [f"sep={mark}", *(mark.join(f'"{cell}"' for cell in row) for row in rows)]
    Path("s.csv").write_text("\r\n".join(lines))
    result = fj.convert("s.csv")
    assert [summary.text for summary in result.summaries] == ["It broke."]
    Path("s.csv").write_text("\n".join([*lines, mark.join(["2", "b", "c", "", "", "d"])]))
    with pytest.raises(InputError, match=r"s\.csv:4: expected 3 cells"):
        fj.convert("s.csv")


def test_unsupported_workbooks_and_tables_suggest_a_remedy():
    with zipfile.ZipFile("book.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(InputError, match="save its table as CSV"):
        fj.convert("book.xlsx")
    Path("table.txt").write_text(f"id\tsource\tsummary\n1\t{TEXT}\tIt broke.\n")
    with pytest.raises(InputError, match=r"end in \.csv or \.tsv"):
        fj.convert("table.txt")


def test_files_of_an_earlier_conversion_are_named(cli):
    path = table(("one", "two"), one_fluency=(1, 2, 3))
    texts = ("--map", "text=one,text=two")
    assert "earlier conversion" not in cli("convert", path, "-o", "data", *texts).out
    result = cli("convert", table(("one", "two")), "-o", "data", *texts)
    assert "data/labels.jsonl is from an earlier conversion" in " ".join(result.out.split())
