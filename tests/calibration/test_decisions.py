"""What a judge may be used for, at the borders of the rules; figures are made by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from fairjudge.calibration import agreement, replaceability
from fairjudge.calibration.baseline_gains import BaselineGain, SystemsGain
from fairjudge.calibration.constancy import Constant, constant_side
from fairjudge.calibration.decisions import (
    THRESHOLD,
    Answer,
    decide,
    documents_needed,
)
from fairjudge.calibration.replaceability import AlternativeAnnotatorTest, AnnotatorComparison
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats.bootstrap import FEW_DOCUMENTS
from fairjudge.stats.levels import MIN_RANKED

WHY = Undefined(why="not measured")


def tau(value, low, high, n=8):
    return Estimate(value=value, low=low, high=high, n=n)


def answers(systems, items=WHY, *, over=WHY, test=WHY, n_documents=40, **more):
    levels = {"system": {"kendall": systems}, "summary": {"kendall": items}}
    result = decide(
        levels, over_baselines=over, replaceability=test, n_documents=n_documents, **more
    )
    assert [item.question for item in result] == [
        "rank_systems",
        "score_items",
        "replace_annotator",
    ]
    return result


def annotator_test(*p_values):
    """The test's outcome; annotators with p of .001 and less are beaten."""
    compared = tuple(
        AnnotatorComparison(
            annotator=f"a{place}",
            n_items=100,
            judge_advantage=0.8,
            annotator_advantage=0.8,
            p_value=p,
            adjusted_p_value=p,
            beaten=p <= 0.001,
        )
        for place, p in enumerate(p_values)
    )
    rate = sum(item.beaten for item in compared) / len(compared)
    return AlternativeAnnotatorTest(
        winning_rate=rate,
        advantage_probability=0.8,
        passes=rate >= 0.5,
        epsilon=0.2,
        alignment="rmse",
        annotators=compared,
        left_out=(),
    )


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        (0.5, 0.9, "yes"),  # the threshold itself is reached
        (0.499, 0.9, "too few to tell"),
        (0.2, 0.5, "too few to tell"),
        (0.2, 0.499, "no"),
        (-0.47, 0.82, "too few to tell"),
        (0.8, 0.8, "yes"),
        (None, None, "too few to tell"),
    ],
)
def test_decision_compares_interval_with_threshold(low, high, answer):
    value = 0.6 if low is None else (low + high) / 2
    ranks, scores, _ = answers(tau(value, low, high), tau(value, low, high))
    assert (ranks.answer, scores.answer) == (answer, answer)
    assert bool(ranks.needed) == (answer == "too few to tell")


def test_seven_documents_are_too_few_to_decide():
    ranks, scores, person = answers(tau(0.3, -0.47, 0.82), tau(0.9, 0.8, 0.95), n_documents=7)
    assert {ranks.answer, scores.answer, person.answer} == {"too few to tell"}
    # (0.82 - 0.3)^2 / (0.5 - 0.3)^2 = 6.76 times as many: 47.3 of 7.
    assert ranks.needed == (
        "about 48 labelled documents, were 0.30 true: the answer would then be no"
    )
    assert scores.needed == "15 labelled documents or more"


@pytest.mark.parametrize(("n_documents", "answer"), [(14, "too few to tell"), (15, "yes")])
def test_no_decision_below_fifteen_documents(n_documents, answer):
    ranks, *_ = answers(tau(0.9, 0.8, 0.95), n_documents=n_documents)
    assert ranks.answer == answer


@pytest.mark.parametrize(("n_systems", "answer"), [(2, "too few to tell"), (4, "too few to tell"),
                                                   (5, "yes")])  # fmt: skip
def test_ranking_decision_needs_five_systems(n_systems, answer):
    ranks, *_ = answers(tau(1.0, 1.0, 1.0, n=n_systems))
    assert ranks.answer == answer
    assert (ranks.needed == "5 systems or more") == (answer != "yes")


def test_tau_0_29_is_not_enough_for_scores():
    _, scores, _ = answers(WHY, tau(0.29, 0.21, 0.37))
    assert scores.answer == "no"


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [(0.01, 0.2, "yes"), (0.0, 0.2, "too few to tell"), (-0.2, 0.0, "no"), (-0.2, -0.1, "no")],
)
def test_yes_needs_a_gain_over_the_baseline(low, high, answer):
    gain = BaselineGain(best="longest", gain=tau(0.1, low, high), constant=WHY)
    ranks, scores, _ = answers(tau(0.9, 0.8, 0.95), tau(0.6, 0.5, 0.7), over=gain)
    assert (ranks.answer, scores.answer) == ("yes", answer)
    assert ("'longest'" in scores.reason) == (answer != "yes")
    # What is no already needs no second reason.
    _, scores, _ = answers(WHY, tau(0.3, 0.2, 0.4), over=gain)
    assert (scores.answer, scores.reason) == ("no", "")


