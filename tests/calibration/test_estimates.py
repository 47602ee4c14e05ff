"""Means, differences and win rates of systems, and plans from a pilot, against hand counts."""

from __future__ import annotations

import numpy as np
import pytest

from fairjudge.calibration.estimates import plan_labels, system_estimates
from fairjudge.calibration.items import join
from fairjudge.calibration.planning import estimate_pilot, planning_curve
from fairjudge.calibration.ppi import ppi_mean
from fairjudge.calibration.samples import MAX_SYSTEMS_IN_PAIRS
from fairjudge.domain import Judgement, Label, Undefined


def judged(eid, value, **more):
    by_name = {"aspect": "coverage", "protocol": "likert", "judge": "j"} | more
    return Judgement(eid=eid, value=value, **by_name)


def label(eid, value, **fields):
    return Label(**{"eid": eid, "aspect": "coverage", "annotator": "p", "value": value} | fields)


def both_orders(eid, says, **more):
    """Judgements of a pair in both orders; `says` is the verdict of each."""
    sides = {"system_a": "x", "system_b": "y", "protocol": "pairwise"} | more
    return [judged(eid, v, order=o, **sides) for v, o in zip(says, ("ab", "ba"), strict=True)]


def pairs_of(labelled, alone):
    """Joined pairs of x and y: (the judge's two verdicts, people's) each, and the judge's alone."""
    rows, labels = [], []
    for n, (says, people) in enumerate(labelled):
        rows += both_orders(f"d{n}", says)
        labels.append(label(f"d{n}", people, system_a="x", system_b="y"))
    for n, says in enumerate(alone):
        rows += both_orders(f"e{n}", says)
    (joined,) = join(rows, labels)
    return joined


def test_verdicts_map_to_wins_ties_and_losses_of_the_first_system():
    """People: a, a, tie, b: (1 + 1 + 0.5 + 0) / 4. The judge, by mean of orders: aa 1, ab 0.5 (a
    tie), a tie 0.75, bb 0; of the others aa, bb and a tie with b, 0.25."""
    joined = pairs_of(
        [("aa", "a"), ("ab", "a"), (("a", "tie"), "tie"), ("bb", "b")],
        ["aa", "bb", ("tie", "b")],
    )
    (estimate,) = system_estimates(joined, level=0.9)
    assert (estimate.kind, estimate.systems) == ("win_rate", ("x", "y"))
    assert (estimate.n_labelled, estimate.n_unlabelled) == (4, 3)
    assert estimate.classical.value == pytest.approx(0.625)
    expected = ppi_mean(
        [1, 1, 0.5, 0], [1, 0.5, 0.75, 0], [1, 0, 0.25], level=0.9,
        documents=list("abcd"), documents_unlabelled=list("efg"),
    )  # fmt: skip
    for ours, theirs in ((estimate.classical, expected.classical), (estimate.naive, expected.naive),
                         (estimate.ppi.ppi_plus, expected.ppi_plus)):  # fmt: skip
        assert ours.value == pytest.approx(theirs.value)
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
        assert ours.level == 0.9


def scores(n=60, n_labelled=40, seed=0):
    """Two systems of different level on the same documents, and what was drawn for them."""
    rng = np.random.default_rng(seed)
    truth = np.clip(np.round(np.array([2.0, 4.0]) + rng.normal(size=(n, 2))), 1, 5)
    text = np.clip(np.round(truth + 0.7 * rng.normal(size=(n, 2))), 1, 5)
    rows = [judged(f"d{i:02}", float(text[i, s]), system=f"s{s}") for i in range(n) for s in (0, 1)]
    labels = [
        label(f"d{i:02}", float(truth[i, s]), system=f"s{s}")
        for i in range(n_labelled)
        for s in (0, 1)
    ]
    (joined,) = join(rows, labels)
    return truth, text, joined


