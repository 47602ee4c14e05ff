"""Judge with a language model that writes its verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from fairjudge.domain import Judgement, JudgeTask, ScoredBy, Undefined, Unscored
from fairjudge.judges.criteria import Criterion
from fairjudge.judges.distributions import (
    ScoreDistribution,
    from_masses,
    from_samples,
    from_tokens,
    graded_fields,
)
from fairjudge.judges.ports import Judge, Reply, Sample
from fairjudge.parsing import PARSER_VERSION, read_verdict
from fairjudge.parsing.outcomes import RETRYABLE, complete_or_unscored, is_cut_off, with_cut_off
from fairjudge.ports import Backend, Completion, CompletionRequest, Message, ModelRef
from fairjudge.prompting import Fenced, Template, load_template, render
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.signature import signature
from fairjudge.scales import REPLY_FORM, Position, to_verdict

DEFAULT_OUTPUT_TOKENS = 1024
"""Enough for the reasoning before the verdict."""
_MAX_ALTERNATIVES = 20
"""Maximum number of alternatives per token (OpenAI's limit)."""
Parts: TypeAlias = Mapping[str, str | float | None]
"""Parts of a signature by name."""


class SignedJudge(Judge):
    """Base class of judges: ``unscored`` tasks need no call; judgements have a signature."""

    @property
    def scored_by(self) -> ScoredBy:
        """Return the kind of model that judges."""
        return "llm"

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`; no call is made for a task that is ``unscored``."""
        return task.unscored or await self._ask(task)

    async def _ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        raise NotImplementedError

    def unscored_judgement(self, task: JudgeTask, outcome: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._judgement(
            task, unscored=outcome.reason, raw=outcome.raw, detail=outcome.detail
        )

    def _judgement(self, task: JudgeTask, **outcome: Any) -> Judgement:
        return judgement_of(
            task,
            judge=self.name,
            scored_by=self.scored_by,
            signature=self._signature_of(task),
            **outcome,
        )

    def _signature_of(self, task: JudgeTask) -> str:  # noqa: ARG002  # `LlmJudge` needs it
        return self.signature


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingModel(SignedJudge):
    """Base class of judges whose model writes text: settings and requests."""

    backend: Backend
    target: ModelRef
    temperature: float = 0.0
    seed: int | None = None
    max_output_tokens: int | None = None
    default_output_tokens: ClassVar[int | None] = None
    """The limit that signatures omit."""

    @property
    def name(self) -> str:
        """Return ``provider:model``."""
        return str(self.target)

    def _signature(self, prompt: Template, parts: Parts, **more: str | float | None) -> str:
        """Return the signature of this model with `prompt`; `more` are additional parts, last."""
        limit = self.max_output_tokens
        return signature(
            {
                "judge": self.name,
                "base_url": self.target.base_url,
                "prompt": prompt.label,
                **parts,
                "temperature": self.temperature,
                "seed": self.seed,
                "max_output_tokens": None if limit == self.default_output_tokens else limit,
                **more,
            }
        )

    def _request(
        self,
        task: JudgeTask,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        **more: Any,
    ) -> CompletionRequest:
        repeat = task.repeat or 0
        defaults = {"max_output_tokens": self.max_output_tokens, "sample_index": repeat}
        return CompletionRequest(
            target=self.target,
            messages=messages,
            response_schema=schema,
            temperature=self.temperature,
            # With one seed a deterministic server would return the same reply for every repeat.
            seed=None if self.seed is None else self.seed + repeat,
            **defaults | more,
        )

    async def _reply(
        self, request: CompletionRequest, *, repaired: bool = False
    ) -> Reply | Unscored:
        completion = await complete_or_unscored(self.backend, request)
        if isinstance(completion, Unscored):
            return completion
        return Reply(text=completion.text, cut_off=is_cut_off(completion), repaired=repaired)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmJudge(WritingModel):
    """A model, a criterion and its sampling parameters.

    ``max_output_tokens`` must leave room for the reasoning before the verdict. With
    ``token_probabilities`` the score is the mean over the answers' probabilities at the verdict's
    token, if the server returns them. Otherwise the judgement contains the reason, and the score is
    the mean of ``samples`` replies, or the verdict of a single reply. In both cases the score is
    derived from a distribution (`fairjudge.judges.distributions`).

    ``variants`` are the criterion with several wordings of its prompt; `criterion` is the first.
    The ``variant`` of a task selects the wording, also for the signature.
    """

    criterion: Criterion
    max_output_tokens: int = DEFAULT_OUTPUT_TOKENS
    default_output_tokens = DEFAULT_OUTPUT_TOKENS
    samples: int = 1
    token_probabilities: bool = False
    variants: Mapping[str, Criterion] = field(default_factory=dict, hash=False)
    # Computed once, since every judgement needs them.
    _signatures: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        criteria = {"": self.criterion, **self.variants}
        signatures = {
            name: self._criterion_signature(criterion) for name, criterion in criteria.items()
        }
        object.__setattr__(self, "_signatures", signatures)

    @property
    def signature(self) -> str:
        """Return everything that can change this judge's verdicts, for all prompts."""
        return " | ".join(self._signatures[name] for name in self.variants or ("",))

    def _criterion_signature(self, criterion: Criterion) -> str:
        scale = criterion.scale.label
        return self._signature(
            criterion.template,
            {"scale": scale, "form": REPLY_FORM, "parser": PARSER_VERSION},
            samples=self.samples if self.samples > 1 else None,
            score="token_probabilities" if self.token_probabilities else None,
        )

    async def _ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """Ask the model; identical summaries need no call."""
        if len(set(task.texts)) < len(task.texts):
            return self._judgement(task, value="tie")
        first = await complete_or_unscored(self.backend, self._question(task, 0))
        if isinstance(first, Unscored):
            return first
        if self.token_probabilities:
            score_distribution = from_tokens(first, self.criterion.scale, aspect=task.aspect)
            if isinstance(score_distribution, ScoreDistribution):
                return Reply(
                    text=first.text,
                    cut_off=is_cut_off(first),
                    masses=score_distribution.probabilities,
                    off_scale=score_distribution.off_scale,
                )
            return await self._sample(task, first, why_no_masses=score_distribution.why)
        return await self._sample(task, first)

    async def _sample(
        self, task: JudgeTask, first: Completion, *, why_no_masses: str | None = None
    ) -> Reply | Unscored:
        """Draw the remaining samples; a retryable failure of one leaves the item unscored."""
        requests = (self._question(task, index) for index in range(1, self.samples))
        completions = await asyncio.gather(
            *(complete_or_unscored(self.backend, request) for request in requests)
        )
        samples: list[Sample | None] = []
        for completion in completions:
            if not isinstance(completion, Unscored):
                samples.append(Sample(text=completion.text, cut_off=is_cut_off(completion)))
            elif completion.reason in RETRYABLE:
                return completion
            else:
                samples.append(None)
        return Reply(
            text=first.text,
            cut_off=is_cut_off(first),
            why_no_masses=why_no_masses,
            others=tuple(samples),
        )

    def _question(self, task: JudgeTask, index: int) -> CompletionRequest:
        criterion = self.variants[task.variant or ""] if self.variants else self.criterion
        return self._request(
            task,
            render(criterion.template, criterion.fields_for(task)),
            criterion.scale.schema,
            top_logprobs=_MAX_ALTERNATIVES if self.token_probabilities else None,
            sample_index=(task.repeat or 0) * self.samples + index,
        )

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        scale = self.criterion.scale
        verdict = read_verdict(reply.text, scale, aspect=task.aspect, cut_off=reply.cut_off)
        score_distribution = self._distribution(reply, verdict, aspect=task.aspect)
        reason = reply.why_no_masses
        notes: dict[str, Any] = {} if reason is None else {"without_probabilities": reason}
        if isinstance(score_distribution, ScoreDistribution):
            if reply.others:
                texts = [None if sample is None else sample.text for sample in reply.others]
                notes["samples"] = [reply.text, *texts]
            fields = graded_fields(score_distribution, scale, task)
            return self._judgement(task, raw=reply.text, **fields, **notes)
        if isinstance(verdict, Unscored):
            return with_cut_off(verdict) if reply.cut_off else verdict
        value = to_verdict(verdict, task.order or "ab") if isinstance(verdict, str) else verdict
        return self._judgement(task, value=value, raw=reply.text, **notes)

    def _distribution(
        self, reply: Reply, verdict: float | Position | Unscored, *, aspect: str
    ) -> ScoreDistribution | Undefined | None:
        scale = self.criterion.scale
        if reply.masses is not None:
            off_scale = reply.off_scale / (1.0 - reply.off_scale) if reply.off_scale < 1.0 else 0.0
            return from_masses(reply.masses, scale, off_scale=off_scale)
        if not reply.others:
            return None
        verdicts = [
            read_verdict(sample.text, scale, aspect=aspect, cut_off=sample.cut_off)
            if sample
            else Unscored(reason="refused")
            for sample in reply.others
        ]
        return from_samples([verdict, *verdicts], scale)

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`; the model sees its reply, not the material."""
        request = self._request(
            task,
            repair_messages(reply, self.criterion.scale.prompt_line),
            # If the schema had no "none", the model would invent a verdict.
            self.criterion.scale.nullable_schema,
            sample_index=(task.repeat or 0) * self.samples,
        )
        return await self._reply(request, repaired=True)

    def _signature_of(self, task: JudgeTask) -> str:
        return self._signatures.get(task.variant or "", self._signatures[""])


def repair_messages(
    reply: Reply, form: str, *, prompt: str = "repair", **fields: str
) -> tuple[Message, ...]:
    """Return the prompt that asks to repeat the verdict in `reply` in the format `form`."""
    material = {"reply": Fenced("reply", (reply.text,))}
    return render(load_template("judge", prompt), {**material, "scale": form, **fields})


def judgement_of(task: JudgeTask, **fields: Any) -> Judgement:
    """Return a judgement on `task`; `fields` are the record's other fields."""
    task_fields = {"repeat": task.repeat, "variant": task.variant}
    systems: dict[str, Any]
    if PROTOCOLS[task.protocol].listwise:
        systems = {"systems": task.systems, "order": task.order}
    elif len(task.systems) == 1:
        systems = {"system": task.systems[0]}
    else:
        systems = {"system_a": task.systems[0], "system_b": task.systems[1], "order": task.order}
    return Judgement.model_validate(
        {
            "eid": task.eid,
            **systems,
            "aspect": task.aspect,
            "protocol": task.protocol,
            "unit": task.unit,
            **{name: value for name, value in task_fields.items() if value is not None},
            "value": None,
            "unscored": None,
            "raw": None,
            "probabilities": None,
            **fields,
        }
    )
