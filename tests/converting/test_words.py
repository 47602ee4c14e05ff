"""Ratings in words: numbers for them, and what is said where there are none."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import fairjudge as fj
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.options.declaring import column_map, word_values

TEXT = "The dam above Dunmere broke at noon, and two thousand people had to leave their homes."
WORDS = ("Very poor", "Fair, mostly", "Excellent")


def rated(**columns: object) -> list[dict]:
    return [
        {"story": f"e{n}", "model": "m", "summary": f"Summary {n}.", "source": f"{TEXT} {n}"}
        | {name: value[n] for name, value in columns.items()}
        for n in range(3)
    ]


def write(name: str, rows: list[dict]) -> str:
    if name.endswith(".csv"):
        with Path(name).open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    else:
        Path(name).write_text(json.dumps(rows))
    return name


@pytest.mark.parametrize(
    "cells", [WORDS, [[word] for word in WORDS], [{"choice": w} for w in WORDS]]
)
def test_words_are_mapped_to_given_numbers(cells):
    path = write("r.json", rated(helpful=cells))
    values = {"very poor": 1, "Fair, mostly": 2.5, "EXCELLENT": 5}
    result = fj.convert(path, columns={"eid": "story", "value": "helpful"}, values=values)
    assert [(label.aspect, label.value) for label in result.labels] == [
        ("helpful", 1), ("helpful", 2.5), ("helpful", 5),
    ]  # fmt: skip


def test_word_column_is_reported_with_its_words_and_option(cli):
    path = write("r.csv", rated(helpful=WORDS))
    mapped = ("--map", "eid=story,value:helpfulness=helpful")
    result = cli("convert", path, "-o", "data", *mapped, code=1)
    text = " ".join(result.err.split())
    assert "column 'helpful' contains words, not numbers" in text
    option = text.partition("--values ")[2].strip("'")
    assert option == "Excellent=NUMBER,Fair, mostly=NUMBER,Very poor=NUMBER"
    for number in "321":
        option = option.replace("NUMBER", number, 1)
    result = cli("convert", path, "-o", "data", *mapped, "--values", option, code=0)
    labels = [json.loads(row) for row in Path("data/labels.jsonl").read_text().splitlines()]
    assert {(row["aspect"], row["value"]) for row in labels} == {
        ("helpfulness", 1), ("helpfulness", 2), ("helpfulness", 3),
    }  # fmt: skip
    with pytest.raises(InputError, match=r"values=\{'Excellent': 'NUMBER', 'Fair, mostly'"):
        fj.convert(path, columns={"eid": "story", "value": "helpful"})


@pytest.mark.parametrize(
    ("name", "cells", "option"),
    [
        ("verdict", ("ok", "bad", "ok"), "--map value=verdict --values bad=NUMBER,ok=NUMBER"),
        ("Rating", ("3", "4", "5"), "--map value=Rating"),
        ("fluency", WORDS, "--map value=fluency --values 'Excellent=NUMBER"),
    ],
)
def test_possible_rating_columns_are_named(name, cells, option):
    text = fj.convert(write("r.csv", rated(**{name: cells}))).command_line_warnings
    assert any(option in warning for warning in text)


@pytest.mark.parametrize("cells", [("long text of its own", "another", TEXT), ("", "", "")])
def test_text_and_empty_columns_are_not_ratings(cells):
    path = write("r.csv", rated(notes=cells, label=("", "", "")))
    assert not fj.convert(path, columns={"eid": "story"}).warnings
    with pytest.raises(fj.FairJudgeError, match="'notes'"):
        fj.convert(path, columns={"value": "notes"})


def test_ratings_may_be_missing_in_some_rows():
    result = fj.convert(write("r.csv", rated(coherence=("4", "n/a", ""), fluency=("-", "?", ""))))
    assert [(label.aspect, label.value) for label in result.labels] == [("coherence", 4)]


def test_columns_with_commas_and_options_given_twice(cli):
    path = write("r.csv", rated(**{"Clear, on the whole?": (1, 2, 3), "Fair = just?": (0, 1, 1)}))
    result = cli(
        *("convert", path, "-o", "data", "--map", "eid=story,value:clarity=Clear, on the whole?"),
        *("--map", "value=Fair = just?"),
        code=0,
    )
    assert "6 labels of Fair = just?, clarity" in " ".join(result.out.split())


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("good=1,bad=0", {"good": 1, "bad": 0}),
        ("Yes, all of it=1 , a=b=-0.5", {"Yes, all of it": 1, "a=b": -0.5}),
    ],
)
def test_words_may_contain_commas_and_equal_signs(text, values):
    assert word_values(text) == values


@pytest.mark.parametrize("text", ["good", "=1", "good=", "good=x", "good=1,bad"])
def test_words_without_a_number_raise(text):
    with pytest.raises(ValueError, match="expected"):
        word_values(text)


def test_map_option_accepts_columns_with_commas():
    assert column_map("eid=a, b ,text=c,text=d") == {"eid": ("a, b",), "text": ("c", "d")}


@pytest.mark.parametrize("field", ["valeu", "eid:x", "value:", "text: "])
def test_missing_field_raises(field):
    with pytest.raises(ConfigurationError, match="unknown field"):
        fj.convert(write("r.csv", rated(x=(1, 2, 3))), columns={field: "x"})


def test_map_option_names_systems():
    rows = [{"id": n, "source": f"{TEXT} {n}", "A": f"By A {n}.", "B": f"By B {n}."} for n in "12"]
    columns = {"text:gpt-4.1": "A", "text:reference": "B"}
    result = fj.convert(write("w.csv", rows), columns=columns)
    assert {summary.system for summary in result.summaries} == {"gpt-4.1", "reference"}
