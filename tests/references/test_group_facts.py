"""What a reference says of a group beside its answers: sources, weight, importance, rivals."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from fairjudge.domain import QuestionAnswers
from fairjudge.references.steps import drop_positions


def answer(aid, **rest):
    return {"aid": aid, "answer": f"what {aid} says", **rest}


WHOLE = {
    "question": "Did the gate fail?",
    "answer_groups": [
        [answer("a", stance="endorses"), answer("b", stance="reports")],
        [answer("c", stance="endorses"), answer("b", stance="reports")],
        [answer("d", stance="reports")],
    ],
    "group_labels": ["It failed.", "It held.", "Nobody knows."],
    "group_sources": [
        {"support": ["a", "b"], "dispute": ["c"]},
        {"support": ["c", "b"], "dispute": []},
        {"support": ["d"]},
    ],
    "group_weights": [2, 2, 1],
    "group_importance": ["vital", "okay", None],
    "kind": "rivals",
    "rivals": [[0, 1], [1, 2]],
}


def test_group_facts_round_trip():
    question = QuestionAnswers.model_validate(WHOLE)
    assert question.to_json() == WHOLE
    assert json.dumps(question.to_json()["group_weights"]) == "[2, 2, 1]"
    first, second, third = question.groups()
    assert (first.label, first.weight, first.importance) == ("It failed.", 2, "vital")
    assert (first.supported_by, first.endorsed_by, first.disputed_by) == (
        ("a", "b"),
        ("a",),
        ("c",),
    )
    assert (second.endorsed_by, second.disputed_by) == (("c",), ())
    assert (third.endorsed_by, third.importance) == ((), None)


def test_older_file_yields_group_facts_from_stances():
    groups = [
        [answer("a"), answer("b", stance="reports"), answer("b", stance="disputes")],
        [answer("c", stance="disputes"), answer("d", stance="disputes")],
        [answer("e", stance="endorses"), answer("f", stance="disputes")],
    ]
    old = {"question": "Why?", "answer_groups": groups}
    question = QuestionAnswers.model_validate(old)
    assert question.to_json() == old
    mixed, disputed, both = question.groups()
    # no stance is the article's own voice; who passes a thing on and doubts it has said it
    assert (mixed.supported_by, mixed.endorsed_by, mixed.disputed_by) == (("a", "b"), ("a",), ())
    # a group of its own that older versions labelled "disputed: ...": they say what it says
    assert (disputed.supported_by, disputed.disputed_by) == (("c", "d"), ())
    assert (both.supported_by, both.disputed_by, both.weight) == (("e",), ("f",), 1)
    assert [item.label for item in question.groups()] == ["", "", ""]


def test_imported_weights_need_no_sources():
    row = {"question": "Why?", "answer_groups": [[answer("a")]], "group_weights": [0.5]}
    (only,) = QuestionAnswers.model_validate(row).groups()
    assert (only.weight, only.supported_by) == (0.5, ("a",))


def test_removing_a_group_removes_its_facts():
    # positions: 0 a, 1 b | 2 c, 3 b | 4 d
    question = drop_positions(QuestionAnswers.model_validate(WHOLE), [1, 2, 3])
    fields = question.to_json()
    assert fields["group_labels"] == ["It failed.", "Nobody knows."]
    assert fields["group_sources"] == [{"support": ["a"], "dispute": ["c"]}, {"support": ["d"]}]
    assert fields["group_importance"] == ["vital", None]
    assert (fields["rivals"], fields["kind"]) == ([], "facets")
    question = drop_positions(QuestionAnswers.model_validate(WHOLE), [0, 1])
    assert (question.rivals, question.kind) == (((0, 1),), "rivals")


@pytest.mark.parametrize(
    "wrong",
    [
        {"group_sources": [{"support": ["a"]}]},
        {"group_weights": [1, 2]},
        {"group_weights": [1, 2, -1]},
        {"group_importance": ["vital"]},
        {"group_importance": ["vital", "okay", "perhaps"]},
        {"rivals": [[0, 3]]},
        {"rivals": [[1, 1]]},
        {"rivals": [[-1, 0]]},
        {"kind": "both"},
    ],
)
def test_facts_that_do_not_match_the_groups_raise(wrong):
    with pytest.raises(ValidationError):
        QuestionAnswers.model_validate(WHOLE | wrong)
