"""Camps of annotators, severity, influence and confusion, against independent computations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.annotators import annotator_camps, annotator_report, severity
from fairjudge.calibration.items import JoinedItems, join
from fairjudge.domain import Judgement, Label, Undefined

FEW = Resampling(n_resamples=100)


def joined(ratings: np.ndarray, judged: np.ndarray, *, n_systems: int = 4, **more) -> JoinedItems:
    """Join labels of shape (items, annotators), NaN where there is none, and a judge's ratings."""
    labels, rows = [], []
    for i, values in enumerate(ratings):
        of = {"eid": f"e{i // n_systems}", "system": f"s{i % n_systems}", "aspect": "coverage"}
        rows.append(Judgement(**of, protocol="likert", judge="j", value=float(judged[i])))
        labels += [
            Label(**of, annotator=f"p{j}", value=float(value))
            for j, value in enumerate(values)
            if not np.isnan(value)
        ]
    (item,) = join(rows, labels, **more)
    return item


def rated(rng: np.random.Generator, quality: np.ndarray, noise: float) -> np.ndarray:
    return np.clip(np.round(3 + quality + noise * rng.normal(size=quality.size)), 1, 5)


def camps_of(ratings: np.ndarray, judged: np.ndarray | None = None):
    first = joined(ratings, ratings[:, 0] if judged is None else judged)
    return annotator_camps(first, resampling=FEW, rng=np.random.default_rng(0))


def test_two_annotator_clusters_are_found_with_judge_agreement_per_cluster():
    rng = np.random.default_rng(1)
    first, other = rng.normal(size=(2, 160))
    ratings = np.column_stack(
        [rated(rng, first, 0.7) for _ in range(3)] + [rated(rng, other, 0.7) for _ in range(2)]
    )[:, [0, 3, 1, 4, 2]]
    camps = camps_of(ratings, judged=rated(rng, first, 0.5))
    assert camps.found
    assert [camp.annotators for camp in camps.camps] == [("p0", "p2", "p4"), ("p1", "p3")]
    # independently: numpy's correlations of pairs, scipy's Spearman of the means
    r = np.corrcoef(ratings.T)
    within = [
        np.mean([r[a, b] for a, b in itertools.combinations(side, 2)])
        for side in ((0, 2, 4), (1, 3))
    ]
    assert [camp.within for camp in camps.camps] == pytest.approx(within)
    across = np.mean([r[a, b] for a in (0, 2, 4) for b in (1, 3)])
    assert camps.between == pytest.approx(across)
    assert camps.gap == pytest.approx(min(within) - across)
    means = ratings[:, [0, 2, 4]].mean(axis=1), ratings[:, [1, 3]].mean(axis=1)
    assert camps.items == pytest.approx(stats.spearmanr(*means)[0])
    judge = [camp.judge["pooled"]["spearman"].value for camp in camps.camps]
    assert judge[0] > 0.6
    assert judge[1] < 0.3


@pytest.mark.parametrize("kind", ["alike", "severe", "one careless", "missing", "repeated"])
def test_consistent_annotators_form_no_clusters(kind):
    rng = np.random.default_rng(11)
    quality = rng.normal(size=120)
    columns = [rated(rng, quality, 0.8) for _ in range(5)]
    if kind == "severe":
        columns = [np.clip(column - (j > 2), 1, 5) for j, column in enumerate(columns)]
    if kind == "one careless":
        columns[4] = rng.integers(1, 6, size=120).astype(float)
    ratings = np.column_stack(columns)
    if kind == "missing":
        ratings[rng.random(ratings.shape) < 0.3] = np.nan
        ratings = ratings[(~np.isnan(ratings)).any(axis=1)]
    if kind == "repeated":
        ratings = np.repeat(ratings[::4], 4, axis=0)  # items of a document are alike
    judged = np.where(np.isnan(ratings[:, 0]), 3.0, ratings[:, 0])
    camps = camps_of(ratings, judged)
    assert not camps.found, camps
    assert isinstance(camps.camps[0].judge, Undefined)


def test_annotator_clusters_respect_the_false_positive_rate():
    rng = np.random.default_rng(3)
    claimed = 0
    for _ in range(60):
        quality = rng.normal(size=40)
        claimed += camps_of(np.column_stack([rated(rng, quality, 1.0) for _ in range(4)])).found
    assert claimed <= stats.binom.ppf(0.999, 60, 0.01)


