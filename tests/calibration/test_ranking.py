"""Bradley-Terry with ties and position, against published figures and another implementation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import approx_fprime
from scipy.stats import studentized_range
from scipy.stats import t as student_t

from benchmarks.ranking_coverage import simulate
from fairjudge.calibration.paired_comparisons import Comparisons
from fairjudge.calibration.ranking import rank_systems
from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError

HOME_GAMES = {
    "Milwaukee": "Detroit 4 3,Toronto 4 2,New York 4 3,Boston 6 1,Cleveland 4 2,Baltimore 6 0",
    "Detroit": "Milwaukee 3 3,Toronto 4 2,New York 4 3,Boston 6 0,Cleveland 6 1,Baltimore 4 3",
    "Toronto": "Milwaukee 2 5,Detroit 4 3,New York 2 4,Boston 4 3,Cleveland 4 2,Baltimore 6 0",
    "New York": "Milwaukee 3 3,Detroit 5 1,Toronto 2 5,Boston 4 3,Cleveland 4 2,Baltimore 6 1",
    "Boston": "Milwaukee 5 1,Detroit 2 5,Toronto 3 3,New York 4 2,Cleveland 5 2,Baltimore 6 0",
    "Cleveland": "Milwaukee 2 5,Detroit 3 3,Toronto 3 4,New York 4 3,Boston 4 2,Baltimore 2 4",
    "Baltimore": "Milwaukee 2 5,Detroit 1 5,Toronto 1 6,New York 2 4,Boston 1 6,Cleveland 3 4",
}
"""Home wins and losses of the American League's East, 1987: Agresti (2002), table 10.10."""


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def comparisons(strengths, *, position=0.0, tie=-1.0, n_documents=60, seed=0, per_document=12):
    """Draw judgements from the model itself; documents share nothing."""
    random = np.random.default_rng(seed)
    n = n_documents * per_document
    k = len(strengths)
    pairs = np.array([random.permutation(k)[:2] for _ in range(n)])
    positions = random.choice([-1.0, 1.0], n)
    d = np.asarray(strengths)[pairs[:, 0]] - np.asarray(strengths)[pairs[:, 1]]
    d = d + position * positions
    weights = np.exp(np.column_stack([d / 2, -d / 2, np.full(n, tie)]))
    weights /= weights.sum(axis=1, keepdims=True)
    rolled = random.random(n)
    wins = np.where(rolled < weights[:, 0], 1.0, np.where(rolled < weights[:, :2].sum(1), 0.0, 0.5))
    return Comparisons(
        wins=wins,
        system_a=tuple(f"s{i}" for i in pairs[:, 0]),
        system_b=tuple(f"s{i}" for i in pairs[:, 1]),
        positions=positions,
        documents=tuple((np.arange(n) // per_document).tolist()),
    )


def test_strengths_and_position_effect_match_the_publication():
    """Agresti (2002), and R's BradleyTerry2 in its vignette: Baltimore is 0, at home 0.3023."""
    wins, a, b = [], [], []
    for home, games in HOME_GAMES.items():
        for game in games.split(","):
            away, won, lost = game.rsplit(" ", 2)
            for value, times in ((1.0, int(won)), (0.0, int(lost))):
                wins += [value] * times
                a += [home] * times
                b += [away] * times
    ranking = rank_systems(
        Comparisons(
            wins=np.array(wins),
            system_a=tuple(a),
            system_b=tuple(b),
            positions=np.ones(len(wins)),
            documents=tuple(range(len(wins))),
        ),
        rng=rng(),
    )
    strength = {system.system: system.strength.value for system in ranking.systems}
    published = {"Milwaukee": 1.6196, "Detroit": 1.4754, "Toronto": 1.3271}
    published |= {"New York": 1.2813, "Boston": 1.1438, "Cleveland": 0.7047}
    for team, value in published.items():
        assert strength[team] - strength["Baltimore"] == pytest.approx(value, abs=3e-4)
    assert ranking.position_effect.value == pytest.approx(0.3023, abs=1e-4)
    assert ranking.tie_weight == Undefined(why="no ties")
    assert [system.system for system in ranking.systems][:2] == ["Milwaukee", "Detroit"]
    assert ranking.systems[-1].system == "Baltimore"
    assert sum(strength.values()) == pytest.approx(0.0, abs=1e-9)


def test_model_with_ties_matches_statsmodels_log_linear_fit():
    """Fienberg and Larntz (1976): Davidson's model is a Poisson regression on the counts of a win,
    a loss and a tie, with an intercept for every pair and place."""
    data = comparisons((0.8, 0.2, -0.3, -0.7), position=0.4, tie=-0.5)
    counts: dict[tuple, int] = {}
    for row in zip(data.system_a, data.system_b, data.positions, data.wins, strict=True):
        counts[row] = counts.get(row, 0) + 1
    settings = sorted({row[:3] for row in counts})
    design, outcomes = [], []
    for place, (a, b, position) in enumerate(settings):
        for wins in (1.0, 0.0, 0.5):
            row = np.zeros(len(settings) + 5)
            row[place] = 1.0
            side = {1.0: 0.5, 0.0: -0.5, 0.5: 0.0}[wins]
            for name, sign in ((a, side), (b, -side)):
                if name != "s3":
                    row[len(settings) + int(name[1])] += sign
            row[len(settings) + 3] = side * position
            row[len(settings) + 4] = wins == 0.5
            design.append(row)
            outcomes.append(counts.get((a, b, position, wins), 0))
    fit = sm.GLM(np.array(outcomes), np.array(design), family=sm.families.Poisson()).fit()
    theirs = fit.params[len(settings) :]
    ranking = rank_systems(data, rng=rng())
    strength = {system.system: system.strength.value for system in ranking.systems}
    ours = [strength[f"s{i}"] - strength["s3"] for i in range(3)]
    ours += [ranking.position_effect.value, ranking.tie_weight.value]
    assert ours == pytest.approx(theirs, abs=1e-4)


def test_planted_strengths_position_and_order_are_recovered():
    strengths = (1.5, 0.5, -0.5, -1.5)
    ranking = rank_systems(comparisons(strengths, position=0.5, n_documents=150), rng=rng())
    assert [system.system for system in ranking.systems] == ["s0", "s1", "s2", "s3"]
    assert [(system.best_rank, system.worst_rank) for system in ranking.systems] == [
        (1, 1), (2, 2), (3, 3), (4, 4)
    ]  # fmt: skip
    for system, truth in zip(ranking.systems, strengths, strict=True):
        assert system.strength.value == pytest.approx(truth, abs=0.25)
        assert system.strength.low < system.strength.value < system.strength.high
    assert ranking.position_effect.low <= 0.5 <= ranking.position_effect.high
    assert ranking.position_effect.p_value < 0.001


def test_systems_are_distinguished_if_strength_interval_excludes_0():
    """Strengths sum to 0: the difference and its error are twice one's strength and its error."""
    sure = []
    for n_won in range(20, 36):
        ranking = rank_systems(
            Comparisons(
                wins=np.repeat([1.0, 0.0], [n_won, 40 - n_won]),
                system_a=("first",) * 40,
                system_b=("second",) * 40,
                positions=np.tile([1.0, -1.0], 20),
                documents=tuple(range(40)),
            ),
            rng=rng(),
        )
        best = next(system for system in ranking.systems if system.system == "first")
        sure.append(best.best_rank == best.worst_rank)
        assert sure[-1] == (best.strength.low > 0.0), n_won
    assert True in sure
    assert False in sure


def test_rarely_judged_system_is_ranked_if_far_below():
    """240 judgements of the other two, 24 and 26 of theirs with it, of which it wins 2 each."""
    meetings = [
        ("first", "second", 180, 60, 0),
        ("first", "seldom", 22, 2, 0),
        ("second", "seldom", 24, 2, 0),
    ]
    positions = np.resize([1.0, -1.0], 290)
    ranking = rank_systems(played(meetings, positions=positions), rng=rng())
    ranks = {system.system: (system.best_rank, system.worst_rank) for system in ranking.systems}
    assert ranks == {"first": (1, 1), "second": (2, 2), "seldom": (3, 3)}


@pytest.mark.slow
def test_intervals_of_strengths_positions_and_ranks_cover():
    """200 data sets of 20 documents that lean differently, with ties and an effect of position.

    95 % within three standard errors (4.6 points); all ranks at once in 95 % or more.
    """
    result = simulate(200, 20, clustered=True, ties=True, position=0.4)
    for name in ("strengths", "position_effect"):
        assert 90.4 <= result[name][0] <= 99.6, name
    assert result["ranks"][0] >= 90.4


def test_equal_systems_are_not_distinguished():
    ranking = rank_systems(comparisons((0.0,) * 4), rng=rng())
    assert {(system.best_rank, system.worst_rank) for system in ranking.systems} == {(1, 4)}
    assert ranking.position_effect.p_value > 0.05


def test_system_with_only_weak_opponents_wins_often_and_ranks_low():
    """A beats B and C half the time each; D beats only the weakest, nine times of ten.

    D meets C alone, which loses to all: its win rate is 0.9, A's 0.7; but A beats C more often.
    """
    meetings = [
        ("A", "B", 10, 10, 0),
        ("A", "C", 19, 1, 0),
        ("B", "C", 19, 1, 0),
        ("D", "C", 18, 2, 0),
    ]
    data = played(meetings)
    data = replace(data, documents=tuple(i % 10 for i in range(len(data.wins))))
    ranking = rank_systems(data, rng=rng())
    by_name = {system.system: system for system in ranking.systems}
    assert by_name["D"].win_rate.value > by_name["A"].win_rate.value
    assert by_name["D"].rank == 3
    assert by_name["A"].strength.value == pytest.approx(by_name["B"].strength.value, abs=1e-6)


def test_expected_win_rate_of_two_systems_is_the_share_won():
    """Seven wins, two ties and one loss: (7 + 1) / 10, whatever the model."""
    ranking = rank_systems(played([("x", "y", 7, 1, 2)]), rng=rng())
    assert ranking.systems[0].expected_win_rate.value == pytest.approx(0.8, abs=1e-4)
    assert ranking.systems[0].win_rate.value == pytest.approx(0.8)
    assert ranking.position_effect == Undefined(why="no judgement has the order of the summaries")


def test_always_winning_system_is_reported_without_estimate():
    ranking = rank_systems(
        Comparisons(
            wins=np.ones(20),
            system_a=("x",) * 20,
            system_b=("y",) * 20,
            positions=np.tile([1.0, -1.0], 10),
            documents=tuple(range(20)),
        ),
        rng=rng(),
    )
    assert ranking.separated
    assert ranking.systems[0].system == "x"
    assert np.isfinite(ranking.systems[0].strength.value)
    assert ranking.systems[0].strength.low is None
    assert ranking.systems[0].best_rank is None


def test_position_and_system_are_confounded_if_one_is_always_first():
    ranking = rank_systems(
        Comparisons(
            wins=np.tile([1.0, 1.0, 0.0], 10),
            system_a=("x",) * 30,
            system_b=("y",) * 30,
            positions=np.ones(30),
            documents=tuple(range(30)),
        ),
        rng=rng(),
    )
    assert ranking.position_effect == Undefined(
        why="position and system are confounded: the same system was always first"
    )
    assert ranking.systems[0].win_rate.value == pytest.approx(2 / 3)


def test_uncompared_systems_are_not_ranked():
    data = Comparisons(
        wins=np.array([1.0, 0.0]),
        system_a=("a", "c"),
        system_b=("b", "d"),
        positions=np.zeros(2),
        documents=(1, 2),
    )
    assert rank_systems(data, rng=rng()) == Undefined(
        why="systems fall into 2 sets that are never compared"
    )


def test_too_few_documents_give_an_order_without_intervals():
    ranking = rank_systems(comparisons((1.0, -1.0), n_documents=3), rng=rng())
    assert [system.rank for system in ranking.systems] == [1, 2]
    assert {system.strength.low for system in ranking.systems} == {None}
    assert {system.best_rank for system in ranking.systems} == {None}


def test_system_against_itself_raises():
    with pytest.raises(StatisticsError, match="'a' twice"):
        rank_systems(
            Comparisons(
                wins=np.ones(1),
                system_a=("a",),
                system_b=("a",),
                positions=np.zeros(1),
                documents=(1,),
            ),
            rng=rng(),
        )


def slopes(function, at):
    """Differentiate by central differences; rows are the values of `function`."""
    at = np.asarray(at, dtype=float)
    forward = approx_fprime(at, function, 1e-5)
    backward = approx_fprime(at, function, -1e-5)
    return np.atleast_2d((forward + backward) / 2)


def davidson(strengths, position, tie):
    """Return P(a), P(b), P(tie) in the terms of Davidson (1970), for strengths of shape (n, 2).

    With worth w = exp(s), they are as w_a, w_b and nu sqrt(w_a w_b), the first shown counting
    exp(g) times as much (Davidson and Beaver 1977, with half of the effect on either side).
    """
    worth = np.exp(strengths + np.column_stack([position, -position]) / 2)
    draws = np.exp(tie) * np.sqrt(worth[:, 0] * worth[:, 1])
    every = np.column_stack([worth, draws])
    return every / every.sum(axis=1, keepdims=True)


def test_errors_without_ties_match_clustered_logistic_regression():
    """statsmodels' logit with errors over documents; one system has strength 0 in it."""
    data = comparisons((0.6, 0.0, -0.6), position=0.4, tie=-40.0, n_documents=25, per_document=6)
    n, names = len(data.wins), ("s0", "s1", "s2")
    design = np.zeros((n, 4))
    for row, (a, b) in enumerate(zip(data.system_a, data.system_b, strict=True)):
        design[row, names.index(a)] += 1
        design[row, names.index(b)] -= 1
    design[:, 3] = data.positions
    columns = design[:, [0, 1, 3]]
    options = {"groups": np.asarray(data.documents), "use_correction": False}
    fit = sm.Logit(data.wins, columns).fit(disp=0, cov_type="cluster", cov_kwds=options)
    covariance = fit.cov_params() * 25 / 24
    quantile = student_t.ppf(0.95, 24)
    ranking = rank_systems(data, rng=rng(), level=0.9)

    def matches(estimate, value, error, null=0.0):
        assert estimate.value == pytest.approx(value, abs=1e-3)
        assert estimate.low == pytest.approx(value - quantile * error, abs=1e-3)
        assert estimate.high == pytest.approx(value + quantile * error, abs=1e-3)
        assert estimate.level == 0.9
        if null is None:
            assert estimate.p_value is None
        else:
            expected = 2 * student_t.sf(abs(value) / error, 24)
            assert estimate.p_value == pytest.approx(expected, rel=0.02)

    matches(ranking.position_effect, fit.params[2], np.sqrt(covariance[2, 2]))
    assert ranking.position_effect.n == n
    by_name = {system.system: system for system in ranking.systems}
    for system, name in enumerate(names):

        def strength(b, system=system):
            return np.append(b[:2], 0.0)[system] - b[:2].sum() / 3

        def rate(b, system=system):
            level = np.append(b[:2], 0.0)
            return np.mean(1 / (1 + np.exp(np.delete(level, system) - level[system])))

        met = sum(name in pair for pair in zip(data.system_a, data.system_b, strict=True))
        first = by_name[name]
        for estimate, function, null in (
            (first.strength, strength, 0.0),
            (first.expected_win_rate, rate, None),
        ):
            slope = slopes(function, fit.params)[0]
            error = np.sqrt(slope @ covariance @ slope)
            matches(estimate, function(fit.params), error, null)
            assert estimate.n == met
        assert first.win_rate.n == met


def test_errors_with_ties_match_numerical_derivatives():
    """Sandwich of Davidson's likelihood: curvature and scores by finite differences."""
    data = comparisons((0.9, 0.1, -1.0), position=0.3, tie=-0.2, n_documents=20, per_document=6)
    places = np.array(
        [[int(a[1]), int(b[1])] for a, b in zip(data.system_a, data.system_b, strict=True)]
    )
    column = np.where(data.wins == 1.0, 0, np.where(data.wins == 0.0, 1, 2))

    def every(b):
        return np.array([b[0], b[1], -b[0] - b[1]])

    def log_likelihood(b):
        p = davidson(every(b)[places], b[2] * data.positions, b[3])
        return np.log(p[np.arange(len(column)), column])

    ranking = rank_systems(data, rng=rng())
    by_name = {system.system: system for system in ranking.systems}
    at = [by_name[name].strength.value for name in ("s0", "s1")]
    at += [ranking.position_effect.value, ranking.tie_weight.value]
    scores = slopes(log_likelihood, at)
    assert scores.sum(axis=0) == pytest.approx(0.0, abs=1e-2)
    curvature = slopes(lambda b: slopes(log_likelihood, b).sum(axis=0), at)
    sums = np.array([scores[np.array(data.documents) == d].sum(axis=0) for d in range(20)])
    inverse = np.linalg.inv(curvature)
    covariance = inverse @ (sums.T @ sums * 20 / 19) @ inverse
    quantile = student_t.ppf(0.975, 19)

    def rate(system):
        def function(b):
            level = every(b)
            pairs = np.array([[level[system], item] for item in np.delete(level, system)])
            p = davidson(pairs, np.zeros(2), b[3])
            return np.mean(p[:, 0] + p[:, 2] / 2)

        return function

    expected = [(ranking.position_effect, lambda b: b[2]), (ranking.tie_weight, lambda b: b[3])]
    for system in range(3):
        first = by_name[f"s{system}"]
        expected.append((first.strength, lambda b, system=system: every(b)[system]))
        expected.append((first.expected_win_rate, rate(system)))
    for estimate, function in expected:
        slope = slopes(function, at)[0]
        half = quantile * np.sqrt(slope @ covariance @ slope)
        assert estimate.value == pytest.approx(function(np.array(at)), abs=1e-4)
        assert estimate.high - estimate.low == pytest.approx(2 * half, rel=2e-3)
    assert ranking.n_ties == np.sum(column == 2)
    assert ranking.n_comparisons == 120
    assert ranking.n_documents == 20


def played(scores, *, positions=None):
    """Judgements of pairs, (a, b, times a won, times b won, ties), each a document."""
    wins, a, b = [], [], []
    for score, other, won, lost, tied in scores:
        wins += [1.0] * won + [0.0] * lost + [0.5] * tied
        a += [score] * (won + lost + tied)
        b += [other] * (won + lost + tied)
    return Comparisons(
        wins=np.array(wins),
        system_a=tuple(a),
        system_b=tuple(b),
        positions=np.zeros(len(wins)) if positions is None else np.asarray(positions),
        documents=tuple(range(len(wins))),
    )


def test_ranks_of_balanced_rounds_match_tukeys_range():
    """Differences of equal error, all at once: the studentised range over sqrt(2).

    Of 3 systems and 74 degrees it is 2.39, where a single difference would need 1.99.
    """
    tukey = studentized_range.ppf(0.95, 3, 74) / np.sqrt(2)
    ties, between = set(), 0
    for n_won in range(13, 22):
        lost = 25 - n_won
        ranking = rank_systems(
            played([("x", "y", n_won, lost, 0), ("y", "z", 12, 13, 0), ("x", "z", n_won, lost, 0)]),
            rng=rng(),
        )
        systems = {system.system: system for system in ranking.systems}
        # y and z are alike, so that x's strength is two thirds of its distance to them
        error = (systems["x"].strength.high - systems["x"].strength.value) / student_t.ppf(
            0.975, 74
        )
        t = systems["x"].strength.value / error
        ours = systems["x"].worst_rank == 1
        # its distance to each has a larger error than to their mean: sqrt(4 / 3) times
        t_of_pair = t * np.sqrt(3) / 2
        if abs(t_of_pair - tukey) > 0.2:
            assert ours == (t_of_pair > tukey), n_won
            ties.add(ours)
        between += 1.99 < t_of_pair < tukey - 0.2
    assert ties == {True, False}
    assert between


@pytest.mark.parametrize(
    ("scores", "separated"),
    [
        ((9, 0, 0), True), ((0, 9, 0), True), ((9, 0, 1), False), ((0, 9, 1), False),
        ((0, 0, 9), False), ((8, 1, 0), False),
    ],
)  # fmt: skip
def test_loss_or_tie_connects_systems(scores, separated):
    ranking = rank_systems(played([("x", "y", *scores)]), rng=rng())
    assert ranking.separated == separated
    method = ranking.systems[0].strength.method
    if separated:
        assert method == "no interval: some systems never lose to the others"
    else:
        assert method.startswith("Bradley-Terry with ties (Davidson)")


@pytest.mark.parametrize(("n_documents", "has"), [(4, False), (5, True)])
def test_intervals_need_five_documents(n_documents, has):
    data = comparisons((0.5, -0.5), n_documents=n_documents)
    (first, other) = rank_systems(data, rng=rng()).systems
    assert (first.strength.low is not None) == has
    assert (other.worst_rank is not None) == has
    if not has:
        assert first.strength.method == "no interval: fewer than 5 documents"


def test_position_effect_is_identified_only_by_pairs_in_both_orders():
    """x and z always first, against y: their advantage may be the place's; with x against z too,
    the place shows."""
    two = [("x", "y", 6, 4, 0), ("z", "y", 7, 3, 0)]
    ranking = rank_systems(played(two, positions=np.ones(20)), rng=rng())
    assert ranking.position_effect.why.startswith("position and system are confounded")
    plain = rank_systems(played(two), rng=rng())
    ours = [system.strength.value for system in ranking.systems]
    assert ours == pytest.approx([system.strength.value for system in plain.systems], abs=1e-9)
    more = played([*two, ("x", "z", 6, 4, 0)], positions=np.ones(30))
    assert isinstance(rank_systems(more, rng=rng()).position_effect.value, float)


def test_no_comparisons_give_no_ranking():
    assert rank_systems(played([]), rng=rng()) == Undefined(why="no comparisons")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("wins", 0.75, "wins must be"), ("wins", 1.5, "wins must be"), ("wins", 2.0, "wins must be"),
     ("positions", 0.5, "positions must be"), ("positions", -2.0, "positions must be")],
)  # fmt: skip
def test_invalid_outcomes_or_positions_raise(name, value, message):
    by_name = {"wins": [1.0], "positions": [0.0]} | {name: [value]}
    with pytest.raises(StatisticsError, match=message):
        rank_systems(
            Comparisons(
                wins=np.array(by_name["wins"]),
                positions=np.array(by_name["positions"]),
                system_a=("a",),
                system_b=("b",),
                documents=(1,),
            ),
            rng=rng(),
        )


def test_equally_strong_systems_share_the_rank_and_sort_by_name():
    ranking = rank_systems(played([("b", "a", 5, 5, 0), ("a", "c", 8, 2, 0), ("b", "c", 8, 2, 0)]),
                         rng=rng())  # fmt: skip
    assert [(system.system, system.rank) for system in ranking.systems] == [
        ("a", 1),
        ("b", 1),
        ("c", 3),
    ]
    assert ranking.systems[0].win_rate.value == pytest.approx(13 / 20)