@pytest.mark.parametrize(
    ("value", "low", "high", "answer", "needed"),
    [
        (0.4, 0.1, 0.7, "yes", ""),
        (0.1, 0.0, 0.2, "too few to tell", "were 0.10 true: the answer would then be yes"),
        (-0.1, -0.3, 0.1, "too few to tell", "were -0.10 true: the answer would then be no"),
        (0.0, 0.0, 0.0, "too few to tell", "systems that 'lead overlap' does not order as people"),
        (-0.2, -0.3, -0.1, "no", ""),
        (0.2, None, None, "yes", ""),
    ],
)
def test_ranking_also_needs_a_gain_over_the_baseline(value, low, high, answer, needed):
    systems = SystemsGain(best="lead_overlap", gain=tau(value, low, high, n=6))
    gain = BaselineGain(best="longest", gain=WHY, constant=WHY, systems=systems)
    ranks, *_ = answers(tau(1.0, 0.8, 1.0, n=6), over=gain)
    assert ranks.answer == answer
    assert needed in ranks.needed
    assert bool(ranks.needed) == bool(needed)
    assert ("the baseline 'lead overlap' " in ranks.reason) == (answer != "yes")
    # A judge below the threshold needs no second reason, and one that may be above it no less.
    ranks, *_ = answers(tau(0.1, 0.0, 0.2, n=6), over=gain)
    assert (ranks.answer, ranks.reason) == ("no", "")
    ranks, *_ = answers(tau(0.7, 0.3, 0.9, n=6), over=gain)
    assert ranks.answer == "too few to tell"
    assert ("if also above 'lead overlap'" in ranks.needed) == (answer != "yes")


@pytest.mark.parametrize(("value", "then"), [(0.4, "no"), (0.6, "yes"), (-0.04, "no"), (0.5, None)])
def test_needed_documents_state_the_expected_answer(value, then):
    _, scores, _ = answers(WHY, tau(value, value - 0.6, value + 0.6))
    if then is None:
        assert scores.needed == "more than 4,000 labelled documents"
    else:
        assert scores.needed.endswith(f"were {value:.2f} true: the answer would then be {then}")
    *_, person = answers(WHY, test=annotator_test(0.2, 0.1, 0.6))
    assert person.needed.endswith("would then be yes")
    *_, person = answers(WHY, test=annotator_test(0.8, 0.9, 0.6))
    assert person.needed.endswith("would then be no")


@pytest.mark.parametrize(
    ("p_values", "answer", "ends"),
    [
        ((0.001, 0.001, 0.6), "yes", (2 / 3, 1.0)),
        ((0.001, 0.6), "yes", (0.5, 1.0)),  # half is enough
        ((0.001, 0.6, 0.6), "too few to tell", (1 / 3, 1.0)),
        ((0.999, 0.999, 0.6), "no", (0.0, 1 / 3)),
        ((0.999, 0.6), "too few to tell", (0.0, 0.5)),
        ((0.001, 0.999, 0.999), "no", (1 / 3, 1 / 3)),
        ((0.2, 0.3, 0.1), "too few to tell", (0.0, 1.0)),
    ],
)
def test_annotator_decision_follows_the_winning_rate_interval(p_values, answer, ends):
    *_, person = answers(WHY, test=annotator_test(*p_values))
    assert person.answer == answer
    assert (person.figure.low, person.figure.high) == pytest.approx(ends)
    assert bool(person.needed) == (answer == "too few to tell")


def test_needed_documents_let_half_of_the_annotators_be_beaten():
    # z = 1.2816 for p = .1; critical .05 / (1 + 1/2 + 1/3) = .02727: z = 1.9221. The second
    # largest of three decides: p = .2, z = .8416, so that (1.9221 / .8416)^2 = 5.22 times 40.
    *_, person = answers(WHY, test=annotator_test(0.1, 0.2, 0.6))
    assert person.needed.startswith("about 209 labelled documents")
    *_, person = answers(WHY, test=annotator_test(0.5, 0.5, 0.5))
    assert person.needed == "more labelled documents"
    *_, person = answers(WHY, test=annotator_test(0.49, 0.49, 0.49))
    assert person.needed == "more than 4,000 labelled documents"


