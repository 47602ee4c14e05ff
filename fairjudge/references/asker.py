"""Putting prompts to a model while references are built, and having the replies read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from fairjudge.domain import Unscored
from fairjudge.parsing.outcomes import complete_or_unscored, is_cut_off, saying_cut_off
from fairjudge.ports import Backend, CompletionRequest, ModelRef
from fairjudge.prompting import Fenced, Template, render

T = TypeVar("T")

SECOND_TEMPERATURE = 0.7
"""At 0 the same model would write the same unreadable reply again."""
INTEGERS = {"type": "array", "items": {"type": "integer"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Puts a rendered template to a model and reads the reply.

    ``seed`` is passed on where given; the temperature is 0. ``max_output_tokens`` limits every
    reply; where it is None, each step has the limit that its kind of reply needs.
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
        read: Callable[[str, bool], T | Unscored],
        usual_limit: int = 2048,
    ) -> T | Unscored:
        """Return what `read` makes of the reply, or why there is none.

        `read` is also told whether the limit on its tokens ended the reply.

        A reply that cannot be read is asked for once more, at a higher temperature.
        """
        request = CompletionRequest(
            target=self.target,
            messages=render(template, fields),
            response_schema=schema,
            seed=self.seed,
            max_output_tokens=self.max_output_tokens or usual_limit,
        )
        found = await self._once(request, read)
        if isinstance(found, Unscored) and found.reason == "unparseable":
            again = {"temperature": SECOND_TEMPERATURE, "sample_index": 1}
            return await self._once(request.model_copy(update=again), read)
        return found

    async def _once(
        self, request: CompletionRequest, read: Callable[[str, bool], T | Unscored]
    ) -> T | Unscored:
        completion = await complete_or_unscored(self.backend, request)
        if isinstance(completion, Unscored):
            return completion
        cut_off = is_cut_off(completion)
        found = read(completion.text, cut_off)
        return saying_cut_off(found) if isinstance(found, Unscored) and cut_off else found
