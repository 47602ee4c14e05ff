"""Systems beside a baseline on the samples that both have."""

import json

import numpy as np
import pytest

from fairjudge.analysis.fairness_changes import change_json
from fairjudge.errors import InputError
from fairjudge.fairness.comparison import Rows, compare_with_baseline, family_size
from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.coverage_parity import contributions
from fairjudge.fairness.equal_coverage import coverage_by_value
from fairjudge.fairness.proportional import PROPORTIONAL, ShareMeasure
from fairjudge.fairness.shares import (
    Shares,
    area_under_curve,
    binary_unfairness,
    unfair_error_rates,
)


def coverage_rows(rows, *, unfair=None):
    """`rows`: eid to the coverage of a document of value a and of one of value b."""
    items = [coverage_by_value(np.array([[a], [b]]), ["a", "b"]) for a, b in rows.values()]
    return Rows(
        measures=COVERAGE,
        eids=tuple(rows),
        means={
            "equal_coverage": np.array([item.equal_coverage for item in items]),
            "r_ec": np.array(unfair or [0.0] * len(rows)),
        },
        corpus=contributions(items),
    )


def proportional_rows(rows):
    """`rows`: eid to the share of value a in the summary; half is wanted."""
    result = np.array([[share, 1.0 - share] for share in rows.values()])
    shares = Shares(values=("a", "b"), targets=np.full_like(result, 0.5), actual=result)
    return Rows(
        measures=PROPORTIONAL,
        eids=tuple(rows),
        means={
            "bur": binary_unfairness(shares).astype(float),
            "uer": unfair_error_rates(shares),
            "auc": area_under_curve(shares),
        },
        corpus=shares,
    )


def by_measure(changes):
    return {change.measure.key: change for change in changes}


def test_coverage_changes_by_hand():
    base = coverage_rows({"1": (0.8, 0.4), "2": (0.6, 0.4), "3": (0.9, 0.1)}, unfair=[1, 0, 1])
    other = coverage_rows({"2": (0.5, 0.5), "1": (0.4, 0.6), "4": (1.0, 0.0)}, unfair=[0, 0, 1])
    result = by_measure(compare_with_baseline([{"m": base, "m+x": other}], baseline="m"))
    # on samples 1 and 2: EC .2, .1 become .1, 0; both of R_EC's verdicts become fair
    equal = result["equal_coverage"]
    assert (equal.n, equal.n_unpaired) == (2, 2)
    assert equal.baseline == pytest.approx(0.15)
    assert equal.variant == pytest.approx(0.05)
    assert equal.difference.value == pytest.approx(-0.1)
    assert equal.difference.method == "no interval: fewer than 5 samples"
    # swapping none or both of the samples gives a size of .1, swapping one 0: 2 of 4 ways
    assert equal.difference.p_value == pytest.approx(0.5)
    assert equal.relative == pytest.approx(-2 / 3)
    assert result["r_ec"].difference.value == pytest.approx(-0.5)
    # C_a = (.2, .1), C_b = (-.2, -.1): CP .15; then C_a = (-.1, 0), C_b = (.1, 0): .05
    assert result["coverage_parity"].baseline == pytest.approx(0.15)
    assert result["coverage_parity"].variant == pytest.approx(0.05)


def test_proportional_changes_by_hand():
    base = proportional_rows({"1": 0.9, "2": 0.5})
    other = proportional_rows({"1": 0.7, "2": 0.5})
    result = by_measure(compare_with_baseline([{"m": base, "m+x": other}], baseline="m"))
    # b has .1 of .5, then .3 of .5: below .8 of it both times; UER .4 / 2, then .2 / 2
    assert result["bur"].difference.value == 0.0
    assert result["uer"].difference.value == pytest.approx((0.1 - 0.2) / 2)
    assert result["auc"].difference.value == pytest.approx((0.4 - 0.8) / 2)
    # SOF: shortfalls average (0, .2), spread .1; then (0, .1), spread .05
    assert result["sof"].difference.value == pytest.approx(-0.05)
    assert result["bur"].relative == 0.0


def test_corrections_cover_all_variants_and_measures():
    rng = np.random.default_rng(0)
    draw = rng.uniform(0.2, 0.8, 40)
    base = proportional_rows({str(i): share for i, share in enumerate(draw)})
    fairer = proportional_rows({str(i): 0.5 + (x - 0.5) / 4 for i, x in enumerate(draw)})
    same = proportional_rows({str(i): share for i, share in enumerate(draw)})
    result = compare_with_baseline([{"m": base, "fairer": fairer, "same": same}], baseline="m")
    assert family_size(result) == 8
    by_name = {(c.variant_name, c.measure.key): c for c in result}
    # the least p-value of 2,000 random swaps
    assert by_name["fairer", "uer"].p_holm == pytest.approx(8 / 2001)
    assert by_name["fairer", "uer"].difference.high < 0
    assert by_name["same", "uer"].difference.p_value == 1.0
    assert by_name["same", "uer"].q_value == 1.0
    alone = compare_with_baseline([{"m": base, "fairer": fairer}], baseline="m")
    assert by_measure(alone)["uer"].difference == by_name["fairer", "uer"].difference


