"""What pairs are measured by: against the kappa of `stats`, by hand, and what names must not do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.aligning.decision import PairedScores, decide, gain_of, why_barred
from fairjudge.aligning.measures import (
    PAIRS,
    fit_pairs,
    pair_agreement,
    pair_statistic,
    preferred_share,
)
from fairjudge.calibration.calibrators import Calibrator
from fairjudge.domain import Undefined
from fairjudge.stats.agreement import cohen_kappa

JUDGED, PEOPLE = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), st.sampled_from([-1.0, 0.0, 1.0])
ROWS = st.lists(st.tuples(JUDGED, PEOPLE, st.booleans()), min_size=1, max_size=40)


def arrays(rows):
    return [np.array(column, dtype=float) for column in list(zip(*rows, strict=True))[:2]]


@given(ROWS)
def test_agreement_is_quadratic_kappa_of_pairs_in_both_orders(rows):
    judged, human = arrays(rows)
    result = pair_agreement(judged, human)
    if not human.any():
        assert isinstance(result, Undefined)
        return
    kappa = cohen_kappa(np.r_[judged, -judged], np.r_[human, -human], weights="quadratic")
    assert result == pytest.approx(kappa)


@given(ROWS)
def test_agreement_does_not_depend_on_the_order_of_system_names(rows):
    judged, human = arrays(rows)
    turn = np.where([row[2] for row in rows], -1.0, 1.0)
    forth, back = pair_agreement(judged, human), pair_agreement(turn * judged, turn * human)
    assert isinstance(forth, Undefined) == isinstance(back, Undefined)
    if not isinstance(forth, Undefined):
        assert forth == pytest.approx(back)
        assert -1.0 <= forth <= 1.0


def test_position_only_judge_has_zero_agreement_and_ties_count_half():
    human = np.array([1.0, -1.0, 1.0, 0.0])
    assert pair_agreement(np.zeros(4), human) == 0.0
    assert pair_agreement(human, human) == 1.0
    assert pair_agreement(-human, human) == -1.0
    assert pair_agreement(0.5 * human, human) == pytest.approx(2 * 1.5 / (0.75 + 3))


def test_resample_equals_statistic_of_repeated_rows():
    rng = np.random.default_rng(0)
    judged, human = rng.choice([-1, 0, 0.5, 1.0], 24), rng.choice([-1, 0, 1.0], 24)
    documents = [f"d{i // 4}" for i in range(24)]
    counts = np.array([[2.0, 0, 1, 0, 3, 1]])
    rows = np.repeat(np.arange(24), np.repeat(counts[0].astype(int), 4))
    result = pair_statistic(judged, human, documents)(counts)[0]
    assert result == pytest.approx(pair_agreement(judged[rows], human[rows]))


def test_probabilities_of_both_sides_of_a_pair_sum_to_one():
    rng = np.random.default_rng(1)
    human = rng.choice([-1, 0, 1.0], 200, p=[0.6, 0.1, 0.3])
    judged = np.where(rng.random(200) < 0.7, human, rng.choice([-1, -0.5, 0, 0.5, 1], 200))
    result = fit_pairs(judged, human)
    assert isinstance(result, Calibrator)
    assert result.n_labels == 200
    values = np.array([-1, -0.5, 0.0, 0.5, 1.0])
    np.testing.assert_allclose(result(values) + result(-values), 1.0)
    assert result([0.0])[0] == pytest.approx(0.5)
    wins = np.r_[preferred_share(human[judged == 1]), 1 - preferred_share(human[judged == -1])]
    assert result([1.0])[0] == pytest.approx(wins.mean())


def test_pair_calibrator_needs_30_pairs_and_maps_ties_to_one_half():
    few = fit_pairs(np.ones(29), np.ones(29))
    assert isinstance(few, Undefined)
    assert "29 labelled items" in few.why
    ties = fit_pairs(np.zeros(30), np.ones(30))
    assert isinstance(ties, Calibrator)
    assert ties([0.0, 1.0]).tolist() == [0.5, 0.5]


def paired_scores(
    seed: int, *, old: float, new: float, start: int = 0, n: int = 200
) -> PairedScores:
    """Preferences, and two judges that name them with such chances, else a side at random."""
    rng = np.random.default_rng(seed)
    human = rng.choice([-1, 0, 1.0], n)
    sides = [
        np.where(rng.random(n) < chance, human, rng.choice([-1, 0, 1.0], n))
        for chance in (old, new)
    ]
    return paired(*sides, human, start=start)


def paired(old, new, human, *, start: int = 0) -> PairedScores:
    return PairedScores(
        old=old,
        new=new,
        human=human,
        documents=[f"d{start + i // 4}" for i in range(human.size)],
        n_labelled=human.size,
        n_without_old=0,
        n_without_new=0,
        measure=PAIRS,
    )


def decided(development: PairedScores, test: PairedScores):
    return decide(development, test, rng=np.random.default_rng(0))


def test_better_pair_judge_is_kept_with_brier_score_by_hand():
    development, test = (
        paired_scores(1, old=0.2, new=0.9),
        paired_scores(2, old=0.2, new=0.9, start=500),
    )
    result = decided(development, test)
    assert result.kept
    gain = gain_of(test)
    assert result.agreement.value == pytest.approx(gain.new - gain.old)
    by_hand = [
        float(np.mean((fit_pairs(before, development.human)(side) - (test.human + 1) / 2) ** 2))
        for before, side in ((development.old, test.old), (development.new, test.new))
    ]
    assert result.errors == pytest.approx(tuple(by_hand))
    assert result.error.value == pytest.approx(by_hand[0] - by_hand[1])


def test_gain_of_calibration_alone_is_not_kept():
    """A tie in one order halves every preference: what is known of people stays the same."""
    development, test = (
        paired_scores(3, old=0.6, new=0.6),
        paired_scores(4, old=0.6, new=0.6, start=500),
    )
    development = paired(0.5 * development.old, development.old, development.human)
    test = paired(0.5 * test.old, test.old, test.human, start=500)
    result = decided(development, test)
    assert result.agreement.low is not None
    assert result.error.value == pytest.approx(0.0)
    assert not result.kept


def test_position_only_judge_excludes_no_candidate():
    first = paired_scores(5, old=0.5, new=0.9)
    assert why_barred(paired(np.zeros(200), first.new, first.human)) is None
    assert gain_of(paired(np.zeros(200), first.new, first.human)).old == 0.0
