"""Choosing who judges, and who fills in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from fairjudge.app.models import Models
from fairjudge.domain import JudgeTask
from fairjudge.errors import ConfigurationError
from fairjudge.judges.cascade import CascadeJudge, read_thresholds
from fairjudge.judges.criteria import Criterion, builtin_criterion
from fairjudge.judges.decision import decision_judge
from fairjudge.judges.embedding import EmbeddingSupport
from fairjudge.judges.entailment import EntailmentSupport
from fairjudge.judges.llm import LlmJudge
from fairjudge.judges.local import LocalJudge
from fairjudge.judges.ports import Judge
from fairjudge.judges.tasks import JudgingPlan
from fairjudge.prompting import load_template_file
from fairjudge.scales import load_scale

Fallback: TypeAlias = Literal["entailment", "embedding", "none"]


def make_judge(
    models: Models,
    *,
    plan: JudgingPlan,
    prompt: Path | None,
    scale: Path | None,
    temperature: float,
    samples: int = 1,
    token_probabilities: bool = False,
    tasks: Iterable[JudgeTask] = (),
    cascade: Path | None = None,
    cascade_scorer: Literal["embedding", "entailment"] = "embedding",
) -> Judge:
    """Return the judge for `plan`; `tasks` are what it will be asked, for batches of questions.

    With `cascade`, the thresholds' file, a local scorer judges first.

    Raises
    ------
    ConfigurationError
        If the aspect needs a prompt and a scale that were not given, or the backend is ``local``
        and the aspect is not one that it measures.
    """
    if models.llm is None:
        if prompt or scale:
            raise ConfigurationError("--prompt and --scale need an LLM: give one by --backend")
        support = EmbeddingSupport(embedder=models.embedder())
        return LocalJudge(aspect=plan.aspect, support=support)
    if cascade is not None:
        return _cascade(
            models,
            make_judge(
                models,
                plan=plan,
                prompt=prompt,
                scale=scale,
                temperature=temperature,
                samples=samples,
                token_probabilities=token_probabilities,
                tasks=tasks,
            ),
            plan=plan,
            thresholds=cascade,
            scorer=cascade_scorer,
        )
    criterion = _criterion(plan, prompt=prompt, scale=scale)
    if models.llm.decides is not None:
        return decision_judge(models.llm.decides, models.llm.target, criterion, tasks=tasks)
    return LlmJudge(
        backend=models.llm.backend,
        target=models.llm.target,
        criterion=criterion,
        temperature=temperature,
        samples=samples,
        token_probabilities=token_probabilities,
        **models.llm.sampling,
    )


def _cascade(
    models: Models, judge: Judge, *, plan: JudgingPlan, thresholds: Path, scorer: Fallback
) -> Judge:
    if plan.protocol == "pairwise":
        raise ConfigurationError("--cascade routes single summaries; pairs have no threshold")
    local = make_fallback(models, scorer, aspect=plan.aspect)
    if local is None:
        raise ConfigurationError("--cascade needs a local scorer: embedding or entailment")
    low, high = read_thresholds(thresholds)
    return CascadeJudge(local=local, judge=judge, low=low, high=high)


def _criterion(plan: JudgingPlan, *, prompt: Path | None, scale: Path | None) -> Criterion:
    if prompt and scale:
        criterion = Criterion(
            aspect=plan.aspect, template=load_template_file(prompt), scale=load_scale(scale)
        )
        if criterion.scale.protocol != plan.protocol:
            raise ConfigurationError(
                f"{scale}: this scale is for --protocol {criterion.scale.protocol}, "
                f"not {plan.protocol}"
            )
        return criterion
    builtin = builtin_criterion(
        plan.aspect, plan.protocol, per_answer=plan.reference_unit == "qa_pair"
    )
    return Criterion(
        aspect=plan.aspect,
        template=load_template_file(prompt) if prompt else builtin.template,
        scale=load_scale(scale) if scale else builtin.scale,
    )


def scale_range(judge: Judge, plan: JudgingPlan) -> tuple[float, float]:
    """Return the lowest and the highest value that `judge` can give a system."""
    if plan.protocol != "likert":
        return 0.0, 1.0
    if not isinstance(judge, LlmJudge):
        return 1.0, 5.0
    levels = judge.criterion.scale.levels
    values = [level.value for level in levels if isinstance(level.value, int | float)]
    return min(values), max(values)


def make_fallback(models: Models, fallback: Fallback, *, aspect: str) -> Judge | None:
    """Return who fills in what the judge leaves unscored, or None."""
    if fallback == "none":
        return None
    support = (
        EntailmentSupport(classifier=models.entailment())
        if fallback == "entailment"
        else EmbeddingSupport(embedder=models.embedder())
    )
    return LocalJudge(aspect=aspect, support=support)