def test_paired_test_detects_changes_hidden_by_unpaired_intervals():
    rng = np.random.default_rng(1)
    hard = rng.uniform(0.0, 0.4, 60)
    base = proportional_rows({str(i): 0.5 + x for i, x in enumerate(hard)})
    other = proportional_rows({str(i): 0.5 + max(0.0, x - 0.02) for i, x in enumerate(hard)})
    result = by_measure(compare_with_baseline([{"m": base, "n": other}], baseline="m"))["uer"]
    # the shortfall falls by .02 / 2 where it can; its own interval over samples is far wider
    assert result.difference.value == pytest.approx(-0.01, abs=0.001)
    assert result.difference.high < -0.009


def test_incomparable_reports_raise():
    base = proportional_rows({"1": 0.9})
    with pytest.raises(InputError, match="no system is called 'q'; there are: m"):
        compare_with_baseline([{"m": base}], baseline="q")
    with pytest.raises(InputError, match="nothing to compare"):
        compare_with_baseline([{"m": base}], baseline="m")
    apart = proportional_rows({"2": 0.9})
    result = by_measure(compare_with_baseline([{"m": base, "n": apart}], baseline="m"))["bur"]
    assert (result.n, result.n_unpaired, result.baseline, result.relative) == (0, 2, None, None)
    assert "no sample that both" in result.difference.why
    first = by_measure(compare_with_baseline([{"m": base, "n": base}], baseline="m"))["uer"]
    assert first.difference.low is None
    assert first.p_holm is None


def six(share):
    """Six samples with shares of value a that fall from `share` by a hundredth."""
    return proportional_rows({str(i): share - i / 100 for i in range(6)})


def test_measure_without_value_has_a_reason():
    def share_of_b(shares, counts):
        """The mean share of b, which has no value below a half."""
        mean = counts @ shares.actual[:, 1] / counts.sum(axis=1)
        return np.where(mean > 0.5, mean, np.nan)

    rows = {"a": six(0.9), "b": six(0.1), "even": six(0.45)}
    with PROPORTIONAL.adding(ShareMeasure(key="toy", label="T", corpus_formula=share_of_b)):
        changes = compare_with_baseline([rows], baseline="a")
        from_b = compare_with_baseline([rows], baseline="b")
    first = next(change for change in changes if change.measure.key == "toy")
    assert (first.baseline, first.variant) == (None, pytest.approx(0.925))
    assert (first.relative, first.p_holm) == (None, None)
    assert first.difference.why == "the statistic has no value on these data"
    json.dumps([change_json(change) for change in (*changes, *from_b)], allow_nan=False)


def test_swaps_without_a_value_count_as_extreme():
    def number_of_a(shares, counts):
        """The summaries with most of a, where these are all or none."""
        n = counts @ (shares.actual[:, 0] > 0.5)
        return np.where((n == 0.0) | (n == 6.0), n, np.nan)

    with PROPORTIONAL.adding(ShareMeasure(key="toy", label="T", corpus_formula=number_of_a)):
        change = by_measure(compare_with_baseline([{"m": six(0.9), "n": six(0.2)}], baseline="m"))
    assert (change["toy"].baseline, change["toy"].variant) == (6.0, 0.0)
    # 2 of the 64 swaps keep all or none; the others have no value
    assert change["toy"].difference.p_value == 1.0


def test_p_values_are_uniform_if_nothing_changed():
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(200):
        first, other = rng.uniform(0.1, 0.9, (2, 8))
        rows = [
            proportional_rows({str(i): x for i, x in enumerate(draw)}) for draw in (first, other)
        ]
        result = compare_with_baseline([dict(zip("mn", rows, strict=True))], baseline="m")
        p_values.append({name: c.difference.p_value for name, c in by_measure(result).items()})
    # 8 samples: all 256 ways; 200 draws of a uniform p: 5 % within 3 standard errors of 1.5 %
    for measure in ("uer", "sof"):
        rejected = np.mean([p[measure] <= 0.05 for p in p_values])
        assert rejected <= 0.05 + 3 * 0.0154
        # not far below uniform either; ties, which SOF has many of, push p-values up
        assert np.mean([p[measure] for p in p_values]) > 0.45
    assert np.mean([p["uer"] for p in p_values]) < 0.55
