"""The correlation over all judged items from few labels, drawn for it or not."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.few_labels import correlation, estimate, world
from fairjudge.annotation.active import correlation_sizes, inclusion
from fairjudge.domain import Estimate, Undefined

N, R = 600, 0.5


def test_correlation_is_pearson_if_all_items_are_labelled():
    documents, judged, people = world(np.random.default_rng(0), R)
    result = estimate(documents, judged, people, np.ones(N, dtype=bool))
    assert isinstance(result, Estimate)
    assert result.value == pytest.approx(np.corrcoef(judged, people)[0, 1])
    # Fisher's interval takes normal values and independent items: half is 1.96 / root of n - 3.
    half = (np.arctanh(result.high) - np.arctanh(result.low)) / 2
    assert half == pytest.approx(1.96 / np.sqrt(N - 3), rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("r", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("budget", [60, 150])
def test_targeted_labels_give_narrower_intervals_that_cover(r, budget):
    """800 data sets: 95 % within three standard errors (2.3 points); drawn ones are narrower."""
    result = correlation(800, r, budget)
    assert all(abs(share - 0.95) < 0.024 for share in result.coverage().values()), result.coverage()
    even, by_size = result.widths().values()
    assert by_size < 0.96 * even


def test_sampling_extremes_does_not_inflate_the_correlation():
    """Drawn for the correlation, the labelled items' own correlation is too large; this is not."""
    _, judged, people = world(np.random.default_rng(99), R, 300_000)
    truth = np.corrcoef(judged, people)[0, 1]
    own, of_all = [], []
    for seed in range(60):
        rng = np.random.default_rng([seed, 3])
        documents, judged, people = world(rng, R)
        standard = (judged - judged.mean()) / judged.std()
        chances = inclusion(correlation_sizes(np.ones(N), standard), 150, 0.25)
        is_drawn = rng.random(N) < chances
        own.append(np.corrcoef(judged[is_drawn], people[is_drawn])[0, 1])
        result = estimate(documents, judged, people, is_drawn, chances)
        assert isinstance(result, Estimate)
        of_all.append(result.value)
    assert np.mean(own) > truth + 0.05
    assert np.mean(of_all) == pytest.approx(truth, abs=0.03)


def test_correlation_needs_10_documents_and_varying_values():
    documents, judged, people = world(np.random.default_rng(0), R)
    few = np.arange(N) < 27
    assert estimate(documents, judged, people, few) == Undefined(
        why="9 labelled documents: 10 are needed"
    )
    is_drawn = np.arange(N) < 60
    constant = estimate(documents, np.full(N, 3.0), people, is_drawn)
    assert constant == Undefined(why="the judge's scores or the labels are all equal")
