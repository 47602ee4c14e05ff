"""Thresholds of a cascade on planted data, and the judge that follows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau

from fairjudge.calibration.cascade import Thresholds, fit_cascade
from fairjudge.domain import Article, Judgement, JudgeTask, Undefined, Unscored
from fairjudge.errors import StatisticsError
from fairjudge.judges.cascades import CascadeJudge
from fairjudge.judges.llm import judgement_of
from fairjudge.judges.ports import Reply


def planted(n=400):
    """The cheap score is right at both ends and guesses in the middle; the costly one is right."""
    rng = np.random.default_rng(0)
    labels = rng.integers(1, 6, n).astype(float)
    middle = (labels > 1) & (labels < 5)
    cheap = np.where(middle, rng.uniform(2.0, 4.0, n), labels)
    return cheap, labels.copy(), labels, [f"d{i // 4}" for i in range(n)]


def test_extreme_scores_are_accepted_and_middle_ones_escalated():
    """Two of five labels are at an end, so about 40 % of calls are saved at no added error."""
    cheap, costly, labels, documents = planted()
    rng = np.random.default_rng(1)
    fit = fit_cascade(cheap, costly, labels, documents=documents, tolerance=0.0, rng=rng)
    assert fit.thresholds.low >= 1.0
    assert fit.thresholds.high <= 5.0
    assert fit.saved.value == pytest.approx(np.isin(labels, (1.0, 5.0)).mean(), abs=0.02)
    assert fit.error_added.value == pytest.approx(0.0, abs=0.01)
    assert fit.agreement["costly"] == pytest.approx(1.0)
    assert fit.agreement["cheap"] < fit.agreement["cascade"]


def test_higher_tolerance_saves_more_calls():
    cheap, costly, labels, documents = planted()
    saved = [
        fit_cascade(
            cheap, costly, labels, documents=documents, tolerance=t, agreement_tolerance=t,
            rng=np.random.default_rng(1),
        ).saved.value
        for t in (0.0, 0.2, 10.0)
    ]  # fmt: skip
    assert saved[0] < saved[1] < saved[2] == 1.0


def test_lower_error_does_not_justify_a_worse_ranking():
    """The costly judge ranks without fault two points too low; the cheap one has the level alone.

    Errors are 2 for the costly judge and about 1.2 for the cheap one, so by error alone nobody
    would be asked; but tau-b would fall from 1 to 0.
    """
    rng = np.random.default_rng(0)
    labels = rng.integers(1, 6, 400).astype(float)
    cheap, costly = rng.uniform(2.5, 3.5, 400), labels - 2.0
    documents = [f"d{i // 4}" for i in range(400)]

    def fitted(agreement_tolerance):
        return fit_cascade(
            cheap, costly, labels, documents=documents, tolerance=0.0,
            agreement_tolerance=agreement_tolerance, rng=np.random.default_rng(1),
        )  # fmt: skip

    careless, careful = fitted(2.0), fitted(0.05)
    assert careless.saved.value > 0.99
    assert careless.saved.high == 1.0
    assert careless.error_added.value < -0.5
    assert careless.agreement_lost.value == pytest.approx(1.0, abs=0.1)
    assert careful.saved.value < 0.2
    assert careful.agreement_lost.value < 0.15
    assert careful.agreement_lost.low <= careful.agreement_lost.value <= careful.agreement_lost.high


def test_random_scorer_saves_no_calls():
    """The cheap scores are the labels turned round: taking any away from the middle costs."""
    _, costly, labels, documents = planted()
    fit = fit_cascade(
        6.0 - labels + 0.5, costly, labels, documents=documents, tolerance=0.0,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    assert fit.saved.value == 0.0


def test_too_few_labels_are_undefined_and_negative_tolerance_raises():
    rng = np.random.default_rng(0)
    few = fit_cascade([1.0], [1.0], [1.0], documents=["d"], tolerance=0.0, rng=rng)
    assert isinstance(few, Undefined)
    with pytest.raises(StatisticsError, match="-1"):
        fit_cascade([1.0], [1.0], [1.0], documents=["d"], tolerance=-1, rng=rng)
    assert not Thresholds(low=2.0, high=2.0).unsure(np.array([1.0, 2.0, 3.0])).any()


def turned_middle():
    """Cheap scores 0 to 20 in each of four documents; labels are the same at the ends (up to 3,
    from 15) and turned round in between (18 - score). The costly judge is right."""
    cheap = np.tile(np.arange(21.0), 4)
    labels = np.where((cheap <= 3) | (cheap >= 15), cheap, 18.0 - cheap)
    return cheap, labels, np.repeat(np.arange(4), 21).tolist()


def fitted(cheap, costly, labels, documents, *, tolerance=0.0, **more):
    rng = np.random.default_rng(1)
    return fit_cascade(
        cheap, costly, labels, documents=documents, tolerance=tolerance, rng=rng, **more
    )


def test_thresholds_are_where_the_cheap_scorer_starts_to_err():
    """10 of 21 scores are right; quantiles in steps of 5 % are the scores themselves."""
    cheap, labels, documents = turned_middle()
    result = fitted(cheap, labels, labels, documents, agreement_tolerance=0.0)
    assert result.thresholds == Thresholds(low=3.0, high=15.0)
    assert result.saved.value == pytest.approx(10 / 21)
    assert (result.error_added.value, result.error_added.p_value) == (0.0, 1.0)
    assert result.agreement_lost.value == 0.0
    assert result.agreement["cascade"] == 1.0
    assert result.n == 84


def test_scorer_correct_at_one_end_is_accepted_only_there():
    """Scores from 15 are right, those below turned round (14 - score); then the other way."""
    cheap, _, documents = turned_middle()
    top = np.where(cheap >= 15, cheap, 14.0 - cheap)
    result = fitted(cheap, top, top, documents)
    assert result.thresholds == Thresholds(low=-1.0, high=15.0)
    result = fitted(20.0 - cheap, 20.0 - top, 20.0 - top, documents)
    assert result.thresholds == Thresholds(low=5.0, high=21.0)


@pytest.mark.parametrize(
    ("tolerance", "high"), [(0.0, 15.0), (0.47, 15.0), (0.48, 14.0), (0.85, 14.0), (0.86, 13.0)]
)
def test_mean_error_grows_by_at_most_the_tolerance(tolerance, high):
    """Scores 14 and 13 err by 10 and 8, each in one of 21 items: 0.476 and 0.381 of the mean."""
    cheap, labels, documents = turned_middle()
    result = fitted(cheap, labels, labels, documents, tolerance=tolerance, agreement_tolerance=2.0)
    assert result.thresholds == Thresholds(low=3.0, high=high)


def test_default_agreement_tolerance_is_0_05():
    """The cheap scorer swaps 1 and 2, 3 and 4, ... 19 and 20: each swap is 2 of 210 pairs of
    scores, 0.0095 of tau; five of the ten fit into 0.05."""
    labels = np.tile(np.arange(21.0), 4)
    cheap = np.where(labels == 0.0, 0.0, np.where(labels % 2 == 1, labels + 1, labels - 1))
    documents = np.repeat(np.arange(4), 21).tolist()

    def fall(**more):
        result = fitted(cheap, labels, labels, documents, tolerance=100.0, **more).thresholds
        return 1.0 - kendalltau(np.where(result.unsure(cheap), labels, cheap), labels).statistic

    assert fall() == pytest.approx(5 * 2 / 210)
    assert 0.05 < fall(agreement_tolerance=0.06) <= 0.06
    assert fall(agreement_tolerance=2.0) == pytest.approx(10 * 2 / 210)


def test_constant_costly_judge_has_no_agreement_to_lose():
    _, labels, documents = turned_middle()
    result = fitted(labels, np.full(84, 9.0), labels, documents)
    assert result.saved.value == 1.0
    assert isinstance(result.agreement["costly"], Undefined)
    assert isinstance(result.agreement_lost, Undefined)


def test_constant_cheap_scorer_is_never_accepted():
    """Whatever error may be added: without the costly judge no order would be left."""
    _, labels, documents = turned_middle()
    result = fitted(np.full(84, 9.0), labels, labels, documents, tolerance=100.0)
    assert result.saved.value == 0.0


@pytest.mark.parametrize(
    ("n", "n_documents", "enough"), [(30, 2, True), (29, 2, False), (30, 1, False)]
)
def test_cascade_needs_30_items_of_2_documents(n, n_documents, enough):
    labels = np.arange(float(n))
    result = fitted(labels, labels, labels, [i % n_documents for i in range(n)])
    assert isinstance(result, Undefined) != enough


def test_agreement_lost_is_costly_minus_cascade():
    """With an interval over documents: about as wide as the jackknife's, each left out in turn."""
    rng = np.random.default_rng(2)
    labels = rng.normal(size=240)
    documents = np.repeat(np.arange(60), 4)
    noise = np.repeat(rng.normal(size=60), 4)
    costly = labels + 0.2 * rng.normal(size=240)
    cheap = np.maximum(labels + 0.8 * noise, -1.0)
    result = fitted(
        cheap, costly, labels, documents.tolist(), tolerance=9.0, agreement_tolerance=2.0
    )
    assert result.saved.value == 1.0
    lost = result.agreement_lost

    def tau(values, keep):
        return kendalltau(values[keep], labels[keep]).statistic

    every = np.ones(240, dtype=bool)
    assert result.agreement["costly"] == pytest.approx(tau(costly, every))
    assert lost.value == pytest.approx(tau(costly, every) - tau(cheap, every))
    leave_out = np.array([
        tau(costly, documents != d) - tau(cheap, documents != d) for d in range(60)
    ])  # fmt: skip
    error = np.sqrt(59 / 60 * np.sum((leave_out - leave_out.mean()) ** 2))
    assert lost.high - lost.low == pytest.approx(2 * 2.0 * error, rel=0.25)


