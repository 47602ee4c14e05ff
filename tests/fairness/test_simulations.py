"""Do intervals of fairness measures hold the truth, and do tests err, as often as they say.

Truths come from populations of many thousands of summaries, drawn in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from fairjudge.domain import Estimate
from fairjudge.fairness.dominance import dominance
from fairjudge.fairness.equal_coverage import coverage_by_value
from fairjudge.fairness.people_alignment import MeasuredSample, compare_summaries
from fairjudge.fairness.scorer_checks import agreement_over_samples, agreement_over_systems
from fairjudge.stats.resampling import Resampling

DATA_SETS = 300
LOW, HIGH = 0.912, 0.988
"""Three standard errors around 95 % of `DATA_SETS`."""
MOST_ERRORS = 0.088
"""Three standard errors above 5 %."""

pytestmark = pytest.mark.slow


def covers(estimate: object, truth: float) -> bool:
    assert isinstance(estimate, Estimate)
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low <= truth <= estimate.high


def scored(rng: np.random.Generator, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Two scorers' Equal Coverage of three systems a cluster; a cluster's summaries are alike."""
    cluster = rng.normal(size=(n_clusters, 1))
    quality = 0.6 * cluster + rng.normal(size=(n_clusters, 3))
    first, second = (np.exp(quality + rng.normal(size=quality.shape)) for _ in range(2))
    return first, second


def keyed(values: np.ndarray) -> Mapping[tuple[str, str], float]:
    return {(f"e{n}", f"s{k}"): float(v) for (n, k), v in np.ndenumerate(values)}


@pytest.mark.parametrize(("correlation", "of"), [("spearman", spearmanr), ("pearson", pearsonr)])
def test_correlations_of_scorers_over_summaries(correlation, of):
    rng = np.random.default_rng(1)
    # Pearson's on logarithms: of exponentials it has no stable value to hold
    shape = np.asarray if correlation == "spearman" else np.log
    first, second = scored(rng, 100_000)
    truth = float(of(shape(first).ravel(), shape(second).ravel()).statistic)
    n_held = 0
    for _ in range(DATA_SETS):
        pair = [keyed(shape(sample)) for sample in scored(rng, 40)]
        result = agreement_over_samples(
            *pair, resampling=Resampling(rng=rng, n_resamples=600), correlation=correlation
        )
        n_held += covers(result.rho, truth)
    assert LOW <= n_held / DATA_SETS <= HIGH


def test_agreement_over_few_systems_respects_its_level():
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(DATA_SETS):
        pair = [{f"s{n}": float(v) for n, v in enumerate(rng.normal(size=8))} for _ in range(2)]
        p = agreement_over_systems(
            *pair, resampling=Resampling(rng=rng, n_resamples=600)
        ).rho.p_value
        wrong += p < 0.05
    assert wrong / DATA_SETS <= MOST_ERRORS


@pytest.mark.parametrize("shares", [(0.5, 0.3), (0.4, 0.4)])
def test_comparison_of_measures_with_people_respects_its_level(shares):
    """The first alone agrees with people at one share of the summaries, the second at another."""
    rng = np.random.default_rng(3)
    right = MeasuredSample(value=1.0, differences={"pos": 1.0, "neg": -1.0})
    wrong = MeasuredSample(value=1.0, differences={"pos": -1.0, "neg": 1.0})
    n_held = 0
    for _ in range(DATA_SETS):
        values = rng.choice(3, size=60, p=[*shares, 1 - sum(shares)])
        people = dict.fromkeys(range(60), "pos")
        first = {n: right if kind != 1 else wrong for n, kind in enumerate(values)}
        second = {n: right if kind != 0 else wrong for n, kind in enumerate(values)}
        result = compare_summaries(
            people, first, second, resampling=Resampling(rng=rng, n_resamples=600)
        )
        n_held += covers(result.difference, shares[0] - shares[1])
    assert LOW <= n_held / DATA_SETS <= HIGH


@pytest.mark.parametrize("sizes", [(30, 30), (4, 40), (10, 15, 30)])
def test_dominance_test_respects_its_level(sizes):
    """Also where one value dominates few sets, and where the largest of three pairs is taken."""
    rng = np.random.default_rng(4)
    names = "abc"[: len(sizes)]
    wrong = np.zeros(2)
    for _ in range(DATA_SETS):
        samples = []
        for code, size in enumerate(sizes):
            for _ in range(size):
                labels = [
                    name for k, name in enumerate(names) for _ in range(4 if k == code else 2)
                ]
                # a document's coverage says nothing of its value
                samples.append(coverage_by_value(rng.random((len(labels), 5)), labels))
        unfair = list(rng.random(len(samples)) < 0.2)
        result = dominance(samples, unfair, resampling=Resampling(rng=rng, n_resamples=300))
        wrong += [figure.p_value < 0.05 for figure in (result.unfair_share, result.mean_difference)]
    assert (wrong / DATA_SETS <= MOST_ERRORS).all()
