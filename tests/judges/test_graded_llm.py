"""A written verdict's distribution: by its token's probabilities, else by samples."""

from __future__ import annotations

from math import log

import pytest

from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.domain import Article, Judgement, JudgeTask, Unscored
from fairjudge.errors import RefusedError, ServerError
from fairjudge.judges.criteria import builtin_criterion
from fairjudge.judges.llm import LlmJudge
from fairjudge.ports import Completion, ModelRef, TokenAlternatives

TARGET = ModelRef(provider="scripted", model="m")
TASK = JudgeTask(
    eid="e",
    systems=("s",),
    texts=("A.",),
    aspect="faithfulness",
    protocol="likert",
    unit="summary",
    articles=(Article(aid="a", content="A."),),
)


def judge_of(handler, **rest):
    backend = ScriptedBackend(handler)
    criterion = builtin_criterion("faithfulness", "likert", per_answer=False)
    return LlmJudge(backend=backend, target=TARGET, criterion=criterion, **rest), backend


async def judged(judge):
    reply = await judge.ask(TASK)
    return reply if isinstance(reply, Unscored | Judgement) else judge.read(TASK, reply)


async def test_token_probabilities_give_expected_score_and_off_scale_mass():
    """0.6 on 4, 0.2 on 5, 0.2 on "The": (0.6 * 4 + 0.2 * 5) / 0.8 = 4.25, a fifth off the scale."""

    def reply(request):
        assert request.top_logprobs == 20
        by_name = {" 4": log(0.6), " 5": log(0.2), " The": log(0.2)}
        tokens = (
            TokenAlternatives(token="Verdict:", logprobs={"Verdict:": 0.0}),
            TokenAlternatives(token=" 4", logprobs=by_name),
        )
        return Completion(text="Verdict: 4", tokens=tokens)

    judge, backend = judge_of(reply, token_probabilities=True, samples=5)
    result = await judged(judge)
    assert result.value == pytest.approx(4.25)
    assert result.model_extra["off_scale"] == pytest.approx(0.2)
    assert result.model_extra["mode"] == 4.0
    assert result.probabilities["4"] == pytest.approx(0.75)
    assert len(backend.requests) == 1, "no samples where there are probabilities"


async def test_samples_replace_missing_token_probabilities():
    """4, 4, 5 and one that says nothing: mean 13 / 3, a quarter off the scale."""
    texts = ["Verdict: 4", "Verdict: 4", "Verdict: 5", "I wonder."]
    judge, backend = judge_of(
        lambda request: texts[request.sample_index],
        token_probabilities=True,
        samples=4,
        temperature=1.0,
    )
    result = await judged(judge)
    assert result.value == pytest.approx(13 / 3)
    assert result.model_extra["off_scale"] == pytest.approx(0.25)
    assert result.model_extra["samples"] == texts
    assert sorted(request.sample_index for request in backend.requests) == [0, 1, 2, 3]
    assert "samples:4" in judge.signature


async def test_refused_sample_is_off_scale_and_failed_one_is_retried_later():
    refusing, _ = judge_of(
        lambda r: RefusedError("no") if r.sample_index == 1 else "Verdict: 2", samples=2
    )
    assert (await judged(refusing)).model_extra["off_scale"] == pytest.approx(0.5)
    broken, _ = judge_of(
        lambda r: ServerError("502") if r.sample_index == 1 else "Verdict: 2", samples=2
    )
    assert (await judged(broken)).reason == "backend"


async def test_truncated_reasoning_is_no_verdict():
    def reply(request):
        tokens = (
            TokenAlternatives(token="It deserves a", logprobs={"It deserves a": 0.0}),
            TokenAlternatives(token=" 4", logprobs={" 4": 0.0}),
            TokenAlternatives(token=" for style, but", logprobs={" for style, but": 0.0}),
        )
        text = "It deserves a 4 for style, but"
        return Completion(text=text, tokens=tokens, finish_reason="length")

    judge, _ = judge_of(reply, token_probabilities=True)
    result = await judged(judge)
    assert result.reason == "unparseable"
    assert "cut off" in result.detail


async def test_truncated_sample_counts_as_off_scale():
    def reply(request):
        cut = "It deserves a 5 for style, but"
        if request.sample_index == 1:
            return Completion(text=cut, finish_reason="length")
        return "Verdict: 2"

    judge, _ = judge_of(reply, samples=2)
    result = await judged(judge)
    assert result.value == 2.0
    assert result.model_extra["off_scale"] == pytest.approx(0.5)
    assert result.model_extra["samples"] == ["Verdict: 2", "It deserves a 5 for style, but"]


async def test_samples_without_any_verdict_are_unscored():
    judge, _ = judge_of(lambda request: "I wonder.", samples=3)
    assert (await judged(judge)).reason == "unparseable"


async def test_single_verdict_is_kept():
    judge, backend = judge_of(lambda request: "Verdict: 3")
    result = await judged(judge)
    assert (result.value, result.probabilities) == (3.0, None)
    assert backend.requests[0].top_logprobs is None
    assert "samples" not in judge.signature
