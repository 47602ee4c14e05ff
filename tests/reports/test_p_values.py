"""P-values as text: those that more resamples could lower are bounds, in each format."""

from __future__ import annotations

import numpy as np
import pytest

from fairjudge.domain import Estimate
from fairjudge.records.results import figure
from fairjudge.reports.figures import equals_p, holm, p_value
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import to_csv, to_latex, to_markdown, to_text
from fairjudge.stats.multiplicity import holm as holm_adjusted
from fairjudge.stats.resampling import Resampling


def bootstrapped(values, n_resamples):
    resampling = Resampling(rng=np.random.default_rng(1), n_resamples=n_resamples)
    return resampling.mean(values, null=0.0)


@pytest.mark.parametrize(
    ("n_resamples", "text"),
    # Every resample of values above 0 is above 0: p = 2 / (B + 1), however far above.
    [(600, "<= 0.003"), (199, "<= 0.010"), (9999, "< 0.001")],
)
def test_p_value_at_the_resampling_floor_is_an_upper_bound(n_resamples, text):
    result = bootstrapped([4.0, 5.0, 6.0, 7.0, 8.0, 9.0], n_resamples)
    assert result.p_value == result.p_floor == pytest.approx(2 / (n_resamples + 1))
    assert p_value(figure(result)) == text
    assert "p<=" in repr(result)


def test_p_value_above_the_floor_is_a_number():
    result = bootstrapped([-1.0, 2.0, -3.0, 4.0, -5.0, 6.0], 200)
    assert result.p_value > result.p_floor
    assert p_value(figure(result)) == f"{result.p_value:.3f}"
    assert "p=" in repr(result)


def test_corrected_p_value_is_a_bound_if_its_test_is_at_the_floor():
    """Holm of 0.01 among three tests is 0.03; a smaller first p-value would give a smaller one."""
    tests = {"value": 1.0, "p_value": 0.01, "p_floor": 0.01}
    adjusted = holm_adjusted([0.01, 0.4, 0.5])[0]
    assert holm(tests | {"p_holm": adjusted}) == "<= 0.030"
    assert p_value(0.4, {"p_value": 0.2, "p_floor": 0.01}) == "0.400"
    assert p_value(None, tests) == "-"


def test_exact_tests_and_files_of_earlier_versions_have_no_floor():
    exact = Estimate(value=1.0, n=3, p_value=0.25)
    assert "p_floor" not in figure(exact)
    assert p_value(figure(exact)) == "0.250"
    assert p_value({"value": 1.0, "p_value": 0.004}) == "0.004"


@pytest.mark.parametrize(
    ("write", "cell"),
    [
        (to_text, "<= 0.010"),
        (to_markdown, "&lt;= 0.010"),
        (to_latex, r"\textless{}= 0.010"),
        (to_csv, "<= 0.010"),
    ],
)
def test_every_format_marks_bounds(write, cell):
    result = figure(bootstrapped([4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 199))
    assert cell in write(
        table("t", "system: {system} | p> {gap:p}", [{"system": "a", "gap": result}])
    )


def test_p_value_in_a_sentence():
    assert [equals_p(p) for p in ("<= 0.010", "< 0.001", "0.200")] == [
        "p <= 0.010", "p < 0.001", "p = 0.200"
    ]  # fmt: skip
