"""A yes-or-no judge's rates from judgements and labels: whose labels count, and by system."""

from __future__ import annotations

import pytest
from builders import make_label

from fairjudge.calibration.items import join
from fairjudge.calibration.rates import report_rates
from fairjudge.domain import Judgement, Undefined


def judged(eid, system, value, **more):
    return Judgement(
        eid=eid, system=system, aspect="coverage", protocol="binary", judge="j", value=value, **more
    )


def label(eid, system, value, annotator="a", **fields):
    return make_label(eid=eid, system=system, annotator=annotator, value=value, **fields)


def of(rows, labels):
    (joined,) = join(rows, labels)
    return report_rates(joined)


def table(system, hits, misses, alarms, refusals, yes, no):
    """Judgements and labels with these counts; the last two are judged alone."""
    rows, labels = [], []
    counts = [(1, 1, hits), (0, 1, misses), (1, 0, alarms), (0, 0, refusals)]
    for verdict, truth, n in [*counts, (1, None, yes), (0, None, no)]:
        for _ in range(n):
            eid = f"d{len(rows)}"
            rows.append(judged(eid, system, verdict))
            if truth is not None:
                labels.append(label(eid, system, truth))
    return rows, labels


def test_error_rates_are_pooled_and_shares_also_per_system():
    """x: 8 of 10 and 1 of 10; y: 8 of 10 and 3 of 10: together 0.8 and 1 - 4 / 20 = 0.8.

    Corrected with these: x (0.5 - 0.2) / 0.6 = 0.5, y (0.8 - 0.2) / 0.6 = 1,
    both (0.65 - 0.2) / 0.6.
    """
    x, y = table("x", 8, 2, 1, 9, 10, 10), table("y", 8, 2, 3, 7, 16, 4)
    result = of([*x[0], *y[0]], [*x[1], *y[1]])
    assert result.errors.sensitivity.value == pytest.approx(0.8)
    assert result.errors.specificity.value == pytest.approx(0.8)
    assert result.n_split == 0
    assert list(result.by_system) == ["x", "y"]
    assert result.by_system["x"].corrected.value == pytest.approx(0.5)
    assert result.by_system["y"].corrected.value == pytest.approx(1.0)
    assert result.by_system["x"].n == 20
    assert result.prevalence.corrected.value == pytest.approx(0.75)
    assert result.prevalence.n == 40


def test_label_is_the_majority_and_a_split_has_none():
    rows = [judged("d1", "s", 1), judged("d2", "s", 1), judged("d3", "s", 0)]
    labels = [label("d1", "s", 1), label("d1", "s", 1, "b"), label("d1", "s", 0, "c"),
              label("d2", "s", 1), label("d2", "s", 0, "b"), label("d3", "s", 0),
              label("d3", "s", 0, "b"), label("d3", "s", 1, "c")]  # fmt: skip
    result = of(rows, labels)
    assert result.n_split == 1
    assert (result.errors.n_yes, result.errors.n_no) == (1, 1)
    assert result.errors.sensitivity.value == 1.0
    assert result.errors.specificity.value == 1.0


def test_item_with_differing_repeats_has_no_answer():
    rows = [
        judged("d1", "s", 1, repeat=0),
        judged("d1", "s", 0, repeat=1),
        judged("d2", "s", 1),
        judged("d3", "s", 1, repeat=0),
        judged("d3", "s", 0, repeat=1),
        judged("d4", "s", 0),
    ]
    result = of(rows, [label("d1", "s", 1), label("d2", "s", 1)])
    assert result.n_split == 1
    assert result.errors.n_yes == 1
    assert result.prevalence.n == 1


def test_nonbinary_scales_have_no_rates():
    rows = [
        Judgement(eid="d", system="s", aspect="coverage", protocol="likert", judge="j", value=4)
    ]
    assert of(rows, [label("d", "s", 4)]) is None
    assert of([judged("d", "s", 1)], [label("d", "s", 4)]) is None


def test_labels_with_unequal_sampling_probabilities_give_no_shares():
    rows, labels = table("x", 8, 2, 1, 9, 10, 10)
    items = [
        label.model_copy(update={"probability": 0.2 + 0.01 * i}) for i, label in enumerate(labels)
    ]
    result = of(rows, items)
    assert result.errors.sensitivity.value == pytest.approx(0.8)
    assert result.prevalence == Undefined(
        why="items were sampled for labelling with unequal probabilities"
    )
    assert result.by_system == {}
