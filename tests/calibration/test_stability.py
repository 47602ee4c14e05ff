"""Flips, spread and the parts of the variance: by hand, planted, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from fairjudge.calibration.stability import RepeatedJudgements, stability
from fairjudge.domain import Estimate, Undefined


def measure(values, items, variants=None, documents=None):
    return stability(
        RepeatedJudgements(
            values=np.asarray(values, dtype=float),
            items=items,
            variants=["one"] * len(values) if variants is None else variants,
            documents=items if documents is None else documents,
        ),
        rng=np.random.default_rng(0),
        n_resamples=300,
    )


def judgements(item, variant, mixed, repeat, *, n_items=300, n_variants=3, n_repeats=3):
    """Draw judgements whose parts have these variances."""
    rng = np.random.default_rng(0)
    i, v, _ = np.meshgrid(range(n_items), range(n_variants), range(n_repeats), indexing="ij")
    levels = np.sqrt(variant) * np.linspace(-1, 1, n_variants)
    values = (
        np.sqrt(item) * rng.normal(size=n_items)[i]
        + levels[v]
        + np.sqrt(mixed) * rng.normal(size=(n_items, n_variants))[i, v]
        + np.sqrt(repeat) * rng.normal(size=i.shape)
    )
    return (
        values.ravel(), i.ravel().tolist(), v.ravel().tolist(), (i.ravel() // 3).tolist()
    )  # fmt: skip


def test_flips_and_spread_by_hand():
    """4 4 5: two pairs of three differ, variance 1/3; 2 2: none, 0; 1 3: all, 2.

    Flips (2/3 + 0 + 1) / 3 = 5/9; spread sqrt((1/3 + 0 + 2) / 3) = sqrt(7/9); one of three alike.
    """
    result = measure([4, 4, 5, 2, 2, 1, 3], ["a", "a", "a", "b", "b", "c", "c"])
    assert result.flips.value == pytest.approx(5 / 9)
    assert result.spread.value == pytest.approx(np.sqrt(7 / 9))
    assert result.unanimous.value == pytest.approx(1 / 3)
    assert result.n_repeated_items == 3
    assert isinstance(result.flips_between_variants, Undefined)


def test_flips_between_prompts_by_hand():
    """Item a: 1 against 1 and 2, half of the pairs differ; item b: 3 against 3, none."""
    result = measure([1, 1, 2, 3, 3], ["a", "a", "a", "b", "b"], ["p", "q", "q", "p", "q"])
    assert result.flips_between_variants.value == pytest.approx(0.25)
    assert result.flips.value == 1.0
    assert result.variants == ("p", "q")


def test_variance_components_are_recovered():
    """Planted 1.0, 0.5 (levels -s, 0, s: variance s^2), 0.3 and 0.2, of 2.0 in all."""
    result = measure(*judgements(1.0, 0.5, 0.3, 0.2))
    truth = {"item": 0.5, "variant": 0.25, "item_by_variant": 0.15, "repeat": 0.1}
    for name, share in truth.items():
        first = result.shares[name]
        assert first.low <= share <= first.high
        assert first.value == pytest.approx(share, abs=0.05)


def test_one_prompt_has_only_item_and_repeat_variance():
    """Variances 1 and 1: half each; three repeats are worth 2 / (1 + 1/3) = 1.5 items."""
    result = measure(*judgements(1.0, 0.0, 0.0, 1.0, n_variants=1, n_items=900))
    assert result.shares["item"].value == pytest.approx(0.5, abs=0.05)
    assert result.shares["repeat"].value == pytest.approx(0.5, abs=0.05)
    assert isinstance(result.shares["variant"], Undefined)
    three = result.worth[2]
    assert three.repeats == 3
    assert three.as_many_items == pytest.approx(1.5, abs=0.06)
    assert three.width == pytest.approx(1 / np.sqrt(1.5), abs=0.02)


def test_prompts_without_repeats_have_no_repeat_variance():
    result = measure(*judgements(1.0, 0.5, 0.5, 0.0, n_repeats=1))
    assert isinstance(result.flips, Undefined)
    assert isinstance(result.shares["repeat"], Undefined)
    assert isinstance(result.worth, Undefined)
    assert result.shares["item"].value == pytest.approx(0.5, abs=0.06)


def test_stable_judge_has_0_flips_and_a_positive_upper_bound():
    values = np.repeat([1, 2, 3, 4, 5] * 8, 3)
    result = measure(values, np.repeat(np.arange(40), 3).tolist())
    assert result.flips.value == 0.0
    assert result.flips.high > 0.0
    assert result.unanimous.value == 1.0
    assert result.shares["item"].value == pytest.approx(1.0)
    assert [item.width for item in result.worth] == [1.0] * 5


def test_items_judged_once_give_no_stability():
    assert measure([1, 2], ["a", "b"]) == Undefined(why="no item was judged more than once")


def mean_squares(values):
    """Return the parts of a table (items, prompts, repeats) by the textbook's mean squares.

    Searle, Casella and McCulloch (1992), section 4.5: expected mean squares of a balanced two-way
    crossed classification, solved for item, prompt, both and repeat.
    """
    a, b, r = values.shape
    cells, rows, columns = values.mean(2), values.mean((1, 2)), values.mean((0, 2))
    mean = values.mean()
    of_items = b * r * np.sum((rows - mean) ** 2) / (a - 1)
    of_prompts = a * r * np.sum((columns - mean) ** 2) / (b - 1)
    interaction = cells - rows[:, None] - columns[None, :] + mean
    of_both = r * np.sum(interaction**2) / ((a - 1) * (b - 1))
    within = np.sum((values - cells[:, :, None]) ** 2) / (a * b * (r - 1))
    return np.array([
        (of_items - of_both) / (b * r), (of_prompts - of_both) / (a * r),
        (of_both - within) / r, within,
    ])  # fmt: skip


def test_variance_components_and_repeat_gain_match_mean_squares():
    """Worth of k repeats: items and both stay, the repeats' variance is divided by k."""
    flat, items, variants, documents = judgements(1.0, 0.5, 0.4, 0.6, n_items=12, n_variants=4)
    parts = mean_squares(flat.reshape(12, 4, 3))
    assert parts.min() > 0.0
    result = measure(flat, items, variants, documents)
    shares = [
        result.shares[name].value for name in ("item", "variant", "item_by_variant", "repeat")
    ]
    assert shares == pytest.approx(parts / parts.sum())
    once = parts[0] + parts[2] + parts[3]
    for worth, k in zip(result.worth, (1, 2, 3, 5, 10), strict=True):
        often = parts[0] + parts[2] + parts[3] / k
        assert worth.repeats == k
        assert worth.as_many_items == pytest.approx(once / often)
        assert worth.width == pytest.approx(np.sqrt(often / once))
    assert (result.n_judgements, result.n_items, result.n_repeated_items) == (144, 12, 12)
    assert result.n_documents == 4
    assert {share.n for share in result.shares.values()} == {12}


