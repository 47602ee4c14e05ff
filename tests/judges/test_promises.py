"""A cascade under a guarantee: what is kept of ratings, and what goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.domain import Article, Judgement, JudgeTask, Unscored
from fairjudge.judges.asking import GuaranteedThreshold
from fairjudge.judges.cascades import GuaranteedCascade
from fairjudge.judges.criteria import builtin_criterion
from fairjudge.judges.llm import LlmJudge
from fairjudge.judges.ports import Reply
from fairjudge.ports import ModelRef

TASK = JudgeTask(
    eid="e",
    systems=("s",),
    texts=("It rained.",),
    aspect="faithfulness",
    protocol="likert",
    unit="summary",
    articles=(Article(aid="1", content="It rained."),),
)


def judge(name: str, *replies: str, **more: object) -> LlmJudge:
    data = iter(replies)
    return LlmJudge(
        backend=ScriptedBackend(lambda request: next(data)),
        target=ModelRef(provider="scripted", model=name),
        criterion=builtin_criterion("faithfulness", "likert", per_answer=False),
        **more,
    )


async def cascaded(first: LlmJudge, *, repeats: int, threshold: float = 0.5) -> Judgement:
    better = judge("better", "Verdict: 1")
    guarantee = GuaranteedThreshold(
        judge=first.name,
        aspect="faithfulness",
        protocol="likert",
        threshold=threshold,
        signature=first.signature,
        repeats=repeats,
        n_answers=3,
    )
    cascade = GuaranteedCascade(first=first, judge=better, guarantee=guarantee)
    guarantee.check(first)
    result = await cascade.ask(TASK)
    outcome = cascade.read(TASK, result) if isinstance(result, Reply) else result
    assert isinstance(outcome, Judgement)
    return outcome


async def test_most_frequent_repeat_is_accepted_if_confident():
    """Of 4, 4, 4, 4, 5 the entropy is 0.50 of at most log 3 = 1.10: the confidence is 0.54."""
    result = await cascaded(judge("first", *(f"Verdict: {n}" for n in (4, 4, 4, 4, 5))), repeats=5)
    assert (result.value, result.model_extra["routed"], result.repeat) == (4, "first", None)
    assert result.model_extra["first_confidence"] == pytest.approx(0.5445, abs=1e-3)


async def test_undecided_verdict_is_escalated():
    """3 and 5: an entropy of log 2, so 1 - 0.69 / 1.10 = 0.37 of confidence."""
    result = await cascaded(judge("first", "Verdict: 3", "Verdict: 5"), repeats=2)
    assert (result.value, result.model_extra["routed"]) == (1, "judge")
    assert result.judge == "cascade(scripted:first>scripted:better)"


async def test_items_unscored_by_the_first_judge_are_escalated():
    result = await cascaded(judge("first", "Well.", "Verdict: none"), repeats=1)
    assert (result.value, result.model_extra["routed"]) == (1, "judge")


async def test_reply_is_repaired_before_escalation():
    result = await cascaded(judge("first", "Well.", "Verdict: 4"), repeats=1)
    assert (result.value, result.model_extra["routed"]) == (4, "first")


async def test_empty_summary_is_unscored_without_escalation():
    guarantee = GuaranteedThreshold(judge="j", aspect="faithfulness", protocol="likert",
        threshold=0.5, signature="judge:j", repeats=1, n_answers=2)  # fmt: skip
    first = GuaranteedCascade(first=judge("a"), judge=judge("b"), guarantee=guarantee)
    result = await first.ask(replace(TASK, texts=(" ",)))
    assert isinstance(result, Unscored)
    assert result.reason == "empty_input"
