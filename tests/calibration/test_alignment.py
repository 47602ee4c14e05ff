"""Splitting, choosing and deciding on a new prompt: by hand, and what must hold of any data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairjudge.aligning import decision as alignment
from fairjudge.aligning.decision import (
    MIN_DOCUMENTS,
    Gain,
    PairedScores,
    check_enough,
    choose,
    decide,
    fit_both,
    gain_of,
    split_documents,
    spread_over,
    why_barred,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import InputError, StatisticsError


def paired(old, new, human, *, documents=None, start=0, lost_old=0, lost_new=0) -> PairedScores:
    n = len(human)
    return PairedScores(
        old=np.array(old, dtype=float),
        new=np.array(new, dtype=float),
        human=np.array(human, dtype=float),
        documents=documents or [f"d{start + i // 2}" for i in range(n)],
        n_labelled=n + max(lost_old, lost_new),
        n_without_old=lost_old,
        n_without_new=lost_new,
    )


def paired_scores(
    seed: int, n: int = 120, *, old: float = 1.0, new: float = 1.0, start=0
) -> PairedScores:
    """Labels, and two judges with noise of such sizes."""
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, size=n)
    judged = [np.round(human + size * rng.normal(size=n)) for size in (old, new)]
    return paired(*judged, human, start=start)


def decided(development: PairedScores, test: PairedScores):
    return decide(development, test, rng=np.random.default_rng(0))


@given(
    st.sets(st.text(max_size=6), min_size=MIN_DOCUMENTS, max_size=80),
    st.integers(),
    st.randoms(use_true_random=False),
)
def test_parts_share_no_document_and_ignore_document_order(names, seed, random):
    parts = split_documents(names, seed=seed)
    every = [*parts["examples"], *parts["development"], *parts["test"]]
    assert sorted(every) == sorted(names)
    assert len(parts["examples"]) >= 5
    assert min(len(parts["development"]), len(parts["test"])) >= 10
    mixed = list(names)
    random.shuffle(mixed)
    assert split_documents([*mixed, *mixed], seed=seed) == parts


def test_each_seed_gives_a_different_split():
    names = [f"d{n}" for n in range(40)]
    assert split_documents(names, seed=1) != split_documents(names, seed=2)


def test_too_few_documents_or_items_report_the_required_number():
    names = [f"d{n}" for n in range(MIN_DOCUMENTS)]
    split_documents(names, seed=0)
    with pytest.raises(InputError, match="24 labelled documents: align needs 25 or more"):
        split_documents(names[1:], seed=0)
    check_enough(30)
    with pytest.raises(InputError, match="29 labelled items: align needs 30"):
        check_enough(29)


def test_the_gain_is_the_difference_of_tau_b():
    first = paired_scores(3)
    result = gain_of(first)
    old, new = (stats.kendalltau(side, first.human).statistic for side in (first.old, first.new))
    assert result.old == pytest.approx(old)
    assert result.new == pytest.approx(new)
    assert result.difference == pytest.approx(new - old)


def test_a_constant_judge_has_no_gain():
    result = gain_of(paired([3, 3, 3, 3], [1, 2, 3, 4], [1, 2, 3, 4]))
    assert (result.old, result.new, result.difference) == (None, 1.0, None)


def gain(difference: float | None) -> Gain:
    return Gain(
        n_items=9, n_without_old=0, n_without_new=0, old=0.0, new=0.0, difference=difference
    )


@pytest.mark.parametrize(
    ("gains", "chosen"),
    [
        ({"a": 0.1, "b": 0.3, "c": 0.2}, "b"),
        ({"a": 0.2, "b": 0.2}, "a"),
        ({"a": None, "b": 0.01}, "b"),
        ({"a": 0.0}, None),
        ({"a": -0.1, "b": None}, None),
        ({}, None),
    ],
)
def test_candidate_with_largest_gain_is_chosen_or_none_without_gain(gains, chosen):
    assert choose({name: gain(value) for name, value in gains.items()}) == chosen


def test_candidates_with_more_unscored_or_no_calibrator_are_excluded():
    human = [1, 2, 3, 4, 5] * 8
    assert why_barred(paired(human, human, human, lost_new=2)) is None  # 2 of 42: 4.8 %
    assert why_barred(paired(human, human, human, lost_new=3)).startswith("it leaves 7 % more")
    assert why_barred(paired(human, human, human, lost_old=9, lost_new=9)) is None
    few = paired(human[:29], human[:29], human[:29])
    assert "29 labelled items" in why_barred(few)
    constant = paired(human, [3] * 40, human)
    assert "the new prompt cannot be calibrated" in why_barred(constant)


def test_better_prompt_is_kept_with_results_by_hand():
    development, test = (
        paired_scores(1, old=1.5, new=0.3),
        paired_scores(2, old=1.5, new=0.3, start=500),
    )
    result = decided(development, test)
    assert result.kept
    assert result.why_not == ()
    old, new = fit_both(development)
    errors = [
        float(np.mean((mapping(side) - test.human) ** 2))
        for mapping, side in ((old, test.old), (new, test.new))
    ]
    assert result.errors == pytest.approx(tuple(errors))
    assert result.error.value == pytest.approx(errors[0] - errors[1])
    assert result.agreement.value == pytest.approx(result.gain.difference)
    assert result.error.low > 0
    assert result.agreement.low > 0


def test_gain_of_calibration_alone_is_not_kept():
    """A prompt that only shifts and stretches the old one's ratings agrees no better."""
    development, test = paired_scores(1), paired_scores(2, start=500)
    development = paired(development.old, 2 * development.old + 1, development.human)
    test = paired(test.old, 2 * test.old + 1, test.human, start=500)
    result = decided(development, test)
    assert not result.kept
    assert result.agreement.value == pytest.approx(0.0)
    assert result.error.value == pytest.approx(0.0)
    assert len(result.why_not) == 2