def test_missing_annotator_test_reports_its_requirements():
    *_, person = answers(WHY, test=Undefined(why="1 annotator with 30 or more shared items"))
    assert person.answer == "too few to tell"
    assert person.needed == "3 annotators with 30 items that another labelled"


@pytest.mark.parametrize("n_documents", [40, 8])
def test_constant_judge_is_rejected_for_any_number_of_documents(n_documents):
    undefined = Undefined(why="the judge's scores are all 3")
    judge = Constant(who="judge", n=48)
    # A constant near the mean label passes the alternative annotator test: no all the same.
    passed = annotator_test(0.001, 0.001, 0.001)
    decided = answers(
        undefined, undefined, test=passed, constant=judge, n_documents=n_documents, in_camps=True
    )
    assert {decision.answer for decision in decided} == {"no"}
    assert {decision.needed for decision in decided} == {""}
    assert {decision.reason for decision in decided} == {"the judge gave one score to all 48 items"}


def test_constant_labels_leave_the_decision_open():
    undefined = Undefined(why="people's mean labels are all 1")
    decided = answers(undefined, undefined, constant=Constant(who="people", n=60))
    assert {decision.answer for decision in decided} == {"cannot tell"}
    assert {decision.reason for decision in decided} == {"people gave one label to all 60 items"}
    assert {decision.needed for decision in decided} == {"items with different labels"}


@pytest.mark.parametrize(
    ("protocol", "judged", "human", "rater"),
    [
        ("likert", [2.0] * 10, [1.0, 5.0] * 5, "judge"),
        ("likert", [2.0] * 9, [1.0, 5.0, 1.0] * 3, None),  # fewer than 10 items
        ("likert", [2.0] * 9 + [3.0], [1.0, 5.0] * 5, None),
        ("likert", [2.0] * 10, [4.0] * 10, "people"),
        ("binary", [1.0] * 10, [0.0, 1.0] * 5, "judge"),
        ("pairwise", [0.0] * 10, [-1.0, 1.0] * 5, "judge"),  # ties alone
        ("pairwise", [1.0] * 10, [-1.0, 1.0] * 5, None),  # which system stands first is arbitrary
        ("pairwise", [1.0] * 10, [1.0] * 10, None),
    ],
)
def test_constant_side_is_judge_or_labels(protocol, judged, human, rater):
    result = constant_side(np.array(judged), np.array(human), protocol)
    assert result == (rater and Constant(who=rater, n=len(judged)))


def test_two_annotator_clusters_leave_every_decision_open():
    result = answers(tau(0.9, 0.8, 0.95), tau(0.9, 0.8, 0.95), in_camps=True)
    assert {item.answer for item in result} == {"cannot tell"}
    assert all("--annotators" in item.needed for item in result)


def test_documents_needed_follow_the_square_root_law():
    # Half-width 0.2 at 40 documents; 0.1 from the threshold: four times as many.
    assert documents_needed(tau(0.6, 0.4, 0.75), n_documents=40) == 160
    assert documents_needed(tau(0.4, 0.1, 0.6), n_documents=40) == 160
    assert documents_needed(tau(0.51, 0.3, 0.7), n_documents=40) is None  # 441 times
    assert documents_needed(tau(0.5, 0.3, 0.7), n_documents=40) is None
    assert documents_needed(tau(0.9, 0.4, 1.0), n_documents=6) == 15


def test_docs_state_the_applied_rules():
    page = (Path(__file__).parents[2] / "docs" / "calibration.md").read_text("utf-8")
    rules = " ".join(page[page.index("### Decisions") :].split())
    for rule in (
        f"the whole interval is at or above {THRESHOLD:g}",
        f"the whole interval is below {THRESHOLD:g}",
        f"fewer than {FEW_DOCUMENTS} labelled documents",
        f"too few to tell below {MIN_RANKED} systems",
        f"all items the same score ({agreement.MIN_ITEMS} items or more",
        f"all human labels are equal ({agreement.MIN_ITEMS} items or more",
        f"{replaceability.MIN_ANNOTATORS} annotators with {replaceability.MIN_ITEMS} items",
    ):
        assert rule in rules
    answers_of_docs = re.findall(r"\| (yes|no|too few to tell|cannot tell) \|", rules)
    assert tuple(answers_of_docs) == get_args(Answer)
