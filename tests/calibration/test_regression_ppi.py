"""Means by a cross-fitted regression: closed forms, coverage, and narrower intervals than PPI++."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.few_labels import MEAN, means_by_length
from fairjudge.calibration.drawn_ppi import PartlyLabelled, sample_mean
from fairjudge.calibration.estimates import predict_labels
from fairjudge.calibration.ppi import PpiMean, ppi_mean
from fairjudge.domain import Undefined

N, M = 60, 300
"""Labelled and unlabelled items of a simulated data set."""


def regression(labels, labelled, rest, *, rng, documents=None):
    """Put a regression on the columns in the place of the judge, which is the first of them."""
    return predict_labels(
        PartlyLabelled(
            human=labels,
            judged=labelled[:, 0],
            documents=documents or [("labelled", row) for row in range(len(labels))],
            rest=rest[:, 0],
            rest_documents=[("rest", row) for row in range(len(rest))],
            columns=labelled,
            rest_columns=rest,
        ),
        rng=rng,
    )


def width(means: PpiMean) -> float:
    return means.ppi_plus.high - means.ppi_plus.low


def test_perfectly_predicted_labels_give_the_unlabelled_mean():
    """With y = 1 + 2 f - 3 x and lambda 1, theta is the mean of the labels that are not there."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    y = 1 + x @ [2.0, -3.0]
    sample = regression(y[:30], x[:30], x[30:], rng=rng)
    result = ppi_mean(
        sample.human, sample.judged, sample.rest, documents=sample.documents,
        documents_unlabelled=sample.rest_documents, tuning=1.0,
    )  # fmt: skip
    assert isinstance(result, PpiMean)
    assert result.ppi.value == pytest.approx(y[30:].mean(), abs=1e-12)
    assert result.naive.value == pytest.approx(y.mean(), abs=1e-12)


@pytest.mark.parametrize("per_document", [1, 3])
def test_intervals_cover_and_are_narrower_than_with_the_judge_alone(per_document):
    """1,000 data sets: coverage within 3 standard errors (2.1 points) of 95 %.

    By the variances, length is half of the label's: the judge alone leaves at least that.
    """
    rng = np.random.default_rng(7)
    items = [means_by_length(rng, N, per_document=per_document) for _ in range(1000)]
    covered = np.mean([own.ppi_plus.low <= MEAN <= own.ppi_plus.high for own, _ in items])
    assert 0.929 <= covered <= 0.971
    ratio = np.mean([width(own) / width(plain) for own, plain in items])
    assert ratio < 0.8
    errors = np.array([[item.ppi_plus.value - MEAN for item in pair] for pair in items])
    own, plain = np.sqrt((errors**2).mean(axis=0))
    assert own < 0.8 * plain


def test_uninformative_covariate_hardly_widens_the_interval():
    rng = np.random.default_rng(8)
    items = [means_by_length(rng, N, by_length=0.0) for _ in range(400)]
    assert np.mean([width(own) / width(plain) for own, plain in items]) < 1.05


def test_uninformative_judge_gets_no_weight():
    rng = np.random.default_rng(9)
    covered, tuning = [], []
    for _ in range(400):
        y, noise = MEAN + rng.normal(size=N), rng.normal(size=(N + M, 3))
        result = sample_mean(regression(y, noise[:N], noise[N:], rng=rng))
        assert isinstance(result, PpiMean)
        covered.append(result.ppi_plus.low <= MEAN <= result.ppi_plus.high)
        tuning.append(result.tuning)
    assert np.mean(covered) > 0.92
    assert np.mean(tuning) < 0.2


def test_regression_requirements():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 2))
    few = regression(x[:14, 0], x[:14], x[14:], rng=rng)
    assert few == Undefined(why="14 labelled items: a regression on 2 columns needs 15")
    first = regression(x[:20, 0], x[:20], x[20:], rng=rng, documents=["d"] * 20)
    assert first == Undefined(why="fewer than 2 labelled documents")
    none = sample_mean(regression(x[:20, 0], x[:20], x[:0], rng=rng))
    assert isinstance(none, Undefined)