@pytest.mark.parametrize(
    ("n_annotators", "why"), [(3, "fewer than 4 annotators"), (4, "share fewer than 10 items")]
)
def test_too_few_labels_for_annotator_clusters(n_annotators, why):
    rng = np.random.default_rng(4)
    ratings = rng.integers(1, 6, size=(40, n_annotators)).astype(float)
    ratings[:20, 0] = np.nan
    ratings[15:, 1] = np.nan
    camps = camps_of(ratings, np.nanmean(ratings, axis=1))
    assert isinstance(camps, Undefined)
    assert why in camps.why


def test_severity_matches_the_additive_model():
    """Independently: ordinary least squares on a dummy for each item and each annotator."""
    rng = np.random.default_rng(5)
    present = rng.random((30, 4)) < 0.6
    present[:, 0] = True
    ratings = rng.normal(size=(30, 1)) + np.array([0.5, -0.2, 0.0, 1.0]) + rng.normal(size=(30, 4))
    rows, columns = np.nonzero(present)
    design = np.zeros((rows.size, 34))
    design[np.arange(rows.size), rows] = design[np.arange(rows.size), 30 + columns] = 1.0
    expected = np.linalg.lstsq(design, ratings[rows, columns], rcond=None)[0][30:]
    expected -= expected @ present.sum(axis=0) / present.sum()
    assert severity(ratings, present) == pytest.approx(expected)


def test_removing_severity_makes_equal_systems_equal():
    """Two annotators two points apart, each of whom labels one system more often."""
    rng = np.random.default_rng(6)
    quality = rng.integers(2, 4, size=80).astype(float)
    ratings = np.column_stack([quality - 1, quality + 1])
    system = np.arange(80) % 2
    for column in (0, 1):  # both label the first 20 documents, then each its own system
        ratings[(np.arange(80) >= 40) & (system == column), column] = np.nan
    first = joined(ratings, quality, n_systems=2)
    result = annotator_report(first, resampling=FEW, seed=0)
    assert [round(annotator.severity, 6) for annotator in result.annotators] == [-1.0, 1.0]
    for estimate in result.systems:
        values = [q for q, s in zip(quality, system, strict=True) if f"s{s}" == estimate.system]
        assert estimate.adjusted == pytest.approx(np.mean(values))
    gap = result.systems[0].mean - result.systems[1].mean
    assert abs(gap) > 0.8


def test_influential_annotator_is_named():
    rng = np.random.default_rng(7)
    quality = rng.normal(size=120)
    columns = [rated(rng, quality, 0.5) for _ in range(3)]
    ratings = np.column_stack([*columns, rng.choice([1.0, 5.0], size=120)])
    judged = rated(rng, quality, 0.5)
    result = annotator_report(joined(ratings, judged), resampling=FEW, seed=0)
    assert result.puller == "p3"
    by_name = {annotator.annotator: annotator for annotator in result.annotators}
    without = stats.spearmanr(judged, ratings[:, :3].mean(axis=1))[0]
    everything = stats.spearmanr(judged, ratings.mean(axis=1))[0]
    assert by_name["p3"].without == pytest.approx(without)
    assert by_name["p3"].pull == pytest.approx(without - everything)
    alike = annotator_report(joined(ratings[:, :3], judged), resampling=FEW, seed=0)
    assert alike.puller is None


def test_confusion_and_base_rate_by_hand():
    rows = [
        Judgement(eid=f"e{i}", system="x", aspect="coverage", protocol="binary", judge="j", value=v)
        for i, v in enumerate((1, 1, 0, 0, 1))
    ]
    text = ((1, 1), (0, 0), (0, 1), (0, 0), (1, 0))  # means 1, 0, .5 (rounds up), 0, .5
    labels = [
        Label(eid=f"e{i}", system="x", aspect="coverage", annotator=f"p{j}", value=value)
        for i, values in enumerate(text)
        for j, value in enumerate(values)
    ]
    (item,) = join(rows, labels)
    result = annotator_report(item, resampling=FEW, seed=0).confusion
    assert result.levels == (0.0, 1.0)
    assert result.counts == ((1, 1), (1, 2))
    assert result.base_rate == (0.6, 0.4)
