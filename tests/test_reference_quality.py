"""The counts of the benchmark of references, by hand, from what a reader marked."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest

from benchmarks.reference_quality import (
    Share,
    counts_of,
    main,
    quality,
    shared_prefix,
    sheet,
    without_texts,
)
from fairjudge.domain import Reference

READERS = Path(__file__).parent / "references" / "readers"


def answers(*aids):
    return [{"aid": aid, "answer": f"what {aid} says"} for aid in aids]


ROW = {
    "eid": "e",
    "articles": [{"aid": aid, "content": "text"} for aid in "abcdef"],
    "question_answers": [
        {
            "question": "Did the gate fail?",
            "answer_groups": [answers("a", "b", "a"), answers("c", "d"), answers("e")],
            "group_labels": ["It failed.", "It held.", "Nobody knows."],
            "group_sources": [
                {"support": ["a", "b"], "dispute": ["d"]},
                {"support": ["c", "d"]},
                {"support": ["e"]},
            ],
            "kind": "rivals",
            "rivals": [[0, 1]],
        },
        {
            "question": "What did it cost?",
            "answer_groups": [answers("a"), answers("b")],
            "kind": "facets",
        },
    ],
}
REFERENCE = Reference.model_validate(ROW)


@pytest.fixture
def marks():
    return json.loads(json.dumps(sheet([REFERENCE])))


def test_faultless_marks_give_full_scores(marks):
    counts = quality([REFERENCE], marks)
    assert counts == {
        "answers right": Share(8, 8),
        # a, b and d against; c, d; e: six; and two
        "recall of memberships": Share(8, 8),
        "recall of memberships, rivals counted": Share(8, 8),
        "recall of sources": Share(7, 7),
        "larger groups pure": Share(2, 2),
        # three pairs of three groups, one of two
        "pairs of groups that say the same": Share(0, 4),
        "questions with rivals or by degree": Share(1, 2),
        "questions without a fault": Share(2, 2),
    }


def test_each_mark_is_counted_in_its_category(marks):
    first, second = marks[0]["questions"]
    first["groups"][0]["answers"][1]["mark"] = "elsewhere"  # b says something else
    first["groups"][1]["answers"][0]["mark"] = "no"  # c does not answer
    first["groups"][2]["missing"] = ["a", "f"]  # a stands in another group, f in none
    first["same"] = [[0, 2]]
    first["faults"] = ["asks two things"]
    second["divided"] = "degree"
    counts = quality([REFERENCE], marks)
    assert counts["answers right"] == Share(7, 8)
    # a and d; d; e; a, b: six are right, and two are missing
    assert counts["recall of memberships"] == Share(6, 8)
    # of the first question a, d, e stand, f does not; of the second a, b
    assert counts["recall of sources"] == Share(5, 6)
    assert counts["larger groups pure"] == Share(0, 2)
    assert counts["pairs of groups that say the same"] == Share(1, 4)
    assert counts["questions with rivals or by degree"] == Share(2, 2)
    assert counts["questions without a fault"] == Share(1, 2)


def test_an_article_against_a_group_counts_where_it_is_in_a_rival(marks):
    held, failed, unknown = (marks[0]["questions"][0]["groups"][n] for n in (1, 0, 2))
    held.update(missing=["a", "b", "f"], against=["a", "f"])  # a says it failed; b says it held too
    failed.update(missing=["e"], against=["e"])  # e stands in a group that is no rival
    unknown.update(missing=["a"], against=["a"])  # nor is it a rival of a's
    counts = quality([REFERENCE], marks)
    assert counts["recall of memberships"] == Share(8, 13)
    assert counts["recall of memberships, rivals counted"] == Share(9, 13)
    # who answers beside the question does not stand in the rival
    failed["answers"][0]["mark"] = failed["answers"][2]["mark"] = "elsewhere"
    assert quality([REFERENCE], marks)["recall of memberships, rivals counted"] == Share(7, 12)


def test_marks_without_rivals_have_the_strict_count_alone(marks):
    for question in marks[0]["questions"]:
        del question["rivals"]
        for group in question["groups"]:
            del group["against"]
    strict = quality([REFERENCE], marks)
    assert strict["recall of memberships"] == Share(8, 8)
    assert "recall of memberships, rivals counted" not in strict
    assert counts_of(without_texts(marks)) == strict


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q: q["groups"][0]["answers"].pop(), "other ones"),
        (lambda q: q["groups"][0].update(label="It burst."), "other ones"),
        (lambda q: q["groups"][0].update(missing=["z"]), "no article"),
        (lambda q: q["groups"][0].update(missing=["a"]), "stands in the group"),
        (lambda q: q["groups"][0].update(against=["f"]), "articles of missing"),
        (lambda q: q.update(rivals=[[0, 2]]), "its rivals"),
        (lambda q: q["groups"][0]["answers"][0].update(mark="perhaps"), "a mark is one of"),
        (lambda q: q.update(same=[[2, 0]]), "lower number first"),
        (lambda q: q.update(same=[[0, 3]]), "different groups"),
        (lambda q: q.update(divided="so"), "divided is one of"),
    ],
)
def test_marks_not_matching_the_references_raise(marks, change, message):
    changed = deepcopy(marks)
    change(changed[0]["questions"][0])
    with pytest.raises(ValueError, match=message):
        quality([REFERENCE], changed)


def test_marks_of_other_clusters_raise(marks):
    marks[0]["eid"] = "other"
    with pytest.raises(ValueError, match="other clusters"):
        quality([REFERENCE], marks)


def call(rules, block, tail):
    return f"{rules}\n<questions m>\n{block}\n</questions m>\n{tail}"


def test_calls_of_one_kind_and_cluster_share_a_prefix():
    first, second, other = (
        call("Extract.", "1. Why?", "abc"),
        call("Extract.", "1. Why?", "abX"),
        call("Extract.", "1. Who?", "abc"),
    )
    sorting = call("Sort.", "1. Why?", "abc")
    # only the second shares its block with an earlier call of its kind: all but its last character
    result = shared_prefix([first, sorting, second, other, "Write questions.\n<article m>"])
    assert result == Share(len(second) - 1, len(second))


def test_written_sheet_is_the_counted_one(tmp_path, capsys):
    references, marks = tmp_path / "refs.jsonl", tmp_path / "marks.json"
    references.write_text(json.dumps(ROW))
    requests, out = tmp_path / "requests", tmp_path / "quality.json"
    requests.mkdir()
    for n, text in enumerate(("abc", "abX")):
        messages = [{"role": "user", "content": call("Extract.", "1. Why?", text)}]
        (requests / f"body_{n:04}.json").write_text(json.dumps({"messages": messages}))
    assert main(["sheet", str(references), "-o", str(marks)]) == 0
    items = ["count", str(references), str(marks), "--requests", str(requests)]
    assert main([*items, "--json", str(out)]) == 0
    output = capsys.readouterr().out
    assert "calls a cluster: 2.0" in output
    assert "(>= 0.80: NOT reached)" in output  # one of two questions has rivals
    assert json.loads(out.read_text())["answers right"] == {"n": 8, "of": 8}
    marks.write_text("[]")
    assert main(items) == 2
    assert "other clusters" in capsys.readouterr().err


def test_stored_marks_have_counts_without_texts(marks, tmp_path, capsys):
    first = marks[0]["questions"][0]
    first["groups"][0]["answers"][1]["mark"] = "elsewhere"
    first["groups"][2]["missing"] = ["f"]
    first["faults"] = ["asks two things", "is vague"]
    remaining = without_texts(marks)
    assert counts_of(remaining) == quality([REFERENCE], marks)
    text = json.dumps(remaining)
    for words in ("says", "It failed", "Did the gate", "two things"):
        assert words not in text
    full, bare = tmp_path / "marks.json", tmp_path / "kept.json"
    full.write_text(json.dumps(marks))
    assert main(["keep", str(full), "-o", str(bare)]) == 0
    assert main(["recount", str(bare), str(bare)]) == 0
    assert json.loads(bare.read_text()) == remaining
    line = next(line for line in capsys.readouterr().out.splitlines() if "recall of mem" in line)
    assert line.split()[3:6] == ["14", "of", "16"]  # 7 of 8, twice


@pytest.mark.parametrize(
    ("names", "figures", "rivals_counted"),
    [
        # right, memberships, sources, pure, same, rivals, without a fault; with rivals counted
        (("newsstance", "allsides"), (0.997, 0.911, 0.994, 0.897, 0.021, 0.667, 0.708), None),
        (("recession",), (0.991, 0.888, 0.983, 0.923, 0.006, 0.833, 0.667), None),
        (("recession-complete",), (0.992, 0.949, 0.983, 0.939, 0.006, 0.833, 0.667), None),
        (("draw-26",), (0.984, 0.944, 0.993, 0.880, 0.019, 0.609, 0.652), None),
        (("draw-2026",), (0.959, 0.956, 0.956, 0.875, 0.011, 0.455, 0.591), None),
        (("draw-31",), (1.0, 0.944, 0.987, 1.0, 0.0, 0.833, 0.917), 0.958),
        (("recession-31",), (0.977, 0.862, 1.0, 0.889, 0.0, 1.0, 1.0), 0.977),
        (("recession-47",), (1.0, 0.949, 0.964, 0.941, 0.0, 0.9, 0.8), 0.949),
        (("draw-31", "recession-47"), (1.0, 0.946, 0.977, 0.973, 0.0, 0.864, 0.864), 0.955),
    ],
)
def test_marks_files_reproduce_the_reported_numbers(names, figures, rivals_counted):
    marks = [load for name in names for load in json.loads((READERS / f"{name}.json").read_text())]
    counts = counts_of(marks)
    second = counts.pop("recall of memberships, rivals counted", None)
    assert (second.value if second else None) == pytest.approx(rivals_counted, abs=5e-4)
    assert [share.value for share in counts.values()] == pytest.approx(figures, abs=5e-4)
    # ids and verdicts alone
    assert {key for mark in marks for question in mark["questions"] for key in question} <= {
        "divided", "faults", "same", "rivals", "groups",
    }  # fmt: skip
