"""Options of judging."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import (
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """Options of ``fairjudge judge``; see its help."""

    PANEL: ClassVar = "Judging"
    aspect: Annotated[
        str,
        Opt(
            "What is judged: 'coverage', 'faithfulness' or 'balance', also by the local backend; "
            "by an LLM also 'relevance', 'coherence', 'fluency', 'consistency' or 'quality', or "
            "the name of your own criterion (--rule)."
        ),
    ]
    protocol: Annotated[
        Literal["likert", "binary", "pairwise", "checklist", "ranking"] | None,
        Opt(
            "Protocol of the verdicts; or choose a --preset. 'checklist' (coverage) judges for "
            "each answer whether it is covered, with a quote; 'ranking' orders all summaries of "
            "a cluster in one call."
        ),
    ] = None
    preset: Annotated[
        Preset | None,
        Opt(
            "Protocol and units: 'paper', 'budget' and 'granular' are what DiverseSumm's "
            "comparison recommends; 'recommended' is 'paper' with a checklist for coverage."
        ),
    ] = None
    reference_unit: Annotated[
        ReferenceUnit | None,
        Opt(
            "Reference of one request: all articles or one (faithfulness), all QA pairs or one "
            "(coverage); any of these for a criterion of your own. The first is the default."
        ),
    ] = None
    text_unit: Annotated[
        TextUnit | None,
        Opt("Whole summaries, or their sentences (faithfulness, all articles)."),
    ] = None
    rule: Annotated[
        str | None,
        Opt(
            "Your own criterion in a sentence or two, under the name of --aspect; rated 1 to 5 "
            "unless --protocol or --scale says otherwise.",
            metavar="TEXT",
        ),
    ] = None
    prompt: Annotated[Path | None, Opt("Your own prompt template, for any aspect.")] = None
    scale: Annotated[Path | None, Opt("Your own scale (TOML).")] = None
    fallback: Annotated[
        Fallback,
        Opt("Local scorer for items that the judge leaves unscored; its judgements are marked."),
    ] = "none"
    cascade: Thresholds | GuaranteedThreshold | None = None
    cascade_scorer: Annotated[
        Literal["embedding", "entailment"], Opt("The local scorer of --cascade.")
    ] = "embedding"
    derive: Annotated[
        tuple[DerivedProtocol, ...],
        Opt(
            "Also derive judgements of this protocol from the checklists, without a request. "
            "Repeatable."
        ),
    ] = ()
    temperature: Annotated[
        float | None, Opt("Sampling temperature; 0 by default, 1 with --samples.", ge=0, le=2)
    ] = None
    samples: Annotated[
        int, Opt("Replies to each request; the score is their mean.", ge=1, le=100)
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
            "Judge every item with N wordings of the built-in prompt, all of one meaning.",
            ge=1,
            le=3,
        ),
    ] = 1
    paraphrases: Annotated[
        tuple[Path, ...],
        Opt(
            "Your own wording of the prompt; every item is judged by it too. Repeatable.",
            flag="--paraphrase",
        ),
    ] = ()
    token_probabilities: Annotated[
        bool,
        Opt(
            "Score by the probabilities of the answers' tokens where the backend gives them, else "
            "by --samples.",
            former=("--expected",),
        ),
    ] = False
    groups_per_call: Annotated[
        int,
        Opt(
            "Maximum number of groups of answers in one call of --protocol checklist; the "
            "groups of a question stay together.",
            ge=1,
            le=500,
        ),
    ] = 25
    together: tuple[AskedAspect, ...] = ()

    @property
    def sampling_temperature(self) -> float:
        """The sampling temperature: as given, else 1 with several samples and 0 without."""
        return float(self.samples > 1) if self.temperature is None else self.temperature

    def stated(self) -> dict[str, Any]:
        """Return the options by name, as runs and studies are identified; no default is open."""
        settled = replace(self, temperature=self.sampling_temperature)
        return identity_of(settled, later=("groups_per_call", "rule"))

    def plan(self) -> JudgingPlan:
        """Return the row of the table of protocols that these options select."""
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
            raise ConfigurationError("--derive takes its verdicts from --protocol checklist")
        of_groups = PROTOCOLS[plan.protocol].itemized and plan.aspect == "coverage"
        if self.groups_per_call != GROUPS_PER_CALL and not of_groups:
            raise ConfigurationError("--groups-per-call is of coverage by --protocol checklist")
        return plan

    def _protocol_of_rule(self) -> ProtocolName | None:
        """Return the protocol of a rule on its scale, or None without a rule."""
        from fairjudge.scales import load_scale

        if self.rule is None or self.preset is not None:
            return None
        if self.prompt is not None:
            raise ConfigurationError(
                "--rule and --prompt exclude each other, since each defines the criterion: give one"
            )
        return "likert" if self.scale is None else load_scale(self.scale).protocol

    @property
    def needs_questions(self) -> bool:
        """Whether summaries are judged against questions and answers, not articles alone."""
        return any(plan.needs_questions for plan in self.plans())

    def plans(self) -> tuple[JudgingPlan, ...]:
        """Return the plan of each aspect: of one, or of those that are judged together.

        Raises
        ------
        ConfigurationError
            If an option does not go with several.
        """
        if not self.together:
            return (self.plan(),)
        self._check_together()
        return tuple(
            replace(
                self,
                aspect=aspect.aspect,
                reference_unit=None if aspect.aspect == "coverage" else "articles",
                together=(),
            ).plan()
            for aspect in self.together
        )

    def _check_together(self) -> None:
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
            raise ConfigurationError(f"{option} does not go with --together")
        names = [aspect.aspect for aspect in self.together]
        if len(names) < 2 or len(set(names)) < len(names):
            raise ConfigurationError(
                f"--together takes two or more different aspects, not {names!r}"
            )