def test_the_same_prompt_is_never_kept():
    first, other = paired_scores(1), paired_scores(2, start=500)
    same = decided(
        paired(first.old, first.old, first.human), paired(*[other.old] * 2, other.human, start=500)
    )
    assert not same.kept


@pytest.mark.parametrize("seed", range(3))
def test_swapping_old_and_new_negates_every_gain(seed):
    development, test = paired_scores(seed), paired_scores(seed + 10, start=500)
    forth = decided(development, test)
    turned = [
        paired(scores.new, scores.old, scores.human, start=start)
        for scores, start in ((development, 0), (test, 500))
    ]
    back = decided(*turned)
    for name in ("agreement", "error"):
        figure, other = getattr(forth, name), getattr(back, name)
        assert figure.value == pytest.approx(-other.value)
        assert (figure.low, figure.high) == pytest.approx((-other.high, -other.low))
    assert not (forth.kept and back.kept)


def interval(low: float | None) -> Estimate:
    high = None if low is None else 1.0
    return Estimate(value=0.5, low=low, high=high, n=9, method="m", level=0.95)


@pytest.mark.parametrize(
    ("agreement", "error", "missed"),
    [
        (interval(0.01), interval(0.01), 0),
        (interval(0.0), interval(0.01), 1),
        (interval(0.01), interval(0.0), 1),
        (interval(-0.1), interval(-0.1), 2),
        (interval(None), interval(0.01), 1),
        (interval(0.01), Undefined(why="none"), 1),
        (Undefined(why="none"), interval(0.01), 1),
    ],
)
def test_both_intervals_must_lie_above_0(monkeypatch, agreement, error, missed):
    monkeypatch.setattr(alignment, "bootstrap_many", lambda *_given, **_more: (agreement, error))
    result = decided(paired_scores(1), paired_scores(2, start=500))
    assert (result.kept, len(result.why_not)) == (missed == 0, missed)


def test_prompt_with_more_unscored_test_items_is_not_kept():
    development, test = (
        paired_scores(1, old=1.5, new=0.3),
        paired_scores(2, old=1.5, new=0.3, start=500),
    )
    lost = paired(test.old, test.new, test.human, start=500, lost_new=30)
    result = decided(development, lost)
    assert not result.kept
    assert result.why_not == ("it leaves 20 % more of the test unscored",)


def test_document_in_both_parts_raises():
    with pytest.raises(StatisticsError, match="in development and in the test"):
        decided(paired_scores(1), paired_scores(2))


def test_undecidable_comparison_reports_the_reason():
    development = paired_scores(1)
    alone = paired([1, 2], [1, 2], [1, 2], documents=["x", "x"])
    result = decided(development, alone)
    assert not result.kept
    assert isinstance(result.agreement, Undefined)
    assert result.why_not == ("fewer than 2 documents of the test were scored by both prompts",)
    constant = paired([3] * 40, [1, 2] * 20, [1, 2] * 20, start=500)
    assert "are constant" in decided(development, constant).why_not[0]
    assert isinstance(decided(development, paired_scores(2, start=500)).agreement, Estimate)


@given(
    st.lists(st.floats(1, 5), min_size=1, max_size=12),
    st.integers(0, 15),
    st.randoms(use_true_random=False),
)
def test_sampled_positions_are_distinct_ordered_and_span_the_values(values, n, random):
    preferred = [random.random() < 0.5 for _ in values]
    places = spread_over(values, n, is_preferred=preferred)
    assert len(set(places)) == len(places) == min(n, len(values))
    sample = [values[place] for place in places]
    assert sample == sorted(sample)
    if n > 1 and len(values) > 1:
        assert min(values) in sample
        assert max(values) in sample


def test_items_with_notes_are_preferred_among_equal_values():
    places = spread_over([1, 1, 3, 5, 5], 2, is_preferred=[False, True, True, False, True])
    assert places == (1, 4)
