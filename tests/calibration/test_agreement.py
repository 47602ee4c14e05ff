"""Agreement of baselines on pairs, and of people who share few items."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from fairjudge.calibration.agreement import Resampling, baseline_agreement, human_agreement
from fairjudge.calibration.items import join
from fairjudge.domain import Estimate, Judgement, Label, Undefined

FAST = Resampling(n_resamples=50)


def rng():
    return np.random.default_rng(0)


def pairs(n):
    """Pairs of x and y: in every third a wins, in every third b, else a tie."""
    rows, labels = [], []
    for i in range(n):
        verdict = ("a", "b", "tie")[i % 3]
        sides = {"eid": f"d{i}", "aspect": "coverage", "system_a": "x", "system_b": "y"}
        rows += [
            Judgement(**sides, order=order, protocol="pairwise", judge="j", value=verdict)
            for order in ("ab", "ba")
        ]
        labels.append(Label(**sides, annotator="p", value=verdict))
    (joined,) = join(rows, labels)
    return joined


def test_pair_values_order_from_second_wins_to_first_wins():
    joined = pairs(3)
    assert (joined.judge_scale, joined.label_scale) == ((-1.0, 1.0), (-1.0, 1.0))
    assert joined.human.tolist() == [1.0, -1.0, 0.0]


def test_pair_baseline_is_first_minus_second():
    joined = pairs(30)
    sample = rng().normal(size=(30, 2))
    table = {(f"d{i}", s): float(sample[i, k]) for i in range(30) for k, s in enumerate("xy")}
    result = baseline_agreement(joined, {"some": table}, resampling=FAST, rng=rng())["some"]
    wins = [(1, -1, 0)[i % 3] for i in range(30)]
    expected = scipy_stats.kendalltau(sample[:, 0] - sample[:, 1], wins).statistic
    assert result["pooled"]["kendall"].value == pytest.approx(expected)
    assert result["pooled"]["kendall"].n == 30


@pytest.mark.parametrize("side", ["x", "y"])
def test_pairs_with_an_unscored_side_are_excluded_and_counted(side):
    joined = pairs(12)
    table = {(f"d{i}", s): float(i * (s == "x")) for i in range(12) for s in "xy"}
    for i in (0, 1):
        del table[f"d{i}", side]
    result = baseline_agreement(joined, {"some": table}, resampling=FAST, rng=rng())["some"]
    kendall = result["pooled"]["kendall"]
    assert (kendall.n, kendall.n_excluded) == (10, 2)
    del table["d2", side]
    few = baseline_agreement(joined, {"some": table}, resampling=FAST, rng=rng())["some"]
    assert few == Undefined(why="such a score for 9 of 12 items: too few")


@pytest.mark.parametrize(("n_shared", "is_estimate"), [(10, True), (9, False)])
def test_annotators_are_compared_on_at_least_ten_shared_items(n_shared, is_estimate):
    """Two people; the second labelled the first `n_shared` of 20 documents."""
    rows = [
        Judgement(eid=f"d{i:02}", system="s", aspect="coverage", protocol="likert", judge="j",
                  value=1 + i % 5)
        for i in range(20)
    ]  # fmt: skip
    labels = [
        Label(
            eid=f"d{i:02}",
            system="s",
            aspect="coverage",
            annotator=annotator,
            value=1 + (i + k) % 5,
        )
        for k, annotator in enumerate(("p", "q"))
        for i in range(20 if annotator == "p" else n_shared)
    ]
    (joined,) = join(rows, labels)
    result = human_agreement(joined, resampling=FAST, rng=rng())["pooled"]
    assert isinstance(result["spearman"], Estimate) == is_estimate
    if is_estimate:
        assert result["raw_agreement"].value == 0.0
        assert result["raw_agreement"].n == 10
        assert isinstance(result["kappa"], Estimate)
    else:
        assert result["spearman"].why == "no annotator shares 10 items with another"
