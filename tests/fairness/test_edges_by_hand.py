"""Edges of the figures of fairness, each worked out by hand."""

import numpy as np
import pytest

from fairjudge.domain import Estimate, Summary
from fairjudge.fairness.comparison import Change
from fairjudge.fairness.coverage_report import CoverageOptions, report_coverage
from fairjudge.fairness.distributions import ValueDistribution
from fairjudge.fairness.proportional import proportional
from fairjudge.fairness.share_error import share_sensitivity
from fairjudge.fairness.shares import collect
from fairjudge.fairness.values import label_corpus
from fairjudge.stats.resampling import Resampling
from tests.fairness.conftest import make_cluster, make_support


def of(source, summary):
    values = tuple("abcd"[: len(source)])
    return ValueDistribution(values=values, source=tuple(source), summary=tuple(summary))


def test_sof_band_by_hand():
    # shortfalls 0.3 and 0: mean 0.15, and each lies 0.15 from it
    sample = of((0.5, 0.5), (0.2, 0.8))
    band = share_sensitivity([sample], collect([sample]), error_rate=0.1).bands["sof"]
    assert (band.low, band.high) == (pytest.approx(0.05), pytest.approx(0.25))
    # an error larger than the figure leaves nothing of it, and not less than nothing
    assert share_sensitivity([sample], collect([sample]), error_rate=0.2).bands["sof"].low == 0.0


def test_value_is_ignored_in_samples_without_it():
    result = proportional(
        collect([of((0.5, 0.5), (0.5, 0.5)), of((1.0,), (1.0,)), of((1.0,), (1.0,))]),
        resampling=Resampling(rng=np.random.default_rng(0), n_resamples=20),
    )
    assert (result.by_value["a"].n, result.by_value["a"].difference.n_excluded) == (3, 0)
    assert (result.by_value["b"].n, result.by_value["b"].difference.n_excluded) == (1, 2)
    assert result.by_value["b"].actual.n_excluded == 2


@pytest.mark.parametrize(("baseline", "relative"), [(0.2, 0.5), (0.0, None), (None, None)])
def test_a_change_is_relative_to_a_baseline_that_is_not_0(baseline, relative):
    change = Change(
        variant_name="v",
        measure="uer",
        n=2,
        n_unpaired=0,
        baseline=baseline,
        variant=0.3,
        difference=Estimate(value=0.1, n=2),
    )
    assert change.relative == (relative if relative is None else pytest.approx(relative))


def test_human_labels_correct_only_measured_samples():
    sound, nothing = [[0.6], [0.4]], [[0.0], [0.0]]
    names = ("both", "scorer", "people", "more")
    clusters = [make_cluster(eid, [("a", "x"), ("b", "y")]) for eid in names]
    summaries = [Summary(eid=eid, system="s", text="x") for eid in names]
    scored = [make_support(eid, nothing if eid == "people" else sound) for eid in names]
    human = [make_support(eid, sound) for eid in names if eid != "scorer"]
    report = report_coverage(
        label_corpus(clusters, attribute="side"),
        summaries,
        scored,
        options=CoverageOptions(n_resamples=20, n_permutations=20),
        human=human,
    )
    corrected = report.systems["s"].corrected
    assert corrected is not None
    assert corrected.n_labelled == 2  # the third that people labelled has no measure to correct
    assert report.systems["s"].excluded == {"people": "no_support"}
