"""Replies and the readings that are right: closing forms, labelled lines, bare answers, traps.

``judged_replies.jsonl`` holds replies as people reported them of LLM judges ("reported"), and
others written by hand in more languages and forms ("written" while the reader was made, "blind"
after it was frozen, "grammar" when it was made anew). ``right`` lists every reading that a careful
person accepts; null is unscored. None may be read otherwise.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_files import read_rows

from fairjudge.domain import Unscored
from fairjudge.parsing import PARSER_VERSION, read_verdict
from fairjudge.scales import Scale, binary, likert, pairwise

SCALES: dict[str, Scale] = {"likert": likert(), "binary": binary(), "pairwise": pairwise()}
SIDES = {"first": "a", "second": "b", "tie": "tie"}
ROWS = read_rows(Path(__file__).with_name("judged_replies.jsonl"))


def reading(row: dict) -> object:
    records = read_verdict(row["reply"], SCALES[row["scale"]])
    return None if isinstance(records, Unscored) else SIDES.get(str(records), records)


@pytest.mark.parametrize("row", ROWS, ids=[str(number) for number in range(1, len(ROWS) + 1)])
def test_parsed_replies_match_careful_human_reading(row):
    assert reading(row) in {*row["right"], None}, row["reply"]


def test_few_stated_verdicts_are_missed():
    readable = [row for row in ROWS if None not in row["right"]]
    missed = [row["reply"] for row in readable if reading(row) is None]
    assert len(readable) > 400
    assert len(missed) <= 0.02 * len(readable), missed


DECLARED = (
    "Winner: {}", "Verdict: {}", "{} is better.", "{} wins.", "The better summary is {}.",
    "[[{}]]", "Final verdict: {}", "I prefer {}.", "Better: {}", "{} beats the other one.",
)  # fmt: skip
NAMES = {"first": ("Summary 1", "Summary A"), "second": ("Summary 2", "Summary B")}
SEPARATORS = st.sampled_from(["\n", "\n\n", " ", ". "])


@given(st.sampled_from(DECLARED), SEPARATORS, st.integers(0, 1), st.booleans())
def test_a_reply_in_which_both_sides_are_declared_winners_is_unscored(form, gap, name, turned):
    texts = [form.format(NAMES[side][name]) for side in ("first", "second")]
    records = read_verdict(gap.join(texts[::-1] if turned else texts), pairwise())
    assert isinstance(records, Unscored)


@given(
    st.sampled_from(DECLARED),
    st.sampled_from(["Verdict: {}", "Winner: {}", "Final verdict: {}", "[[{}]]"]),
    st.sampled_from(["On reflection, ", "Wait, I misread it. ", "On second thought: "]),
    st.booleans(),
)
def test_reversed_verdict_uses_the_last_label_or_is_unscored(form, label, turn, flipped):
    first, last = ("second", "first") if flipped else ("first", "second")
    reply = f"{form.format(NAMES[first][0])}\n\n{turn}\n{label.format(NAMES[last][0])}"
    records = read_verdict(reply, pairwise())
    assert isinstance(records, Unscored) or records == last


@given(
    st.sampled_from(["Yes", "No", "Oui", "Non", "Ja", "Nein", "Sí", "Да", "Нет", "はい"]),
    st.sampled_from(["Yes", "No", "Oui", "Non", "Ja", "Nein", "Sí", "Да", "Нет", "はい"]),
    st.sampled_from([", ", ". ", "\n", "\n\n", "; "]),
)
def test_yes_together_with_no_is_unscored(one, other, gap):
    values = [read_verdict(word, binary()) for word in (one, other)]
    records = read_verdict(f"{one}{gap}{other}.", binary())
    assert isinstance(records, Unscored) or values[0] == values[1] == records


@pytest.mark.parametrize("top", [4, 7, 10, 100])
@pytest.mark.parametrize(
    "form", ['{{"score": 3, "max": {}}}', "Score: 3/{}", "Score: 3 out of {}", "Score (0-{}): 3",
             '<score scale="{}">3</score>', '{{"rating": 3, "scale": "1-{}"}}'],
)  # fmt: skip
def test_score_with_another_maximum_is_unscored(form, top):
    assert isinstance(read_verdict(form.format(top), likert()), Unscored)


def test_parser_version_is_recorded():
    """Raised whenever any reply would be read differently: part of every signature."""
    assert PARSER_VERSION == "9"
