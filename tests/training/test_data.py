"""Examples come in splits that share no group, with spans that are the people's answers."""

from __future__ import annotations

import gzip
import json

import pytest

from training import data, planted

QAMR = [
    {
        "document": f"d{n}",
        "sentence": f"s{n}.{part}",
        "tokens": f"Mr Lind , {n} , sold {part + 2} red ships in Lund -LRB- Kent -RRB- .".split(),
        "question": "What was sold ?",
        "answer": [6, 9],
    }
    for n in range(60)
    for part in range(2)
]
PAIRS = [
    {
        "source": source,
        "group": f"g{n}",
        "premise": f"A man has {n} dogs in Spain .",
        "hypothesis": f"A man has {n} animals .",
        "label": label,
    }
    for n in range(60)
    for source, label in (
        ("snli", "supported"),
        ("ling_in_loop", "neutral"),
        ("defacto", "unsupported"),
    )
]
UNITS = [
    {
        "eid": f"e{n}",
        "unit": "Ships sank.",
        "unit_id": 0,
        "text": "Three ships sank.",
        "covered": n % 2,
    }
    for n in range(100)
]


@pytest.fixture
def folder(tmp_path):
    for name, rows in (
        ("qamr", QAMR),
        ("entailment", PAIRS),
        ("realsumm", UNITS),
        ("pyrxsum", [row | {"eid": f"x{row['eid']}"} for row in UNITS]),
    ):
        path = tmp_path / data.FILES[name]
        path.parent.mkdir(exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


@pytest.mark.parametrize(
    "task", [data.support, data.coverage, data.reading, data.same, planted.planted]
)
def test_no_group_is_in_two_splits(folder, task):
    invented = {e.group for e in data._invented()}
    groups = [
        {example.group for example in task(split, folder=folder)} - invented
        for split in ("train", "calibrate", "test")
    ]
    assert groups[0]
    assert groups[2]
    assert not groups[0] & groups[1]
    assert not groups[0] & groups[2]
    assert not groups[1] & groups[2]


def test_unlicensed_sources_are_used_only_for_evaluation(folder):
    sources = {
        split: {example.source for example in data.support(split, folder=folder)}
        for split in ("train", "calibrate", "test")
    }
    assert sources["train"] == {"snli", "defacto"}
    assert "ling_in_loop" not in sources["calibrate"]
    assert "ling_in_loop" in sources["test"]


def test_exact_numbers_of_documents_are_held_out(folder):
    documents = {example.group for example in data.coverage("test", folder=folder)}
    assert (
        len({e.group for e in data.coverage("test", folder=folder) if e.source == "realsumm"}) == 40
    )
    assert len(documents) >= 40


def test_span_is_the_verbatim_answer(folder):
    for example in data.reading("train", folder=folder):
        if example.label:
            assert example.second[slice(*example.span)].endswith("red ships")
        else:
            assert example.span == (0, 0)


def test_tokens_are_joined_with_original_spacing():
    tokens = "He said : `` It 's 5 % , Mr. -LRB- 40 -RRB- . ''"
    text, (start, end) = data.untokenised(tokens.split(), (5, 8))
    assert text == 'He said: "It\'s 5%, Mr. (40)."'
    assert text[start:end] == "'s 5%"


def test_generated_data_is_reproducible(folder):
    assert list(planted.planted("train", folder=folder)) == list(
        planted.planted("train", folder=folder)
    )
    assert list(data.same("test", folder=folder)) == list(data.same("test", folder=folder))


def test_window_with_most_overlap_is_kept():
    passage = " ".join(f"Sentence {n} speaks of nothing at all." for n in range(40))
    passage += " The mayor of Harwell resigned. " + "It rained on and on and on. " * 20
    window = data.window(passage, "Harwell's mayor resigned.", limit=30)
    assert "The mayor of Harwell resigned." in window
    assert len(window.split()) <= 30
    assert data.window("Short. Text.", "Text") == "Short. Text."


def test_twin_contains_the_changed_sentence(folder):
    examples = list(planted.planted("train", folder=folder))
    for example in examples:
        if example.source in {"planted twin", "planted copy"}:
            assert example.first in example.second
            assert example.label == data.SUPPORTED
    assert {e.label for e in examples} >= {data.SUPPORTED, data.CONTRADICTED, data.UNSUPPORTED}
