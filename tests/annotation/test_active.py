"""Active draws: chances by hand, draws that nest, and intervals that hold."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from builders import make_judgement
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.annotation.active import draw, inclusion, uncertainty
from fairjudge.annotation.items import Item
from fairjudge.domain import Judgement
from fairjudge.errors import InputError

ROOT = Path(__file__).parents[2]


def item(n: int, systems: tuple[str, ...] = ("s",)) -> Item:
    return Item(eid=f"e{n}", systems=systems, aspect="coverage", unit="summary", articles=())


def judgement(n: int, value, **fields) -> Judgement:
    return make_judgement(**{"eid": f"e{n}", "protocol": "binary", "value": value} | fields)


def test_probabilities_by_hand():
    # Half of 2 labels goes evenly over 4 items, half in proportion to 1, 1, 2, 4 of 8.
    result = inclusion(np.array([1.0, 1.0, 2.0, 4.0]), 2.0, 0.5)
    assert result == pytest.approx([0.375, 0.375, 0.5, 0.75])
    # With 3 labels the last would be 1.125: it is taken for sure, and the other two labels go by
    # 3, 3, 4 (of 8ths) over the rest.
    result = inclusion(np.array([1.0, 1.0, 2.0, 4.0]), 3.0, 0.5)
    assert result == pytest.approx([0.6, 0.6, 0.8, 1.0])


@given(
    st.lists(st.floats(0, 10), min_size=1, max_size=40),
    st.floats(0.5, 45),
    st.floats(0.01, 1),
)
def test_probabilities_sum_to_the_budget_and_increase_with_it(sizes, budget, share):
    result = inclusion(np.array(sizes), budget, share)
    assert result.sum() == pytest.approx(min(budget, len(sizes)))
    assert result.max() <= 1.0
    assert result.min() > 0.0
    assert (inclusion(np.array(sizes), budget + 1, share) >= result - 1e-12).all()


def test_uncertainty_of_scores_on_a_scale():
    # p (1 - p) at p = 0.5, 0 and 0.25: 0.25, 0, 0.1875; their mean is 0.1458.
    items = [item(n) for n in range(3)]
    rows = [judgement(n, value) for n, value in enumerate((0.5, 0, 0.25))]
    result = uncertainty(items, rows)
    assert [result[f"e{n}", ("s",), "summary"] for n in range(3)] == pytest.approx(
        [0.25 / 0.4375 * 3, 0.0, 0.1875 / 0.4375 * 3]
    )


def test_uncertainty_of_binary_local_judge():
    # Supports 0.5 and 0.9: 0.25 and 0.09, whatever was answered.
    rows = [judgement(0, 1, support=[0.5]), judgement(1, 1, support=[0.9, 0.9])]
    result = list(uncertainty([item(0), item(1)], rows).values())
    assert result[0] / result[1] == pytest.approx(0.25 / 0.09)


def test_uncertainty_of_distributions():
    # Likert: the variance of 1 and 5 at a half each is 4, or 1/4 of the squared scale; of 3 and 4
    # at a half each 1/4, or 1/64. Binary words: half of 1 - (0.81 + 0.01) is 0.09 = 0.9 x 0.1.
    items = [item(0), item(1)]
    rows = [
        judgement(0, 3, protocol="likert", probabilities={"1": 0.5, "5": 0.5}),
        judgement(1, 3.5, protocol="likert", probabilities={"3": 0.5, "4": 0.5}),
    ]
    result = list(uncertainty(items, rows).values())
    assert result[0] / result[1] == pytest.approx(16.0)
    rows = [
        judgement(0, 1, probabilities={"yes": 0.9, "no": 0.1}),
        judgement(1, 1, probabilities={"yes": 0.5, "no": 0.5}),
    ]
    result = list(uncertainty(items, rows).values())
    assert result[0] / result[1] == pytest.approx(0.09 / 0.25)


def test_a_pair_whose_orders_disagree_is_most_uncertain():
    items = [item(0, ("a", "b")), item(1, ("a", "b"))]
    pair = {"system": None, "system_a": "b", "system_b": "a", "protocol": "pairwise"}
    rows = [
        judgement(0, "a", order="ab", **pair),
        judgement(0, "b", order="ba", **pair),
        judgement(1, "a", order="ab", **pair),
        judgement(1, "a", order="ba", **pair),
    ]
    result = uncertainty(items, rows)
    assert result["e0", ("a", "b"), "summary"] == 2.0
    assert result["e1", ("a", "b"), "summary"] == 0.0


def test_larger_budget_contains_the_smaller_sample():
    items = [item(n, (system,)) for n in range(100) for system in ("s", "t")]
    rows = [judgement(n, (n % 11) / 10, system=system) for n in range(100) for system in ("s", "t")]
    draws = [draw(items, rows, budget=budget, seed=5) for budget in (20, 60, 200)]
    assert set(draws[0].drawn) < set(draws[1].drawn) < set(draws[2].drawn)
    assert sum(draws[1].probabilities) == pytest.approx(60)
    # Each of the two systems gets its half.
    assert sum(draws[1].probabilities[::2]) == pytest.approx(30)
    assert draws[1].informative
    # The draw follows the chances: 60 expected, with a standard deviation below 7.
    assert 39 < len(draws[1].drawn) < 81
    assert draw(items, rows, budget=60, seed=6).drawn != draws[1].drawn


def test_controls_are_excluded_and_unjudged_items_have_mean_uncertainty():
    items = [item(n) for n in range(20)]
    result = draw(items, [judgement(0, 0.5)], budget=5, leave_out=[3])
    assert result.probabilities[3] == 0.0
    assert 3 not in result.drawn
    assert result.n_judged == 1
    assert not result.informative
    assert len({round(p, 9) for n, p in enumerate(result.probabilities) if n != 3}) == 1


def test_impossible_sample_raises():
    items = [item(n) for n in range(20)]
    with pytest.raises(InputError, match="no judgement matches"):
        draw(items, [judgement(99, 1)], budget=5)


@pytest.mark.slow
def test_intervals_from_active_samples_cover_and_are_narrower(monkeypatch):
    """Nominal 95 % over 600 runs of the benchmark's worlds: within four standard errors (3.6 %)."""
    path = ROOT / "benchmarks" / "active_labels.py"
    monkeypatch.syspath_prepend(str(path.parent))
    spec = importlib.util.spec_from_file_location("active_labels", path)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    sys.modules["active_labels"] = benchmark
    spec.loader.exec_module(benchmark)
    for world in benchmark.WORLDS:
        results = [
            benchmark.simulate(
                world,
                budget=300,
                random_share=share,
                runs=600,
                rng=np.random.default_rng(11),
            )
            for share in (1.0, 0.25)
        ]
        for result in results:
            assert result.coverage == pytest.approx(0.95, abs=0.036), world.name
            assert abs(result.error) < 0.005, world.name
        if world.name == "a fifth is hard":
            assert results[1].width < 0.9 * results[0].width
