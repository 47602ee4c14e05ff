"""More edges of the figures of calibration: groups, simultaneous ranks, judges that never lose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import studentized_range

from fairjudge.calibration.groups import errors_by_group
from fairjudge.calibration.paired_comparisons import significantly_above
from fairjudge.calibration.replaceability import (
    MIN_ITEMS,
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats.clustered import clip_interval
from fairjudge.stats.multiplicity import benjamini_hochberg


def test_both_gaps_of_a_group_have_separate_adjusted_p_values():
    rng = np.random.default_rng(3)
    n = 40
    groups = ["a", "b", "c"] * n
    error = np.where(np.array(groups) == "a", rng.choice([-2.0, 2.0], 3 * n), 0.1)
    error = error + rng.normal(scale=0.3, size=3 * n) + np.where(np.array(groups) == "b", 0.4, 0)
    result = errors_by_group(error, np.zeros(3 * n), groups, documents=list(range(3 * n)))
    raw = [gap.p_value for item in result for gap in (item.error_gap, item.absolute_error_gap)]
    items = [p for item in result for p in item.adjusted_p_values.values()]
    assert items == pytest.approx(benjamini_hochberg(raw).tolist())
    assert len(set(items)) > 2


@pytest.mark.parametrize(("freedom", "k"), [(5, 3), (12, 5)])
def test_ranks_use_simultaneous_intervals(freedom, k):
    """With equal variances the largest |t| over pairs is Tukey's studentized range by root 2."""
    critical = studentized_range.ppf(0.95, k, freedom) / np.sqrt(2)

    def above(gap):
        strengths = np.zeros(k)
        strengths[0] = gap * np.sqrt(2)  # in standard errors of a difference
        rng = np.random.default_rng(0)
        return significantly_above(strengths, np.eye(k), freedom=freedom, level=0.95, rng=rng)

    assert not above(critical * 0.92)[0, 1:].any()
    assert above(critical * 1.08)[0, 1:].all()


def replaced(documents, epsilon):
    """Three people who agree, and a judge who is right where each of them is off by one."""
    n = MIN_ITEMS
    people = np.tile([1.0, 1.0, 1.0], (n, 1))
    return alternative_annotator_test(
        np.full(n, 1.0),
        people,
        np.ones((n, 3), dtype=bool),
        annotators=["x", "y", "z"],
        epsilon=epsilon,
        documents=documents,
    )


def test_constant_differences_are_certain_from_two_documents():
    n = MIN_ITEMS
    two = replaced([place % 2 for place in range(n)], 0.1)
    assert isinstance(two, AlternativeAnnotatorTest)
    assert two.passes
    first = replaced(["d"] * n, 0.1)
    assert isinstance(first, Undefined) or not first.passes


def test_clipping_keeps_the_value_and_skips_missing_bounds():
    result = Estimate(value=0.9, low=0.7, high=1.2, level=0.95, n=9, n_excluded=0, method="m")
    cut = clip_interval(result, 0.0, 1.0)
    assert (cut.value, cut.low, cut.high) == (0.9, 0.7, 1.0)
    low = clip_interval(replace(result, low=-0.2), 0.0, 1.0)
    assert (low.low, low.high) == (0.0, 1.0)
    bare = replace(result, low=None, high=None)
    assert clip_interval(bare, 0.0, 1.0) is bare
    none = Undefined(why="no values")
    assert clip_interval(none, 0.0, 1.0) is none
