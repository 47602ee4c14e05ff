"""Make judges and fallback judges from options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from fairjudge.domain import JudgeTask
from fairjudge.engine.models import Llm, Models
from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import Fallback, GuaranteedThreshold, Thresholds
from fairjudge.judges.balance import BALANCE
from fairjudge.judges.cascades import CascadeJudge, GuaranteedCascade
from fairjudge.judges.checklist import CoverageForm
from fairjudge.judges.checklist_judge import FORMS, ChecklistJudge
from fairjudge.judges.criteria import Criterion, builtin_criterion, rule_scale
from fairjudge.judges.decision import decision_judge
from fairjudge.judges.entailment import EntailmentSupport
from fairjudge.judges.llm import LlmJudge
from fairjudge.judges.local import LocalJudge, Support, check_local_aspect
from fairjudge.judges.ports import Judge
from fairjudge.judges.ranking import RankingJudge
from fairjudge.judges.tasks import JudgingPlan
from fairjudge.judges.together import (
    JointCriterion,
    JointJudge,
    joint_criterion,
    tasks_by_item,
)
from fairjudge.judges.trained import TrainedSupport
from fairjudge.options.judging import JudgeOptions
from fairjudge.prompting import Template
from fairjudge.protocols import PROTOCOLS
from fairjudge.run.material import first_template, prompt_variants
from fairjudge.scales import Scale, load_scale

_NOT_TOGETHER = "--together requires an LLM judge: pass one with --backend"


def make_judge(
    models: Models,
    options: JudgeOptions,
    *,
    plan: JudgingPlan,
    tasks: Iterable[JudgeTask] = (),
    first: Models | None = None,
) -> Judge:
    """Return the judge for `plan`; with `tasks`, questions on one summary can be batched.

    `first` has the models of the first judge of a cascade with a guarantee.
    """
    if options.together:
        return _joint_judge(models, options, tasks)
    variants = prompt_variants(options, plan)
    if options.cascade is not None:
        _reject_repeats(options, variants)
    if models.llm is None:
        check_without_llm(options, plan)
        by_entailment = plan.aspect == BALANCE and models.entailment is not None
        support = _support(models, "entailment" if by_entailment else "embedding")
        return LocalJudge(aspect=plan.aspect, support=support, tasks=tasks)
    if options.cascade is not None:
        judge = make_judge(models, replace(options, cascade=None), plan=plan, tasks=tasks)
        cascade = options.cascade
        if isinstance(cascade, GuaranteedThreshold):
            if first is None:
                raise ConfigurationError(
                    "a cascade with a guarantee requires the models of its first judge"
                )
            first_judge = make_judge(first, first_options(options, cascade), plan=plan)
            cascade.check(first_judge)
            return GuaranteedCascade(first=first_judge, judge=judge, guarantee=cascade)
        scorer = options.cascade_scorer
        return _cascade(models, judge, plan=plan, thresholds=cascade, scorer=scorer)
    return _llm_judge(models.llm, options, plan=plan, tasks=tasks, variants=variants)


def check_without_llm(options: JudgeOptions, plan: JudgingPlan) -> None:
    """Reject options that the local backend does not support, before its models are loaded."""
    if options.together:
        raise ConfigurationError(_NOT_TOGETHER)
    _reject_repeats(options, prompt_variants(options, plan))
    if PROTOCOLS[plan.protocol].listwise:
        raise ConfigurationError("--protocol ranking needs an LLM: pass one with --backend")
    if options.prompt or options.scale or options.rule:
        raise ConfigurationError(
            "--rule, --prompt and --scale need an LLM: pass one with --backend"
        )
    check_local_aspect(plan.aspect)
    is_whole = plan.text_unit == "summary" and not PROTOCOLS[plan.protocol].yes_no
    if plan.aspect == BALANCE and not is_whole:
        raise ConfigurationError(
            "without an LLM, balance needs whole summaries and --protocol likert or pairwise"
        )


def _llm_judge(
    llm: Llm,
    options: JudgeOptions,
    *,
    plan: JudgingPlan,
    tasks: Iterable[JudgeTask],
    variants: Mapping[str, Template],
) -> Judge:
    if PROTOCOLS[plan.protocol].itemized or PROTOCOLS[plan.protocol].listwise:
        return _structured_judge(llm, options, plan)
    criterion = criterion_of(plan, options)
    if llm.decides is not None:
        if variants:
            raise ConfigurationError("--prompt-variants requires an LLM judge")
        return decision_judge(llm.decides, llm.target, criterion, tasks=tasks)
    criteria_by_variant = {
        name: replace(criterion, template=variant) for name, variant in variants.items()
    }
    return LlmJudge(
        criterion=next(iter(criteria_by_variant.values()), criterion),
        variants=criteria_by_variant,
        samples=options.samples,
        token_probabilities=options.token_probabilities,
        **_settings(llm, options),
    )


def _settings(llm: Llm, options: JudgeOptions) -> dict[str, Any]:
    """Return the arguments of every LLM judge: its model and sampling settings."""
    sampling = {"temperature": options.sampling_temperature, **llm.sampling}
    return {"backend": llm.backend, "target": llm.target, **sampling}


def stated_criteria(options: JudgeOptions) -> dict[str, JointCriterion]:
    """Return the criteria that are judged together, by aspect."""
    protocol = options.plans()[0].protocol
    return {
        criterion.aspect: joint_criterion(
            criterion.aspect,
            protocol,
            rule=criterion.rule,
            scale=load_scale(criterion.scale) if criterion.scale else None,
        )
        for criterion in options.together
    }


def _joint_judge(models: Models, options: JudgeOptions, tasks: Iterable[JudgeTask]) -> Judge:
    criteria = stated_criteria(options)
    if models.llm is None or models.llm.decides is not None:
        raise ConfigurationError(_NOT_TOGETHER)
    settings = _settings(models.llm, options)
    return JointJudge(criteria=criteria, items=tasks_by_item(tasks), **settings)


def _reject_repeats(options: JudgeOptions, variants: Mapping[str, Template]) -> None:
    """Reject --repeats and --prompt-variants for judges that are deterministic."""
    excluded_options = {"--repeats": options.repeats > 1, "--prompt-variants": bool(variants)}
    for option in (name for name, is_given in excluded_options.items() if is_given):
        reason = "does not go with --cascade" if options.cascade else "needs an LLM (--backend)"
        raise ConfigurationError(f"{option} {reason}; a local scorer is deterministic")


def _structured_judge(llm: Llm, options: JudgeOptions, plan: JudgingPlan) -> Judge:
    """Return the judge for rankings or checklists, which have their own prompt and reply format.

    Options that cannot be combined with them raise `ConfigurationError`.
    """
    protocol, listwise = plan.protocol, PROTOCOLS[plan.protocol].listwise
    excluded_options = {
        "--rule": options.rule,
        "--prompt": options.prompt,
        "--scale": options.scale,
        "--token-probabilities": options.token_probabilities,
        "--samples": options.samples > 1,
        "--fallback": listwise and options.fallback != "none",
    }
    for option in (name for name, value in excluded_options.items() if value):
        raise ConfigurationError(f"{option} does not go with --protocol {protocol}")
    if llm.decides is not None:
        raise ConfigurationError(f"a decision model cannot write a {protocol}: use an LLM")
    if listwise:
        return RankingJudge(aspect=plan.aspect, **_settings(llm, options))
    form = FORMS[plan.aspect]
    if isinstance(form, CoverageForm):
        form = CoverageForm(groups_per_call=options.groups_per_call)
    return ChecklistJudge(form=form, **_settings(llm, options))


def _cascade(
    models: Models, judge: Judge, *, plan: JudgingPlan, thresholds: Thresholds, scorer: Fallback
) -> Judge:
    if PROTOCOLS[plan.protocol].paired:
        raise ConfigurationError("--cascade only applies to single summaries, not to pairs")
    local_scorer = make_fallback(models, scorer, aspect=plan.aspect)
    if local_scorer is None:
        raise ConfigurationError("--cascade needs a local scorer: embedding or entailment")
    low, high = thresholds
    return CascadeJudge(first=local_scorer, judge=judge, low=low, high=high)


def first_options(options: JudgeOptions, guarantee: GuaranteedThreshold) -> JudgeOptions:
    """Return the options of the first judge with which the guarantee was fitted."""
    plan, signature_parts = options.plan(), guarantee.signature_parts
    if (plan.aspect, plan.protocol) != (guarantee.aspect, guarantee.protocol):
        raise ConfigurationError(
            f"the guarantee is for {guarantee.aspect} by {guarantee.protocol}, not for "
            f"{plan.aspect} by {plan.protocol}"
        )
    if guarantee.threshold is None:
        raise ConfigurationError("the guarantee accepts no answer: judge without --cascade")
    if "judge" not in signature_parts:
        raise ConfigurationError(
            f"the judge of the guarantee, {guarantee.judge!r}, cannot be run here: fit it on "
            "judgements by 'fairjudge judge' with one prompt"
        )
    return replace(
        options,
        cascade=None,
        temperature=float(signature_parts.get("temperature", 0.0)),
        samples=int(signature_parts.get("samples", 1)),
        token_probabilities=signature_parts.get("score") == "token_probabilities",
    )


def criterion_of(plan: JudgingPlan, options: JudgeOptions) -> Criterion:
    """Return the criterion (prompt and scale) of `plan`: the user's, or the built-in one."""
    scale = load_scale(options.scale) if options.scale else None
    if options.rule is None and not (options.prompt and scale):
        per_answer = plan.reference_unit == "qa_pair"
        builtin = builtin_criterion(plan.aspect, plan.protocol, per_answer=per_answer)
        scale = scale or builtin.scale
    elif scale is not None and scale.protocol != plan.protocol:
        raise ConfigurationError(
            f"{options.scale}: this scale is for --protocol {scale.protocol}, not {plan.protocol}"
        )
    return Criterion(
        aspect=plan.aspect,
        template=first_template(options, plan),
        scale=scale or rule_scale(plan.protocol),
    )


