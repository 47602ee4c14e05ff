"""Items on which a judge and people differ most, with both reasons."""

from __future__ import annotations

import pytest
from builders import make_label

from fairjudge.calibration.disagreements import largest_disagreements
from fairjudge.calibration.items import join
from fairjudge.domain import Judgement


def judged(eid, value, raw=None, **more):
    by_name = {"eid": eid, "system": "s", "aspect": "coverage", "protocol": "likert", "judge": "j"}
    return Judgement(**by_name | {"value": value, "raw": raw} | more)


def label(eid, value, annotator="a", **fields):
    return make_label(eid=eid, annotator=annotator, value=value, **fields)


def test_largest_gap_comes_first_with_both_values():
    rows = [judged("d1", 5, "All there."), judged("d2", 2, "Half."), judged("d3", 3)]
    people = [label("d1", 1, note="Nothing of it."), label("d2", 3), label("d3", 3)]
    (joined,) = join(rows, people)
    result = largest_disagreements(joined, rows, people)
    assert [(item.eid, item.gap) for item in result] == [("d1", 4.0), ("d2", -1.0)]
    first = result[0]
    assert first.judge_reasons == ("All there.",)
    assert first.people_reasons == {"a": "Nothing of it."}
    assert first.labels == {"a": 1.0}
    assert len(largest_disagreements(joined, rows, people, limit=1)) == 1


def test_equal_gaps_are_ordered_by_annotator_agreement():
    rows = [judged("d1", 5), judged("d2", 5)]
    people = [label("d1", 1), label("d1", 5, "b"), label("d2", 3), label("d2", 3, "b")]
    (joined,) = join(rows, people)
    assert [disagreement.eid for disagreement in largest_disagreements(joined, rows, people)] == [
        "d2",
        "d1",
    ]


def test_replies_of_both_orders_of_a_pair_are_kept():
    pair = {"system": None, "system_a": "y", "system_b": "x", "protocol": "pairwise"}
    rows = [
        judged("d1", "a", "First.", order="ab", **pair),
        judged("d1", "a", "Second.", order="ba", **pair),
    ]
    sides = {"system": None, "system_a": "x", "system_b": "y"}
    people = [label("d1", "a", **sides)]
    (joined,) = join(rows, people)
    (entry,) = largest_disagreements(joined, rows, people)
    assert (entry.system_a, entry.system_b) == ("x", "y")
    assert (entry.judged, entry.people) == (-1.0, 1.0)
    assert entry.judge_reasons == ("First.", "Second.")


def test_perfect_judge_has_no_disagreements():
    rows, people = [judged("d1", 4)], [label("d1", 4)]
    (joined,) = join(rows, people)
    assert largest_disagreements(joined, rows, people) == ()


def test_twenty_largest_gaps_are_listed_by_default():
    rows = [judged(f"d{i:02}", 5) for i in range(25)]
    people = [label(f"d{i:02}", 1 + i % 2) for i in range(25)]
    (joined,) = join(rows, people)
    result = largest_disagreements(joined, rows, people)
    assert len(result) == 20
    assert [item.gap for item in result] == [4.0] * 13 + [3.0] * 7
    assert [item.eid for item in result[:3]] == ["d00", "d02", "d04"]
    assert len(largest_disagreements(joined, rows, people, limit=25)) == 25


def test_long_reason_is_truncated_and_empty_one_omitted():
    rows = [judged("d1", 5, "x" * 2001), judged("d2", 5, "  ")]
    people = [label("d1", 1, note="y" * 2001), label("d2", 1, note=" ")]
    (joined,) = join(rows, people)
    long, empty = largest_disagreements(joined, rows, people)
    assert long.judge_reasons == ("x" * 2000,)
    assert long.people_reasons == {"a": "y" * 2000}
    assert empty.judge_reasons == ()
    assert empty.people_reasons == {}


def test_stated_reason_takes_precedence_over_the_reply():
    rows = [judged("d1", 5, "The whole reply.", reason="All there.")]
    people = [label("d1", 1, reason="Nothing.")]
    (joined,) = join(rows, people)
    (entry,) = largest_disagreements(joined, rows, people)
    assert entry.judge_reasons == ("All there.",)
    assert entry.people_reasons == {"a": "Nothing."}


def test_reasons_of_other_judges_and_aspects_are_ignored():
    rows = [judged("d1", 5, "Mine."), judged("d1", 4, "Other's.", judge="other"),
            judged("d1", 4, "Other's.", aspect="fluency")]  # fmt: skip
    people = [label("d1", 1, note="Mine."), label("d1", 2, note="Other's.", aspect="fluency")]
    (joined,) = [
        item for item in join(rows, people) if (item.judge, item.aspect) == ("j", "coverage")
    ]
    (entry,) = largest_disagreements(joined, rows, people)
    assert entry.judge_reasons == ("Mine.",)
    assert entry.people_reasons == {"a": "Mine."}


def test_judge_values_are_shown_on_the_label_scale():
    """A yes-or-no judge's 1 is a 5 of 1 to 5, a gap of 2 from a label of 3."""
    rows = [judged("d1", 1, protocol="binary"), judged("d2", 0, protocol="binary")]
    people = [label("d1", 3), label("d2", 1), label("d2", 2, "b")]
    (joined,) = join(rows, people)
    result = largest_disagreements(joined, rows, people)
    assert [(item.eid, item.judged, item.people, item.gap) for item in result] == [
        ("d1", pytest.approx(5.0), 3.0, pytest.approx(2.0)),
        ("d2", pytest.approx(1.0), 1.5, pytest.approx(-0.5)),
    ]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ('{"reasoning": "It names the fire.", "verdict": "no"}', "It names the fire."),
        ('```json\n{"reason": "Two\nlines.", "rating": 3}\n```', "Two\nlines."),
        ("It names the fire.\nVerdict: 2", "It names the fire.\nVerdict: 2"),
        ('{"verdict": "no"}', '{"verdict": "no"}'),
        ("The set {a, b} is named. 3", "The set {a, b} is named. 3"),
        ("[1, 2]", "[1, 2]"),
    ],
)
def test_reason_is_extracted_from_a_json_reply(reply, words):
    from fairjudge.calibration.disagreements import reason_text

    assert reason_text(reply) == words
