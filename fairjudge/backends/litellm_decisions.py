"""Decision models by litellm's names for them; needs the extra ``[litellm]``."""

from __future__ import annotations

import asyncio
from typing import Any

from fairjudge.backends.http import check_target
from fairjudge.backends.litellm import LiteLLMClient
from fairjudge.backends.systemone_wire import questions_of, read_decisions, state_of
from fairjudge.errors import ConfigurationError
from fairjudge.protocols import DecisionRequest, Decisions, ModelRef


class LiteLLMDecisionsBackend(LiteLLMClient):
    """Answers typed questions through any decision provider of litellm.

    Such as ``litellm-decisions:openai/<model>`` or ``litellm-decisions:typesafe/<model>``; with a
    base URL, a name without a provider means a server of the System One format. All questions of a
    request go in one call. See `LiteLLMClient` for its parameters.

    Raises
    ------
    ConfigurationError
        When the installed litellm has no decisions, too.
    """

    own_server = "hosted_vllm"

    def __init__(self, target: ModelRef, **options: Any) -> None:
        super().__init__(target, **options)
        if not hasattr(self._litellm, "asystemone"):
            raise ConfigurationError("the installed litellm knows no decision models; upgrade it")

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        check_target(request, self.target)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reply = await self._litellm.asystemone(
                    model=self._model,
                    state=state_of(request),
                    questions=questions_of(request),
                    api_base=self.target.base_url,
                    api_key=self._key,
                    timeout=self._timeout_seconds,
                    num_retries=0,
                    max_retries=0,
                )
            return read_decisions(request, reply.model_dump(warnings=False))
        except Exception as error:
            raise self._mapped(error) from None
