"""Coverage with groups weighed in each way: figures by hand, after AutoNuggetizer's definitions."""

from __future__ import annotations

import pytest

from fairjudge.domain import ChecklistEntry, Judgement, Reference
from fairjudge.scores.coverage_slices import coverage_slices
from fairjudge.scores.slice_estimates import WeightedCoverage, weightings

VITAL, OKAY = "vital", "okay"


def group(value, weight=1.0, importance=None, eid="e"):
    return WeightedCoverage(eid=eid, value=value, weight=weight, importance=importance)


def test_scores_match_autonuggetizer():
    groups = [group(1, 3, VITAL), group(0.5, 1, VITAL), group(0, 2, OKAY), group(1, 2, OKAY)]
    result = weightings(groups)
    assert {name: by_eid["e"] for name, by_eid in result.items()} == pytest.approx(
        {
            "groups equal": 2.5 / 4,  # "all"
            "by number of sources": (3 + 0.5 + 0 + 2) / 8,
            "vital groups": 1.5 / 2,
            "vital groups, strict": 1 / 2,
            "all groups, strict": 2 / 4,
        }
    )


def test_missing_reference_information_gives_no_score():
    assert set(weightings([group(1), group(0)])) == {"groups equal", "by number of sources"}
    # no cluster's groups without a weight make a mean, and none has vital groups in the second
    result = weightings([group(1, 0.0), group(1, 1.0, OKAY, eid="f")])
    assert result["by number of sources"] == {"f": 1.0}
    assert "vital groups" not in result
    assert result["all groups, strict"] == {"f": 1.0}


def test_one_judgement_is_shown_in_all_scores_and_question_kinds():
    reference = Reference.model_validate(
        {
            "eid": "e",
            "articles": [{"aid": aid, "content": "x"} for aid in "abcd"],
            "question_answers": [
                {
                    "question": "How many?",
                    "kind": "rivals",
                    "group_importance": ["vital", "okay"],
                    "answer_groups": [
                        [{"aid": aid, "answer": "twelve"} for aid in "abc"],
                        [{"aid": "d", "answer": "nine"}],
                    ],
                },
                {"question": "Who?", "kind": "facets", "answer_groups": [
                    [{"aid": "a", "answer": "she"}]]},
            ],
        }
    )  # fmt: skip
    row = Judgement(
        eid="e", system="s", aspect="coverage", protocol="checklist", judge="j", value=2 / 3,
        checklist=(
            ChecklistEntry(unit="answer:0.0", covered=1, quote="twelve", answers=(0, 1, 2)),
            ChecklistEntry(
                unit="answer:0.1", covered=0, quote="not nine", answers=(), contradicted=True
            ),
            ChecklistEntry(unit="answer:1.0", covered=1, quote="she", answers=(0,)),
        ),
    )  # fmt: skip
    result = coverage_slices([row], [reference])
    ways = result.slices["coverage by weight of groups"]
    assert ways["groups equal"].value == pytest.approx(2 / 3)
    assert ways["by number of sources"].value == pytest.approx(4 / 5)
    assert ways["vital groups"].value == 1
    kinds = result.slices["coverage by kind of question"]
    assert {name: kind.value for name, kind in kinds.items()} == {"facets": 1, "rivals": 0.5}
    (contradiction,) = result.contradicted
    assert (contradiction.answer, contradiction.words) == ("nine", "not nine")


def of_question(value, number, aggregator=None, eid="e"):
    return WeightedCoverage(
        eid=eid, value=value, weight=1.0, importance=None, question=number, aggregator=aggregator
    )


def test_and_questions_need_all_answers_and_or_questions_any():
    groups = [
        of_question(1, 0, "AND"), of_question(0.5, 0, "AND"),
        of_question(0, 1, "OR"), of_question(1, 1, "OR"), of_question(0.5, 1, "OR"),
        of_question(0.5, 2, "OR"), of_question(0, 2, "OR"),
        of_question(1, 3), of_question(0, 3),  # says nothing: AND
        of_question(1, 4, "AND"), of_question(1, 4, "AND"),
        of_question(1, 0, eid="f"),  # of a cluster in which no question says
    ]  # fmt: skip
    result = weightings(groups)
    assert result["questions, AND or OR"] == pytest.approx({"e": (0.5 + 1 + 0.5 + 0 + 1) / 5})
    assert result["questions, AND or OR, strict"] == pytest.approx({"e": 2 / 5})
