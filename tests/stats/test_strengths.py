"""Strengths of many tables at once, against the model fitted row by row and against algebra."""

import math

import numpy as np
import pytest

from fairjudge.calibration.paired_comparisons import Comparisons
from fairjudge.calibration.ranking import rank_systems
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats.levels import Scores, mean_correlations
from fairjudge.stats.strengths import count_components, strengths


def test_two_systems_have_the_log_odds_of_their_wins():
    """Without ties the strengths of a pair differ by log(wins / losses), the plain model."""
    result = strengths(np.array([[[30.0, 10.0, 0.0]]]), np.array([[0, 1]]), 2)
    assert result[0, 0] - result[0, 1] == pytest.approx(math.log(3), abs=1e-3)
    assert result.sum() == pytest.approx(0.0)


@pytest.mark.parametrize("seed", range(5))
def test_strengths_match_the_ranking_without_position(seed):
    rng = np.random.default_rng(seed)
    places = np.array([[0, 1], [1, 2], [2, 3], [0, 3]])
    counts = rng.integers(1, 9, size=(4, 3))
    rows = [
        (a, b, win)
        for (a, b), three in zip(places, counts, strict=True)
        for win, n in zip((1.0, 0.0, 0.5), three, strict=True)
        for _ in range(n)
    ]
    model = rank_systems(
        Comparisons(
            wins=np.array([win for _, _, win in rows]),
            system_a=tuple(f"s{a}" for a, _, _ in rows),
            system_b=tuple(f"s{b}" for _, b, _ in rows),
            positions=np.zeros(len(rows)),
            documents=tuple(range(len(rows))),
        ),
        rng=rng,
    )
    assert not isinstance(model, Undefined)
    expected = {system.system: system.strength.value for system in model.systems}
    result = strengths(np.stack([counts, 2 * counts]).astype(float), places, 4)
    assert result[0] == pytest.approx([expected[f"s{n}"] for n in range(4)], abs=1e-6)
    assert result[1] == pytest.approx(result[0], abs=1e-3)  # the penalty alone differs


def test_disconnected_groups_are_counted():
    assert count_components((np.array([0, 1]), np.array([1, 2])), 3) == 1
    assert count_components((np.array([0, 2]), np.array([1, 3])), 4) == 2
    assert count_components((np.array([0, 1]), np.array([1, 2])), 3, "strong") == 3
    assert count_components((np.array([0, 1, 2]), np.array([1, 2, 0])), 3, "strong") == 1


def _chain(judge: list[float], people: list[float], pairs: list[tuple[str, str]]) -> dict:
    data = Scores(
        first=np.array(judge),
        second=np.array(people),
        documents=np.arange(len(judge)),
        systems=[a for a, _ in pairs],
        opponents=[b for _, b in pairs],
    )
    return mean_correlations(
        [data], "system", n_documents=len(judge), rng=np.random.default_rng(0), n_resamples=50
    )


def test_strengths_correlate_where_pair_means_do_not():
    """A chain a < b < c < d, each pair won equally often: pairs' means say nothing of order."""
    pairs = [("a", "b"), ("b", "c"), ("c", "d")] * 8
    judge = [-1.0] * 18 + [1.0] * 6
    result = _chain(judge, judge, pairs)["spearman"]
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(1.0)
    assert result.n == 4


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ([("a", "b")] * 12, "needs 3"),
        ([("a", "b"), ("c", "d")] * 6, "2 sets that are never compared"),
    ],
)
def test_unknown_strengths_have_no_correlation(pairs, why):
    values = [1.0, -1.0, 1.0] * 4
    result = _chain(values, values, pairs)["spearman"]
    assert isinstance(result, Undefined)
    assert why in result.why