def test_difference_pairs_both_systems_within_a_document():
    truth, judged, joined = scores()
    result = system_estimates(joined, level=0.95)
    assert [(item.kind, item.systems) for item in result] == [
        ("mean", ("s0",)), ("mean", ("s1",)), ("difference", ("s0", "s1"))
    ]  # fmt: skip
    difference, predicted = truth[:, 0] - truth[:, 1], judged[:, 0] - judged[:, 1]
    documents = {"documents": list(range(40)), "documents_unlabelled": list(range(40, 60))}
    expected = ppi_mean(difference[:40], predicted[:40], predicted[40:], **documents)
    ours = result[2]
    assert (ours.n_labelled, ours.n_unlabelled) == (40, 20)
    assert ours.classical.value == pytest.approx(difference[:40].mean())
    assert ours.naive.value == pytest.approx(predicted.mean())
    assert ours.ppi.ppi_plus.value == pytest.approx(expected.ppi_plus.value)
    assert ours.ppi.ppi_plus.low == pytest.approx(expected.ppi_plus.low)


def test_judge_and_human_means_need_no_unlabelled_items():
    truth, judged, joined = scores(n=20, n_labelled=20)
    estimate, _, _ = system_estimates(joined, level=0.95)
    assert isinstance(estimate.ppi, Undefined)
    assert estimate.classical.value == pytest.approx(truth[:, 0].mean())
    assert estimate.naive.value == pytest.approx(judged[:, 0].mean())
    assert estimate.classical.low < estimate.classical.value < estimate.classical.high


def test_plans_use_the_variance_within_systems():
    """Systems two points apart are no spread that labels of one could take away."""
    truth, judged, joined = scores()
    plan = plan_labels(joined, level=0.9, n_judged=500)
    centred = [
        np.concatenate([values[:40, s] - values[:40, s].mean() for s in (0, 1)])
        for values in (truth, judged)
    ]
    expected = planning_curve(estimate_pilot(*centred), n_judged=500, level=0.9)
    assert [item.n_labels for item in plan.curve] == [item.n_labels for item in expected]
    assert [item.with_judge for item in plan.curve] == pytest.approx(
        [item.with_judge for item in expected]
    )
    (pair,) = plan.separations
    assert (pair.system_a, pair.system_b) == ("s0", "s1")
    assert pair.difference == pytest.approx((truth[:40, 0] - truth[:40, 1]).mean())
    assert plan.n_judged == 500


def test_unlabelled_systems_have_no_plan():
    rows = [judged(f"d{i}", 1.0 + i % 5, system=s) for i in range(12) for s in ("s", "t")]
    (joined,) = join(rows, [label("d0", 3.0, system="s")])
    plan = plan_labels(joined, level=0.95, n_judged=50)
    assert isinstance(plan.curve, Undefined)
    (pair,) = plan.separations
    assert pair.difference == 0.0
    assert isinstance(pair.plan, Undefined)


def test_pairs_are_reported_for_at_most_20_systems():
    assert MAX_SYSTEMS_IN_PAIRS == 20
    for n, n_pairs in ((20, 190), (21, 0)):
        rows = [
            judged(f"d{i}", 1.0 + (i + s) % 5, system=f"s{s:02}")
            for i in range(2)
            for s in range(n)
        ]
        labels = [label(row.eid, row.value, system=row.system) for row in rows]
        (joined,) = join(rows, labels)
        result = system_estimates(joined, level=0.95)
        assert sum(item.kind == "difference" for item in result) == n_pairs


def test_plans_count_documents_if_parts_are_labelled():
    """Four sentences of a summary that are all alike are worth one label."""
    rng = np.random.default_rng(8)
    truth, predicted = rng.integers(1, 6, size=(2, 30)).astype(float)
    rows, labels = [], []
    for i in range(30):
        for sentence in range(4):
            unit = {"unit": f"sentence:{sentence}"}
            rows.append(judged(f"d{i}", predicted[i], system="s", **unit))
            labels.append(label(f"d{i}", truth[i], system="s", **unit))
    (joined,) = join(rows, labels)
    plan = plan_labels(joined, level=0.95, n_judged=500)
    y, f = (np.repeat(values - values.mean(), 4) for values in (truth, predicted))
    alone = planning_curve(estimate_pilot(y, f), n_judged=500)
    # by hand: (d / (d - 1) sum (4 r_d)^2 / n^2) / (sum 4 r_d^2 / (n - 1) / n), with n = 4 d
    effect = (30 / 29 * 16 / 120**2) / (4 / 119 / 120)
    ratio = [
        point.without_judge / other.without_judge
        for point, other in zip(plan.curve, alone, strict=True)
    ]
    assert ratio == pytest.approx([effect**0.5] * len(ratio))
