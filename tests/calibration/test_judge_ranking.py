"""Bradley-Terry with a discrimination per judge, against scipy's maximum and the plain model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from fairjudge.calibration.judge_ranking import PRIOR_SPREAD, rank_by_judges
from fairjudge.calibration.paired_comparisons import Comparisons
from fairjudge.calibration.ranking import RIDGE, rank_systems
from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError

STRENGTHS = np.array([-0.8, -0.2, 0.1, 0.9])


def comparisons(slopes=(0.5, 1.0, 2.0), *, places=(0.4, 0.0, -0.3), tie=-0.7, n=40, seed=0):
    """Return every pair of four systems in `n` documents by each judge, in both orders."""
    rng = np.random.default_rng(seed)
    rows, judges = [], []
    for document in range(n):
        for judge, (slope, place) in enumerate(zip(slopes, places, strict=True)):
            for a in range(4):
                for b in range(a + 1, 4):
                    for x in (1.0, -1.0):
                        d = slope * (STRENGTHS[a] - STRENGTHS[b]) + place * x
                        weights = np.exp([d / 2, -d / 2, tie])
                        win = rng.choice([1.0, 0.0, 0.5], p=weights / weights.sum())
                        rows.append((win, f"s{a}", f"s{b}", x, document))
                        judges.append(f"j{judge}")
    wins, a, b, x, documents = zip(*rows, strict=True)
    data = Comparisons(
        wins=np.array(wins), system_a=a, system_b=b, positions=np.array(x), documents=documents
    )
    return data, judges


def ranked(data, judges):
    return rank_by_judges(data, judges, rng=np.random.default_rng(0))


def test_estimate_matches_the_scipy_maximum():
    """The posterior written out anew, with log-discriminations and then their mean taken off."""
    data, judges = comparisons()
    code = np.array([int(name[1]) for name in judges])
    a, b = (np.array([int(name[1]) for name in side]) for side in (data.system_a, data.system_b))

    def loss(beta):
        s, free, places, ties = np.split(beta, [4, 7, 10])
        slopes = free - free.mean()
        d = np.exp(slopes)[code] * (s[a] - s[b]) + places[code] * data.positions
        logits = np.column_stack([d / 2, -d / 2, ties[code]])
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        chosen = np.select([data.wins == 1, data.wins == 0], [logs[:, 0], logs[:, 1]], logs[:, 2])
        prior = RIDGE * (s @ s + places @ places + ties @ ties) + slopes @ slopes / PRIOR_SPREAD**2
        return 0.5 * prior - chosen.sum()

    best = minimize(loss, np.zeros(13), method="BFGS", options={"gtol": 1e-7})
    result = ranked(data, judges)
    strengths = {system.system: system.strength.value for system in result.systems}
    centred = best.x[:4] - best.x[:4].mean()
    assert [strengths[f"s{k}"] for k in range(4)] == pytest.approx(centred, abs=1e-4)
    slopes = np.exp(best.x[4:7] - best.x[4:7].mean())
    assert [judge.discrimination.value for judge in result.judges] == pytest.approx(
        slopes, rel=1e-4
    )
    places = [judge.position_effect.value for judge in result.judges]
    assert places == pytest.approx(best.x[7:10], abs=1e-4)


def test_planted_judge_parameters_and_random_judge_are_recovered():
    data, judges = comparisons((0.0, 1.5, 2.0), n=120)
    result = ranked(data, judges)
    blind, *others = result.judges
    assert blind.discrimination.high < 0.3
    assert all(item.discrimination.low > 1 for item in others)
    assert [system.system for system in result.systems] == ["s3", "s2", "s1", "s0"]


def test_discriminations_have_product_one_and_strengths_sum_zero():
    result = ranked(*comparisons())
    logs = [np.log(judge.discrimination.value) for judge in result.judges]
    assert sum(logs) == pytest.approx(0.0, abs=1e-9)
    assert sum(system.strength.value for system in result.systems) == pytest.approx(0.0, abs=1e-9)


def test_equal_judges_match_the_plain_model():
    """Both judges say the same: the discriminations are 1, and intervals are as wide."""
    data, judges = comparisons((1.0,), places=(0.2,))
    twice = Comparisons(
        wins=np.r_[data.wins, data.wins],
        system_a=data.system_a * 2,
        system_b=data.system_b * 2,
        positions=np.r_[data.positions, data.positions],
        documents=data.documents * 2,
    )
    result = ranked(twice, [*judges, *("copy" for _ in judges)])
    plain = rank_systems(twice, rng=np.random.default_rng(0))
    assert [judge.discrimination.value for judge in result.judges] == pytest.approx(
        [1, 1], abs=1e-8
    )
    for ours, theirs in zip(result.systems, plain.systems, strict=True):
        assert ours.system == theirs.system
        assert ours.strength.value == pytest.approx(theirs.strength.value, abs=1e-6)
        assert ours.strength.low == pytest.approx(theirs.strength.low, abs=1e-4)
        assert (ours.best_rank, ours.worst_rank) == (theirs.best_rank, theirs.worst_rank)


def test_random_judge_harms_less_than_in_the_plain_model():
    """Verdicts by chance pull all strengths towards 0 where every judge counts alike."""
    data, judges = comparisons((0.05, 2.0), places=(0.0, 0.0), n=100)
    result, plain = ranked(data, judges), rank_systems(data, rng=np.random.default_rng(0))
    own = result.judges[1].discrimination.value
    gap = own * (result.systems[0].strength.value - result.systems[-1].strength.value)
    flat = plain.systems[0].strength.value - plain.systems[-1].strength.value
    truth = 2.0 * (STRENGTHS.max() - STRENGTHS.min())
    assert abs(gap - truth) < 0.15 * truth < abs(flat - truth)


def test_judge_with_unknown_positions_has_no_position_effect():
    data, judges = comparisons()
    first = np.array([name == "j0" for name in judges])
    unknown = Comparisons(
        wins=data.wins,
        system_a=data.system_a,
        system_b=data.system_b,
        positions=np.where(first, 0.0, data.positions),
        documents=data.documents,
    )
    effects = [judge.position_effect for judge in ranked(unknown, judges).judges]
    assert isinstance(effects[0], Undefined)
    assert not any(isinstance(effect, Undefined) for effect in effects[1:])


def test_one_judge_or_uncompared_systems_are_undefined():
    data, judges = comparisons((1.0,), places=(0.0,))
    assert "fewer than 2 judges" in ranked(data, judges).why
    apart = Comparisons(
        wins=np.array([1.0, 0.0]),
        system_a=("a", "c"),
        system_b=("b", "d"),
        positions=np.zeros(2),
        documents=("x", "y"),
    )
    assert "never compared" in ranked(apart, ["j", "k"]).why


def test_a_system_that_always_wins_has_no_interval():
    data, judges = comparisons(n=10)
    wins = np.where(np.array(data.system_b) == "s3", 0.0, data.wins)
    result = ranked(
        Comparisons(
            wins=wins,
            system_a=data.system_a,
            system_b=data.system_b,
            positions=data.positions,
            documents=data.documents,
        ),
        judges,
    )
    assert result.separated
    assert result.systems[0].system == "s3"
    assert all(system.strength.low is None for system in result.systems)


def test_judges_and_comparisons_need_equal_lengths():
    data, judges = comparisons(n=6)
    with pytest.raises(StatisticsError, match="equal lengths"):
        ranked(data, judges[1:])


@pytest.mark.parametrize("seed", range(3))
def test_intervals_cover_the_truth_in_most_of_twenty_data_sets(seed):
    """Benchmarks draw 2,000; here the share of 200 intervals must be near 95 %."""
    hits = []
    for data_set in range(20):
        result = ranked(*comparisons(n=25, seed=1000 * seed + data_set))
        truth = STRENGTHS - STRENGTHS.mean()
        hits += [
            system.strength.low <= truth[int(system.system[1])] <= system.strength.high
            for system in result.systems
        ]
    assert 0.85 <= np.mean(hits) <= 1.0
