"""Adjudication: the widest disagreements first; what others said, after one's own answer."""

from __future__ import annotations

import json

import pytest
from annotation_tools import Annotator, rows, serve, write_world
from cli_tools import finish, start

from fairjudge.annotation.adjudication import Opinion

REASON = "Everything is said, says the judge <b>."
NOTE = "Half of it is missing."


def disagreement(eid: str, system: str, gap: float) -> dict:
    return {
        "eid": eid, "system_a": system, "system_b": None, "unit": "summary", "judged": 3 + gap,
        "people": 3.0, "gap": gap, "labels": {"anna-secret": 3.0}, "judge_reasons": [REASON],
        "people_reasons": {"anna-secret": NOTE},
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    write_world(tmp_path)
    listed = [disagreement("e0", "secret-x", -1.0), disagreement("e1", "secret-y", 2.0)]
    groups = [{"aspect": "overall", "disagreements": listed}]
    (tmp_path / "calibration.json").write_text(json.dumps({"groups": groups}))
    return tmp_path


def adjudicating(*more: str) -> tuple[str, ...]:
    return ("--aspect", "overall", "--adjudicate", "calibration.json", *more)


def test_reasons_are_shown_only_after_answering(folder):
    server = serve(folder, *adjudicating(), task="rating")
    annotator = Annotator(server.url, "judge of judges")
    assert REASON[:20] not in annotator.page.text
    assert NOTE not in annotator.page.text
    annotator.label(3)
    assert annotator.position == 1  # it stays, to be read
    text = annotator.page.text
    assert "The judge: 5" in text  # the widest gap first
    assert "says the judge &lt;b&gt;." in text
    assert "Person 1: 3" in text
    assert NOTE in text
    assert "secret" not in text
    annotator.label(2)  # changed, and on to the next
    assert annotator.position == 2
    assert NOTE not in annotator.page.text
    annotator.label(1)
    assert "The judge: 2" in annotator.page.text
    server.interrupt()
    result = rows(folder / "labels.jsonl")
    assert [(row["eid"], row["system"], row["value"]) for row in result] == [
        ("e1", "secret-y", 3), ("e0", "secret-x", 2),
    ]  # fmt: skip
    assert all(row["adjudicated"] is True for row in result)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"groups": [{"aspect": "other", "disagreements": []}]}', "none of its 0 disagreements"),
        ('{"groups": 3}', "expected the JSON of 'fairjudge calibrate'"),
        ("[]", "expected the JSON of 'fairjudge calibrate'"),
    ],
)
def test_file_without_disagreements_on_these_items_raises(folder, content, message):
    (folder / "calibration.json").write_text(content)
    result = finish(
        start("annotate", "references.json", "--task", "rating", "--summaries", "summaries.jsonl",
              "-o", "labels.jsonl", *adjudicating("--dry-run"), cwd=folder)
    )  # fmt: skip
    assert result.code == 1
    assert message in result.out + result.err


def test_pair_value_in_words_follows_display_order():
    better = Opinion(author="The judge", value=0.5)
    assert (better.in_words("ab"), better.in_words("ba")) == ("first", "second")
    assert Opinion(author="The judge", value=0.0).in_words("ab") == "tie"
    assert Opinion(author="The judge", value=2.5).in_words(None) == "2.5"