def test_unequal_repeats_of_one_prompt_are_weighted_by_number():
    """Items 0 2, 5, 9 9 12: within 2 + 0 + 6 on 1 + 0 + 2 degrees: 8/3. Means 1, 5, 10, their
    variance 61/3; less 8/3 times the mean of 1/2, 1 and 1/3 (11/18): 61/3 - 44/27."""
    result = measure([0, 2, 5, 9, 9, 12], ["a", "a", "b", "c", "c", "c"])
    item, repeat = 61 / 3 - 44 / 27, 8 / 3
    assert result.shares["item"].value == pytest.approx(item / (item + repeat))
    assert result.shares["repeat"].value == pytest.approx(repeat / (item + repeat))
    assert result.worth[1].as_many_items == pytest.approx((item + repeat) / (item + repeat / 2))


def test_shares_have_intervals_over_documents():
    """Items of one document alike: 20 documents of 5 items say little more than 20 items."""
    rng = np.random.default_rng(5)
    base = rng.normal(size=20)
    values = np.repeat(np.repeat(base, 5), 2) + 0.7 * rng.normal(size=200)
    items = np.repeat(np.arange(100), 2).tolist()
    wide = measure(values, items, documents=np.repeat(np.arange(20), 10).tolist())
    narrow = measure(values, items)
    wide, narrow = wide.shares["item"], narrow.shares["item"]
    assert wide.value == pytest.approx(narrow.value)
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)


