"""Options of judging (``fairjudge judge``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import (
    ASPECTS,
    LOCAL_ASPECTS,
    AskedAspect,
    DerivedProtocol,
    Fallback,
    GuaranteedThreshold,
    Preset,
    ReferenceUnit,
    TextUnit,
    Thresholds,
)
from fairjudge.options.declaring import Opt, identity_of

if TYPE_CHECKING:
    from fairjudge.domain import ProtocolName
    from fairjudge.judges.tasks import JudgingPlan

_OMITTED_IF_DEFAULT = (
    "groups_per_call",
    "rule",
)
"""Fields added in later versions; omitted from identities at their default, as in earlier runs."""
_LOCAL_ASPECTS = ", ".join(map(repr, LOCAL_ASPECTS))
_LLM_ASPECTS = ", ".join(repr(aspect) for aspect in ASPECTS if aspect not in LOCAL_ASPECTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """Options of ``fairjudge judge``; see its help."""

    PANEL: ClassVar = "Judging"
    aspect: Annotated[
        str,
        Opt(
            f"Aspect to judge: {_LOCAL_ASPECTS}; with an LLM also "
            f"{_LLM_ASPECTS}, or the name of your "
            "own criterion (--rule)."
        ),
    ]
    protocol: Annotated[
        Literal["likert", "binary", "pairwise", "checklist", "ranking"] | None,
        Opt(
            "Format of the verdicts; or choose a --preset. checklist: whether each answer is "
            "covered, with a quote (coverage), or each statement supported (faithfulness). "
            "ranking: all summaries of a cluster in order, in one call."
        ),
    ] = None
    preset: Annotated[
        Preset | None,
        Opt(
            "Protocol and units. paper, budget, granular: as recommended by DiverseSumm's "
            "comparison. recommended: 'paper', with a checklist for coverage."
        ),
    ] = None
    reference_unit: Annotated[
        ReferenceUnit | None,
        Opt(
            "Evidence in one request: 'articles' (all) or 'article' (one) for faithfulness, "
            "'qa_pairs' (all) or 'qa_pair' (one) for coverage, any of these for your own "
            "criterion. Default: all."
        ),
    ] = None
    text_unit: Annotated[
        TextUnit | None,
        Opt("Judge whole summaries, or each sentence (faithfulness against all articles)."),
    ] = None
    rule: Annotated[
        str | None,
        Opt(
            "Your own criterion in one or two sentences; --aspect is its name. Rated from 1 to 5 "
            "unless --protocol or --scale is set.",
            metavar="TEXT",
        ),
    ] = None
    prompt: Annotated[Path | None, Opt("Your own prompt template (file), for any aspect.")] = None
    scale: Annotated[Path | None, Opt("Your own scale (TOML).")] = None
    fallback: Annotated[
        Fallback,
        Opt("Local scorer for items that the judge leaves unscored; marked in 'scored_by'."),
    ] = "none"
    cascade: Thresholds | GuaranteedThreshold | None = None
    cascade_scorer: Annotated[
        Literal["embedding", "entailment"], Opt("The local scorer of --cascade.")
    ] = "embedding"
    derive: Annotated[
        tuple[DerivedProtocol, ...],
        Opt(
            "Also derive judgements of this protocol from the checklists, without requests. "
            "Repeatable."
        ),
    ] = ()
    temperature: Annotated[
        float | None, Opt("Sampling temperature. Default: 0; 1 with --samples.", ge=0, le=2)
    ] = None
    samples: Annotated[
        int, Opt("Number of replies per request; the score is their mean.", ge=1, le=100)
    ] = 1
    repeats: Annotated[
        int,
        Opt(
            "Number of repetitions per item; each is a separate judgement. 'audit stability' "
            "measures how much they differ.",
            ge=1,
            le=100,
        ),
    ] = 1
    prompt_variants: Annotated[
        int,
        Opt(
            "Judge every item with this many equivalent wordings of the built-in prompt.",
            ge=1,
            le=3,
        ),
    ] = 1
    paraphrases: Annotated[
        tuple[Path, ...],
        Opt(
            "Your own wording of the prompt (file); every item is also judged with it. Repeatable.",
            flag="--paraphrase",
        ),
    ] = ()
    token_probabilities: Annotated[
        bool,
        Opt(
            "Score by the probabilities of the answer tokens if the backend returns them, else by "
            "--samples.",
            former=("--expected",),
        ),
    ] = False
    groups_per_call: Annotated[
        int,
        Opt(
            "Maximum number of answer groups per call with --protocol checklist; the groups of a "
            "question are never split.",
            ge=1,
            le=500,
        ),
    ] = 25
    together: tuple[AskedAspect, ...] = ()

    @property
    def sampling_temperature(self) -> float:
        """The sampling temperature; by default 1 with several samples, else 0."""
        return float(self.samples > 1) if self.temperature is None else self.temperature

    def identity(self) -> dict[str, Any]:
        """Return the options by name, with defaults, as part of the identity of a run or study."""
        options = replace(self, temperature=self.sampling_temperature)
        return identity_of(options, omit_if_default=_OMITTED_IF_DEFAULT)

    def plan(self) -> JudgingPlan:
        """Return the plan (aspect, protocol and units) that these options select."""
        from fairjudge.judges.checklist import GROUPS_PER_CALL
        from fairjudge.judges.tasks import resolve_plan
        from fairjudge.protocols import PROTOCOLS

        plan = resolve_plan(
            self.aspect,
            protocol=self.protocol or self._protocol_of_rule(),
            reference_unit=self.reference_unit,
            text_unit=self.text_unit,
            preset=self.preset,
            own_prompt=self.prompt is not None or self.rule is not None,
        )
        if self.derive and not PROTOCOLS[plan.protocol].itemized:
            raise ConfigurationError("--derive needs --protocol checklist")
        has_groups = PROTOCOLS[plan.protocol].itemized and plan.aspect == "coverage"
        if self.groups_per_call != GROUPS_PER_CALL and not has_groups:
            raise ConfigurationError("--groups-per-call needs coverage with --protocol checklist")
        return plan

    def _protocol_of_rule(self) -> ProtocolName | None:
        """Return the protocol of the rule's scale, or None without a rule."""
        from fairjudge.scales import load_scale

        if self.rule is None or self.preset is not None:
            return None
        if self.prompt is not None:
            raise ConfigurationError(
                "--rule and --prompt both define the criterion: use one of them"
            )
        return "likert" if self.scale is None else load_scale(self.scale).protocol

    @property
    def needs_questions(self) -> bool:
        """Whether summaries are judged against questions and answers, not articles alone."""
        return any(plan.needs_questions for plan in self.plans())

    def plans(self) -> tuple[JudgingPlan, ...]:
        """Return the plan of each aspect that is judged.

        Raises
        ------
        ConfigurationError
            If an option cannot be combined with several aspects.
        """
        if not self.together:
            return (self.plan(),)
        self._check_joint_options()
        return tuple(
            replace(
                self,
                aspect=aspect.aspect,
                reference_unit=None if aspect.aspect == "coverage" else "articles",
                together=(),
            ).plan()
            for aspect in self.together
        )

    def _check_joint_options(self) -> None:
        excluded_options = {
            "--preset": self.preset,
            "--reference-unit": self.reference_unit,
            "--text-unit": self.text_unit,
            "--rule": self.rule,
            "--prompt": self.prompt,
            "--scale": self.scale,
            "--fallback": self.fallback != "none",
            "--cascade": self.cascade,
            "--derive": self.derive,
            "--samples": self.samples > 1,
            "--token-probabilities": self.token_probabilities,
            "--prompt-variants": self.prompt_variants > 1,
            "--paraphrase": self.paraphrases,
        }
        for option in (name for name, value in excluded_options.items() if value):
            raise ConfigurationError(f"{option} cannot be combined with --together")
        names = [aspect.aspect for aspect in self.together]
        if len(names) < 2 or len(set(names)) < len(names):
            raise ConfigurationError(
                f"--together needs two or more different aspects, not {names!r}"
            )
