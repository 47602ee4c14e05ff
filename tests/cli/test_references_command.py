"""``fairjudge references``: what people's labels leave of references, worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_tools import write_jsonl

AIDS = [f"a{n}" for n in range(10)]


def answer(aid: str, text: str = "the bridge will be closed") -> dict[str, str]:
    return {"aid": aid, "answer": text}


def reference(eid: str, questions: list[list[list[str]]]) -> dict[str, Any]:
    """A cluster of ten articles, and for each question the articles of each group."""
    text = "The bridge will be closed, the mayor said on Monday, and nobody knows for how long."
    return {
        "eid": eid,
        "articles": [{"aid": aid, "content": text * 4} for aid in AIDS],
        "question_answers": [
            {"question": f"What is said of bridge {q}?",
             "answer_groups": [[answer(aid) for aid in group] for group in groups],
             "group_labels": [f"label {g}" for g, _ in enumerate(groups)]}
            for q, groups in enumerate(questions)
        ],
    }  # fmt: skip


def labels(eid: str, said: dict[str, str]) -> list[dict[str, Any]]:
    """Labels of units, a digit an annotator."""
    return [
        {"eid": eid, "system": "reference", "aspect": "validity", "unit": f"answer:{unit}",
         "annotator": f"p{n}", "value": int(value)}
        for unit, values in said.items()
        for n, value in enumerate(values)
    ]  # fmt: skip


@pytest.fixture
def files() -> None:
    first = reference("one", [
        [["a0", "a1"], ["a2"], ["a3", "a4"]],  # loses its second group, and stays
        [["a0", "a1", "a5"], ["a2"]],  # loses its second group: one is left
        [["a0", "a1"], ["a2"], ["a3"]],  # loses its first group: 2 of 10 sources are left
    ])  # fmt: skip
    two = reference("two", [[["a0", "a1"], ["a2", "a3"]]])
    write_jsonl(Path("r.jsonl"), [first, two])
    text = labels("one", {"0.0": "111", "0.1": "100", "0.2": "110", "1.0": "111", "1.1": "000",
                          "2.0": "001", "2.1": "111"})  # fmt: skip
    write_jsonl(Path("l.jsonl"), text + labels("two", {"0.0": "11", "0.1": "10"}))


@pytest.mark.usefixtures("files")
def test_invalid_answers_are_removed_and_questions_revalidated(cli):
    result = cli(
        "references", "apply", "r.jsonl", "l.jsonl", "-o", "v.jsonl", "--json", "v.json", code=0
    )
    assert result.out.startswith(
        "In short: 1 of 4 questions kept; 3 of 10 groups of answers removed as invalid, 1 as "
        "annotators were evenly split. "
        "Without a question: 1 cluster (two)."
    )
    text = [json.loads(line) for line in Path("v.jsonl").read_text().splitlines()]
    (question,) = text[0]["question_answers"]
    assert [[a["aid"] for a in group] for group in question["answer_groups"]] == [
        ["a0", "a1"], ["a3", "a4"]]  # fmt: skip
    assert question["group_labels"] == ["label 0", "label 2"]
    assert text[1]["question_answers"] == []  # a group on which people are split is not shown valid
    report = json.loads(Path("v.json").read_text())
    first, second = report["clusters"]
    assert (first["n_invalid"], first["n_split"], first["n_unlabelled"]) == (3, 0, 1)
    assert (second["n_invalid"], second["n_split"]) == (0, 1)
    assert [item["why"] for item in first["dropped"]] == [
        "1 answer group, fewer than 2",
        "answered by 2 of 10 sources, fewer than 30 %",
    ]
    assert report["alpha"] is not None


@pytest.mark.usefixtures("files")
def test_minimum_source_share_is_an_option(cli):
    result = cli(
        "references", "apply", "r.jsonl", "l.jsonl", "-o", "v.jsonl", "--min-sources", "0.2"
    )
    assert result.out.startswith("In short: 2 of 4 questions kept")


@pytest.mark.usefixtures("files")
def test_unrelated_labels_raise(cli):
    rows = [row | {"aspect": "coverage"} for row in labels("one", {"0.0": "1"})]
    write_jsonl(Path("c.jsonl"), rows)
    result = cli("references", "apply", "r.jsonl", "c.jsonl", "-o", "v.jsonl")
    assert (result.code, "no label has the aspect 'validity'" in result.err) == (1, True)
    write_jsonl(Path("o.jsonl"), labels("three", {"0.0": "1"}))
    result = cli("references", "apply", "r.jsonl", "o.jsonl", "-o", "v.jsonl")
    assert (result.code, "no label refers to an answer of these" in result.err) == (1, True)


def test_answer_recall_and_precision_against_human_answers(cli):
    """Three of people's answers are found; two of ours are not theirs."""
    people = reference("one", [[["a0", "a1", "a2"], ["a3", "a4"]]])
    ours = reference("one", [[["a0"], ["a1"], ["a5"]]])
    (question,) = ours["question_answers"]
    del question["group_labels"]
    question["answer_groups"].append([answer("a3", "closed")])  # all its words are in people's
    question["answer_groups"].append([answer("a4", "a wholly other matter")])
    write_jsonl(Path("people.jsonl"), [people, reference("two", [[["a0"], ["a1"]]])])
    write_jsonl(Path("ours.jsonl"), [ours])
    result = cli("references", "recall", "ours.jsonl", "people.jsonl", "--json", "-")
    data = json.loads(result.out)
    # two answers of cluster two are missed: its question was not asked
    assert data["recall"]["value"] == pytest.approx(3 / 7)
    assert data["precision"]["value"] == pytest.approx(3 / 5)
    assert (data["n_questions"], data["n_questions_without"]) == (2, 1)
    result = cli("references", "recall", "ours.jsonl", "people.jsonl")
    assert "of which 1 were not asked" in result.out