def test_interval_of_spread_uses_student_t_on_variances():
    """Variances of six items, each a document of its own: 2, 0, 8, 0.5, 4.5 and 2."""
    pairs = [(1, 3), (2, 2), (1, 5), (3, 4), (2, 5), (4, 2)]
    result = measure(
        np.ravel(pairs), np.repeat(list("abcdef"), 2).tolist(), documents=np.repeat(range(6), 2)
    )
    variances = [np.var(pair, ddof=1) for pair in pairs]
    low, high = scipy_stats.t.interval(
        0.95, 5, loc=np.mean(variances), scale=scipy_stats.sem(variances)
    )
    assert result.spread.value == pytest.approx(np.sqrt(np.mean(variances)))
    assert result.spread.low == pytest.approx(np.sqrt(max(low, 0.0)))
    assert result.spread.high == pytest.approx(np.sqrt(high))
    assert result.spread.method.endswith("of the variance")


def test_interval_of_spread_starts_at_0_if_it_may_be_0():
    result = measure([1, 1, 2, 2, 3, 3, 1, 5], ["a", "a", "b", "b", "c", "c", "d", "d"])
    assert result.spread.low == 0.0
    assert result.flips.value == 0.25


def test_one_item_under_two_prompts_has_no_variance_components():
    result = measure([1, 2], ["a", "a"], ["p", "q"])
    assert result.flips_between_variants.value == 1.0
    assert isinstance(result.flips, Undefined)
    assert isinstance(result.unanimous, Undefined)
    assert isinstance(result.spread, Undefined)
    why = "fewer than 2 items were judged under every prompt"
    assert result.shares == dict.fromkeys(result.shares, Undefined(why=why))
    assert result.worth == Undefined(why=why)


def test_items_without_every_prompt_are_excluded_from_components():
    """c was judged by p alone: the shares are those of a, b and d."""
    rows = [("a", "p", 1), ("a", "q", 2), ("b", "p", 4), ("b", "q", 6), ("d", "p", 2),
            ("d", "q", 2)]  # fmt: skip

    def shares(rows):
        items, variants, values = zip(*rows, strict=True)
        return measure(values, list(items), list(variants)).shares

    every, items = shares([*rows, ("c", "p", 99)]), shares(rows)
    assert every["item"].value == items["item"].value
    assert every["item"].n == 3


def test_flips_between_prompts_are_averaged_over_pairs_of_prompts():
    """Three prompts say 1, 1 and 2: one of three pairs is alike; the other item's all are."""
    result = measure(
        [1, 1, 2, 3, 3, 3], ["a"] * 3 + ["b"] * 3, ["p", "q", "r"] * 2
    ).flips_between_variants
    assert result.value == pytest.approx((2 / 3 + 0) / 2)
    assert result.n == 2


def test_equal_judgements_give_no_repeat_gain():
    result = measure([3, 3, 3, 3], ["a", "a", "b", "b"])
    assert result.worth == Undefined(why="all judgements are alike")


def test_two_prompts_are_enough_for_prompt_variance():
    result = measure(*judgements(1.0, 0.5, 0.5, 0.5, n_variants=2))
    assert isinstance(result.shares["variant"], Estimate)
    assert isinstance(result.shares["item_by_variant"], Estimate)
