"""What an estimate says of itself unless told otherwise: 95 %, and that nothing was left out."""

from __future__ import annotations

import numpy as np
import pytest

from fairjudge.stats.bootstrap import bootstrap, bootstrap_many
from fairjudge.stats.clustered import clustered_difference, clustered_mean, t_estimate
from fairjudge.stats.intervals import clustered_wilson, wilson
from fairjudge.stats.resampling import Resampling

VALUES = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
GROUP = np.array([True, True, False, False, False])


def rng():
    return np.random.default_rng(0)


def first(counts):
    return counts[:, 0]


@pytest.mark.parametrize(
    "statistic",
    [
        lambda: clustered_mean(VALUES),
        lambda: clustered_difference(VALUES, GROUP),
        lambda: t_estimate(1.0, 2.0, n=3, degrees_of_freedom=2),
        lambda: t_estimate(1.0, 2.0, n=3, degrees_of_freedom=0),
        lambda: wilson(3.0, 5),
        lambda: clustered_wilson(VALUES, list(range(5))),
        lambda: clustered_wilson(VALUES, [1, 1, 2, 2, 3]),
        lambda: Resampling(rng=rng()).mean(VALUES),
        lambda: bootstrap(first, n_documents=5, rng=rng()),
        lambda: bootstrap_many(lambda c: c[:, :1], n_documents=5, rng=rng())[0],
        lambda: Resampling(rng=rng()).mean([1.0]),
    ],
)
def test_default_level_is_95_percent(statistic):
    estimate = statistic()
    assert estimate.level == 0.95
    assert estimate.n_excluded == 0


def test_default_is_2000_resamples():
    """The smallest p-value of a mean of ones against 0 is 2 of 2001, by every way in."""
    of_ones = {"rng": rng(), "null": 0.0}
    ones = np.ones(5)
    mean = Resampling(rng=rng()).mean(ones, null=0.0)
    first = bootstrap(lambda c: c @ ones / 5, n_documents=5, **of_ones)
    (many,) = bootstrap_many(lambda c: (c @ ones / 5)[:, None], n_documents=5, **of_ones)
    assert {mean.p_value, first.p_value, many.p_value} == {2 / 2001}
