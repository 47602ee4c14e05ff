"""Means whose labelled items weigh unequally: by strata, as shares of a checklist, by columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import few_labels
from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.analysis import Settings, analyse
from fairjudge.calibration.drawn_ppi import PartlyLabelled, drawn_mean
from fairjudge.calibration.ppi import PpiMean
from fairjudge.domain import Article, Cluster, Judgement, Label, Undefined
from fairjudge.errors import InputError

DATA_SETS = 500
LOW, HIGH = 0.92, 0.98
"""95 %, and three standard errors of `DATA_SETS`: 2.9 points."""


def sample(human, judged, rest, strata, **more) -> PartlyLabelled:
    return PartlyLabelled(
        human=np.array(human, dtype=float),
        judged=np.array(judged, dtype=float),
        documents=[f"d{n}" for n in range(len(human))],
        rest=np.array(rest, dtype=float),
        rest_documents=[f"r{n}" for n in range(len(rest))],
        strata=strata,
        **more,
    )


def test_strata_are_weighted_by_their_share_of_all_items():
    # Ten labelled, five a stratum; of all twenty items a quarter is sport: .75 x 1 + .25 x 3.
    labels = [1, 1, 1, 1, 1, 3, 3, 3, 3, 3]
    strata = ["news"] * 5 + ["sport"] * 5 + ["news"] * 10
    estimate = drawn_mean(sample(labels, [0] * 10, [0] * 10, strata), tuning=0.0)
    assert isinstance(estimate, PpiMean)
    assert estimate.classical.value == pytest.approx(0.75 * 1 + 0.25 * 3)
    # Within strata nothing varies: what is left is which strata the twenty documents are of, the
    # squares of (mean of stratum - 1.5) / 20. Freedom by Satterthwaite: each stratum has 4, and
    # 5 x .15^2 and 5 x .05^2 of the variance, so .125^2 / (.1125^2 / 4 + .0125^2 / 4) = 4.878.
    squares = (15 * 0.5**2 + 5 * 1.5**2) / 20**2
    half = estimate.classical.high - estimate.classical.value
    assert half == pytest.approx(2.5900319 * np.sqrt(squares), rel=1e-6)


def test_stratum_with_too_few_labelled_documents_is_merged():
    strata = ["news"] * 5 + ["sport"] * 2 + ["news"] * 3 + ["chess"] * 10
    estimate = drawn_mean(
        sample([1] * 5 + [3] * 2 + [1] * 3, [0] * 10, [0] * 10, strata), tuning=0.0
    )
    plain = drawn_mean(sample([1] * 5 + [3] * 2 + [1] * 3, [0] * 10, [0] * 10, None), tuning=0.0)
    assert isinstance(estimate, PpiMean)
    assert isinstance(plain, PpiMean)
    assert estimate.classical.value == pytest.approx(plain.classical.value)


def test_single_stratum_is_like_no_strata():
    rng = np.random.default_rng(0)
    values = sample(rng.normal(size=9), rng.normal(size=9), rng.normal(size=30), ["all"] * 39)
    assert drawn_mean(values) == drawn_mean(replace(values, strata=None))


@pytest.mark.slow
def test_post_stratified_means_cover_with_unbalanced_topics():
    """People labelled one topic far more often than its share: unweighted, the mean is missed."""
    result = few_labels.strata(DATA_SETS)
    without = result.coverage().pop("mean without strata")
    weighted = [share for name, share in result.coverage().items() if "by strata" in name]
    assert len(weighted) == 3
    assert all(LOW < share < HIGH for share in weighted), weighted
    assert without < 0.8
    widths = result.widths()
    assert widths["mean by strata, ppi_plus"] < widths["mean by strata, classical"]


@pytest.mark.slow
@pytest.mark.parametrize("n_labels", [60, 120])
def test_answer_labels_correct_system_coverage(n_labels):
    """Both systems' coverage and the difference; the judge alone misses, labels alone are wide."""
    result = few_labels.answers(DATA_SETS, n_labels)
    covered, widths = result.coverage(), result.widths()
    for name in ("plain", "rich", "difference"):
        assert LOW < covered[f"coverage, {name}"] < HIGH, covered
    assert covered["coverage by the judge alone, plain"] < 0.5
    own, alone = (
        sum(widths[f"coverage{by}, {name}"] for name in few_labels.SYSTEMS)
        for by in ("", " by labels alone")
    )
    assert own < 0.9 * alone


def test_answer_estimates_use_every_label():
    plain, rich, _ = few_labels.estimates_of_answers(0, 60)
    assert plain.of == "answers"
    assert plain.n_labelled + rich.n_labelled == 60


def figures(rows, labels, **settings):
    return analyse(
        rows,
        labels,
        settings=Settings(resampling=Resampling(n_resamples=100), **settings),
    )


