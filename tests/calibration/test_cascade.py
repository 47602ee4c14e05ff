"""Thresholds of a cascade on planted data, and the judge that follows them."""

from __future__ import annotations

import numpy as np
import pytest

from fairjudge.calibration.cascade import Thresholds, fit_cascade
from fairjudge.domain import Article, Judgement, JudgeTask, Undefined, Unscored
from fairjudge.errors import StatisticsError
from fairjudge.judges.cascade import CascadeJudge
from fairjudge.judges.llm import judgement_of
from fairjudge.judges.ports import Reply


def planted(n=400):
    """The cheap score is right at both ends and guesses in the middle; the costly one is right."""
    rng = np.random.default_rng(0)
    labels = rng.integers(1, 6, n).astype(float)
    middle = (labels > 1) & (labels < 5)
    cheap = np.where(middle, rng.uniform(2.0, 4.0, n), labels)
    return cheap, labels.copy(), labels, [f"d{i // 4}" for i in range(n)]


def test_the_ends_are_taken_and_the_middle_is_asked():
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


def test_tolerance_buys_calls():
    cheap, costly, labels, documents = planted()
    saved = [
        fit_cascade(
            cheap, costly, labels, documents=documents, tolerance=t, agreement_tolerance=t,
            rng=np.random.default_rng(1),
        ).saved.value
        for t in (0.0, 0.2, 10.0)
    ]  # fmt: skip
    assert saved[0] < saved[1] < saved[2] == 1.0


def test_a_better_level_does_not_buy_a_worse_ranking():
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


def test_a_useless_scorer_saves_nothing():
    """The cheap scores are the labels turned round: taking any away from the middle costs."""
    _, costly, labels, documents = planted()
    fit = fit_cascade(
        6.0 - labels + 0.5, costly, labels, documents=documents, tolerance=0.0,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    assert fit.saved.value == 0.0


def test_too_little_is_undefined_and_a_negative_tolerance_an_error():
    rng = np.random.default_rng(0)
    few = fit_cascade([1.0], [1.0], [1.0], documents=["d"], tolerance=0.0, rng=rng)
    assert isinstance(few, Undefined)
    with pytest.raises(StatisticsError, match="-1"):
        fit_cascade([1.0], [1.0], [1.0], documents=["d"], tolerance=-1, rng=rng)
    assert not Thresholds(low=2.0, high=2.0).unsure(np.array([1.0, 2.0, 3.0])).any()


TASK = JudgeTask(
    eid="e", systems=("s",), texts=("A.",), aspect="faithfulness", protocol="likert",
    unit="summary", articles=(Article(aid="a", content="A."),),
)  # fmt: skip


class Fixed:
    """Says one value, or why there is none."""

    def __init__(self, said, name):
        self.said, self.name, self.signature, self.asked = said, name, f"judge:{name}", 0

    async def ask(self, task):
        self.asked += 1
        if isinstance(self.said, Unscored | Reply):
            return self.said
        return judgement_of(task, judge=self.name, value=self.said, scored_by="embedding")

    def read(self, task, reply):
        return judgement_of(task, judge=self.name, value=4.0, raw=reply.text)

    async def repair(self, task, reply):
        return reply

    def unscored(self, task, why):
        return judgement_of(task, judge=self.name, unscored=why.reason)


@pytest.mark.parametrize(
    ("local", "n_asked"), [(1.5, 0), (2.0, 0), (3.0, 1), (4.0, 0), (Unscored(reason="too_long"), 1)]
)
async def test_the_language_model_is_asked_only_in_between(local, n_asked):
    costly = Fixed(Reply(text="Verdict: 4"), "llm")
    judge = CascadeJudge(local=Fixed(local, "local"), judge=costly, low=2.0, high=4.0)
    got = await judge.ask(TASK)
    assert costly.asked == n_asked
    row = got if isinstance(got, Judgement) else judge.read(TASK, got)
    assert row.judge == "cascade(local>llm)"
    assert row.model_extra["routed"] == ("judge" if n_asked else "local")
    assert "cascade:2-4" in row.signature


async def test_an_empty_summary_is_not_sent_on():
    costly = Fixed(3.0, "llm")
    empty = Fixed(Unscored(reason="empty_input"), "local")
    judge = CascadeJudge(local=empty, judge=costly, low=2.0, high=4.0)
    assert (await judge.ask(TASK)).reason == "empty_input"
    assert costly.asked == 0
