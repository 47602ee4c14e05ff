"""Send the prompts of reference building to a model and parse the replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from fairjudge.domain import Unscored
from fairjudge.parsing.outcomes import complete_or_unscored, is_cut_off, with_cut_off
from fairjudge.ports import Backend, CompletionRequest, ModelRef
from fairjudge.prompting import Fenced, Template, render

T = TypeVar("T")

SECOND_TEMPERATURE = 0.7
"""Temperature of the second attempt: at 0 the model would repeat its unparseable reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Sends rendered templates to a model and parses the replies.

    ``seed`` is optional; the temperature is 0. ``max_output_tokens`` limits every reply; if it is
    None, each step has a default limit for its kind of reply.
    """

    backend: Backend
    target: ModelRef
    seed: int | None = None
    max_output_tokens: int | None = None

    async def ask(
        self,
        template: Template,
        fields: Mapping[str, str | Fenced],
        *,
        schema: Mapping[str, Any],
        parse: Callable[[str, bool], T | Unscored],
        default_limit: int = 2048,
    ) -> T | Unscored:
        """Return the reply parsed by `parse`, or the reason why there is none.

        The second argument of `parse` is True if the reply reached the token limit. An unparseable
        reply is requested once more, at a higher temperature.
        """
        request = CompletionRequest(
            target=self.target,
            messages=render(template, fields),
            response_schema=schema,
            seed=self.seed,
            max_output_tokens=self.max_output_tokens or default_limit,
        )
        outcome = await self._complete(request, parse)
        if isinstance(outcome, Unscored) and outcome.reason == "unparseable":
            changes = {"temperature": SECOND_TEMPERATURE, "sample_index": 1}
            return await self._complete(request.model_copy(update=changes), parse)
        return outcome

    async def _complete(
        self, request: CompletionRequest, parse: Callable[[str, bool], T | Unscored]
    ) -> T | Unscored:
        completion = await complete_or_unscored(self.backend, request)
        if isinstance(completion, Unscored):
            return completion
        cut_off = is_cut_off(completion)
        outcome = parse(completion.text, cut_off)
        return with_cut_off(outcome) if isinstance(outcome, Unscored) and cut_off else outcome


@dataclass(frozen=True, kw_only=True)
class ModelStep:
    """Base class of the steps of reference building that use a model."""

    asker: Asker