def test_a_checklists_coverage_by_hand():
    # Of two summaries one has one group and one has three; people labelled all four: 1; 1, 0, 0.
    rows = []
    for eid, n in (("a", 1), ("b", 3), ("c", 2)):
        entries = [{"unit": f"answer:{g}.0", "covered": 0.5} for g in range(n)]
        of = {"eid": eid, "system": "s", "aspect": "coverage", "protocol": "checklist"}
        rows.append(Judgement(**of, judge="j", value=0.5, checklist=entries))
    labels = [
        Label(eid=eid, system="s", aspect="coverage", unit=f"answer:{g}.0", annotator="p", value=v)
        for eid, g, v in (("a", 0, 1), ("b", 0, 1), ("b", 1, 0), ("b", 2, 0))
    ]
    (estimate,) = figures(rows, labels, label_scale=(0.0, 1.0)).groups[0].ppi
    # As shares of a summary: (1 + 1/3) / 2, not 2 of 4.
    assert estimate.classical.value == pytest.approx(2 / 3)
    assert (estimate.n_labelled, estimate.n_unlabelled) == (4, 2)
    assert estimate.naive.value == pytest.approx(0.5)


def judged(rng, n_documents: int = 300, n_labelled: int = 60, by_topic: bool = False):
    """Draw two judges who each see half of what people see; topics of documents."""
    rows, labels, clusters = [], [], []
    for document in range(n_documents):
        topic = "sport" if document % 4 == 0 else "news"
        clusters.append(
            Cluster(
                eid=f"e{document}",
                title="t",
                articles=[
                    Article(aid="0", title="t", content="Words.", attributes={"topic": topic})
                ],
            )
        )
        parts = rng.normal(size=2)
        people = 3 + parts.sum() + (topic == "sport") * by_topic
        of = {"eid": f"e{document}", "system": "s", "aspect": "coverage"}
        for part, judge in zip(parts, ("first", "second"), strict=True):
            value = float(np.clip(3 + part + 0.2 * rng.normal(), 1, 5))
            rows.append(Judgement(**of, judge=judge, protocol="likert", value=value))
        if document < n_labelled:
            value = float(np.clip(np.round(people), 1, 5))
            labels.append(Label(**of, annotator="p", value=value))
    return rows, labels, clusters


def test_regression_uses_other_judges_and_is_narrower():
    rng = np.random.default_rng(3)
    rows, labels, _ = judged(rng)
    first, second = figures(rows, labels).groups
    for group in (first, second):
        (estimate,) = group.ppi
        assert isinstance(estimate.regression, PpiMean)
        assert estimate.chosen == "regression"
        own, plain = estimate.regression.ppi_plus, estimate.ppi.ppi_plus
        assert own.high - own.low < 0.9 * (plain.high - plain.low)
    # Both put the same two judges in the place of one.
    assert first.ppi[0].regression.ppi_plus.value == pytest.approx(
        second.ppi[0].regression.ppi_plus.value, abs=0.05
    )


@pytest.mark.parametrize(
    ("n_labelled", "chosen"), [(10, "ppi_plus"), (20, "ppi_plus"), (40, "regression")]
)
def test_reported_estimator_depends_only_on_counts(n_labelled, chosen):
    rows, labels, _ = judged(np.random.default_rng(4), n_labelled=n_labelled)
    (estimate,) = figures(rows, labels).groups[0].ppi
    assert estimate.chosen == chosen
    assert isinstance(estimate.regression, Undefined if n_labelled < 15 else PpiMean)


def test_single_judge_without_covariates_has_no_regression():
    rows, labels, _ = judged(np.random.default_rng(4))
    (estimate,) = figures([row for row in rows if row.judge == "first"], labels).groups[0].ppi
    assert estimate.regression is None
    assert estimate.chosen == "ppi_plus"


def test_fitted_jury_is_not_a_regression_column():
    rows, labels, _ = judged(np.random.default_rng(4))
    fitted = [
        Judgement.model_validate({**row.to_json(), "judge": "jury", "members": {"first": 3}})
        for row in rows
        if row.judge == "second"
    ]
    firsts = [row for row in rows if row.judge == "first"]
    assert figures([*firsts, *fitted], labels).groups[0].ppi[0].regression is None


def test_cluster_strata_are_weighted_and_unknown_ones_named():
    rows, labels, clusters = judged(np.random.default_rng(5), by_topic=True)
    # Label news alone but for five of sport: sport has a quarter of all documents.
    few = [label for label in labels if int(label.eid[1:]) % 4 or int(label.eid[1:]) < 20]
    settings = Settings(resampling=Resampling(n_resamples=100), strata="topic")
    analysis = analyse(rows, few, settings=settings, clusters=clusters).groups[0].ppi[0]
    values = {item.eid: float(item.value) for item in few}
    news = np.mean([value for eid, value in values.items() if int(eid[1:]) % 4])
    sport = np.mean([value for eid, value in values.items() if int(eid[1:]) % 4 == 0])
    assert analysis.ppi.classical.value == pytest.approx(0.75 * news + 0.25 * sport)
    with pytest.raises(InputError, match="no strata 'mood': the clusters' groupings are 'topic'"):
        analyse(rows, few, settings=replace(settings, strata="mood"), clusters=clusters)