def test_negative_agreement_tolerance_raises():
    cheap, labels, documents = turned_middle()
    with pytest.raises(StatisticsError, match=r"-0\.1"):
        fitted(cheap, labels, labels, documents, agreement_tolerance=-0.1)


TASK = JudgeTask(
    eid="e", systems=("s",), texts=("A.",), aspect="faithfulness", protocol="likert",
    unit="summary", articles=(Article(aid="a", content="A."),),
)  # fmt: skip


class Fixed:
    """Says one value, or why there is none."""

    def __init__(self, answer, name):
        self.answer, self.name, self.signature, self.n_asked = answer, name, f"judge:{name}", 0

    async def ask(self, task):
        self.n_asked += 1
        if isinstance(self.answer, Unscored | Reply):
            return self.answer
        return judgement_of(task, judge=self.name, value=self.answer, scored_by="embedding")

    def read(self, task, reply):
        return judgement_of(task, judge=self.name, value=4.0, raw=reply.text)

    async def repair(self, task, reply):
        return reply

    def unscored_judgement(self, task, outcome):
        return judgement_of(task, judge=self.name, unscored=outcome.reason)


@pytest.mark.parametrize(
    ("local", "n_asked"), [(1.5, 0), (2.0, 0), (3.0, 1), (4.0, 0), (Unscored(reason="too_long"), 1)]
)
async def test_llm_is_called_only_between_the_thresholds(local, n_asked):
    costly = Fixed(Reply(text="Verdict: 4"), "llm")
    judge = CascadeJudge(first=Fixed(local, "local"), judge=costly, low=2.0, high=4.0)
    result = await judge.ask(TASK)
    assert costly.n_asked == n_asked
    row = result if isinstance(result, Judgement) else judge.read(TASK, result)
    assert row.judge == "cascade(local>llm)"
    assert row.model_extra["routed"] == ("judge" if n_asked else "local")
    assert "cascade:2-4" in row.signature


async def test_unscored_task_is_sent_to_neither_judge():
    reason = Unscored(reason="too_long", detail="of an option")
    first, costly = Fixed(3.0, "local"), Fixed(3.0, "llm")
    judge = CascadeJudge(first=first, judge=costly, low=2.0, high=4.0)
    assert await judge.ask(replace(TASK, unscored=reason)) == reason
    assert first.n_asked + costly.n_asked == 0


async def test_empty_summary_is_not_escalated():
    costly = Fixed(3.0, "llm")
    empty = Fixed(Unscored(reason="empty_input"), "local")
    judge = CascadeJudge(first=empty, judge=costly, low=2.0, high=4.0)
    assert (await judge.ask(TASK)).reason == "empty_input"
    assert costly.n_asked == 0
