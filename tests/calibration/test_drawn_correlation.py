"""The correlation over all judged items from few labels, drawn for it or not."""

from __future__ import annotations

import numpy as np
import pytest

from fairjudge.annotation.active import correlation_sizes, inclusion
from fairjudge.calibration.drawn_correlation import drawn_correlation
from fairjudge.calibration.drawn_ppi import PartlyLabelled
from fairjudge.domain import Estimate, Undefined

N, R = 600, 0.5


def world(rng, n_documents: int = N // 3):
    """Return documents of three items, judge's ratings and people's scores, which correlate."""
    documents = np.repeat(np.arange(n_documents), 3)
    shared = rng.normal(size=n_documents)[documents]
    quality = np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.normal(size=documents.size)
    people = R * quality + np.sqrt(1 - R**2) * rng.normal(size=documents.size)
    return documents, np.clip(np.round(3 + quality), 1, 5), people


def estimate(documents, judged, people, taken, chances=None):
    return drawn_correlation(
        PartlyLabelled(
            human=people[taken],
            judged=judged[taken],
            documents=documents[taken].tolist(),
            rest=judged[~taken],
            rest_documents=documents[~taken].tolist(),
            chances=None if chances is None else chances[taken],
        )
    )


def test_with_every_item_labelled_it_is_pearsons():
    documents, judged, people = world(np.random.default_rng(0))
    found = estimate(documents, judged, people, np.ones(N, dtype=bool))
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(np.corrcoef(judged, people)[0, 1])
    # Fisher's interval takes normal values and independent items: half is 1.96 / root of n - 3.
    half = (np.arctanh(found.high) - np.arctanh(found.low)) / 2
    assert half == pytest.approx(1.96 / np.sqrt(N - 3), rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [60, 150])
def test_labels_drawn_for_it_narrow_it_and_it_covers(budget):
    """300 data sets: 95 % within three standard errors (3.8 points), and a tenth narrower."""
    _, judged, people = world(np.random.default_rng(99), 300_000)
    truth = np.corrcoef(judged, people)[0, 1]
    covered, widths = [], []
    for seed in range(300):
        rng = np.random.default_rng([seed, budget])
        documents, judged, people = world(rng)
        standard = (judged - judged.mean()) / judged.std()
        sizes = {"even": np.ones(N), "drawn": correlation_sizes(np.ones(N), standard)}
        found = {}
        for name, size in sizes.items():
            chances = inclusion(size, budget, 0.25)
            one = estimate(documents, judged, people, rng.random(N) < chances, chances)
            assert isinstance(one, Estimate)
            found[name] = one
        covered.append([one.low <= truth <= one.high for one in found.values()])
        widths.append([one.high - one.low for one in found.values()])
    assert np.all(np.abs(np.mean(covered, axis=0) - 0.95) < 0.038)
    even, drawn = np.mean(widths, axis=0)
    assert drawn < 0.9 * even


def test_a_sample_by_extremes_does_not_overstate_it():
    """Drawn for the correlation, the labelled items' own correlation is too large; this is not."""
    _, judged, people = world(np.random.default_rng(99), 300_000)
    truth = np.corrcoef(judged, people)[0, 1]
    own, of_all = [], []
    for seed in range(60):
        rng = np.random.default_rng([seed, 3])
        documents, judged, people = world(rng)
        standard = (judged - judged.mean()) / judged.std()
        chances = inclusion(correlation_sizes(np.ones(N), standard), 150, 0.25)
        taken = rng.random(N) < chances
        own.append(np.corrcoef(judged[taken], people[taken])[0, 1])
        found = estimate(documents, judged, people, taken, chances)
        assert isinstance(found, Estimate)
        of_all.append(found.value)
    assert np.mean(own) > truth + 0.05
    assert np.mean(of_all) == pytest.approx(truth, abs=0.03)


def test_what_it_needs():
    documents, judged, people = world(np.random.default_rng(0))
    few = np.arange(N) < 27
    assert estimate(documents, judged, people, few) == Undefined(
        why="9 labelled documents: 10 are needed"
    )
    taken = np.arange(N) < 60
    constant = estimate(documents, np.full(N, 3.0), people, taken)
    assert constant == Undefined(why="the judge's scores or the labels are all equal")