def scale_range(judge: Judge, plan: JudgingPlan) -> tuple[float, float]:
    """Return the lowest and the highest score of a system by `judge`."""
    protocol = PROTOCOLS[plan.protocol]
    if protocol.graded and isinstance(judge, LlmJudge):
        return range_of(judge.criterion.scale)
    return protocol.score_range


def range_of(scale: Scale) -> tuple[float, float]:
    """Return the lowest and the highest value of a numeric scale."""
    values = [level.value for level in scale.levels if isinstance(level.value, int | float)]
    return min(values), max(values)


def make_fallback(models: Models, fallback: Fallback, *, aspect: str) -> Judge | None:
    """Return the judge for items that the main judge leaves unscored, or None."""
    if fallback == "none":
        return None
    return LocalJudge(aspect=aspect, support=_support(models, fallback))


def _support(models: Models, fallback: Literal["entailment", "embedding"]) -> Support:
    """Return a local scorer: the trained models, unless another entailment model is set."""
    classifier = models.entailment if fallback == "entailment" else None
    if classifier is not None:
        return EntailmentSupport(classifier=classifier)
    trained, embedder = models.trained, models.embedder
    if fallback == "embedding":
        return TrainedSupport(models=trained, embedder=embedder, name=models.local_name)
    return TrainedSupport(
        models=trained, embedder=embedder, name="entailment", scored_by="entailment"
    )
