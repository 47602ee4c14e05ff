"""Decision models by litellm's names for them; needs the extra ``[litellm]``."""

from __future__ import annotations

import asyncio

from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS, check_target
from fairjudge.backends.litellm import import_litellm, map_litellm_error, resolve_model
from fairjudge.backends.ports import Warn
from fairjudge.backends.systemone_wire import questions_of, read_decisions, state_of
from fairjudge.errors import ConfigurationError
from fairjudge.protocols import DecisionRequest, Decisions, ModelRef


class LiteLLMDecisionsBackend:
    """Answers typed questions through any decision provider of litellm.

    Such as ``litellm-decisions:openai/<model>`` or ``litellm-decisions:typesafe/<model>``; with a
    base URL, a name without a provider means a server of the System One format. All questions of a
    request go in one call.

    Parameters
    ----------
    target : ModelRef
        The model, and the server where it is not the provider's own.
    timeout_seconds : float, optional
        Longest wait for one whole reply.
    warn : callable, optional
        Not used.

    Raises
    ------
    ConfigurationError
        When the installed litellm has no decisions, the provider is unknown or its key missing.
    """

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        warn: Warn | None = None,  # noqa: ARG002
    ) -> None:
        self.target = target
        self._timeout_seconds = timeout_seconds
        self._where = target.base_url or target.model
        self._litellm = import_litellm()
        if not hasattr(self._litellm, "asystemone"):
            raise ConfigurationError("the installed litellm knows no decision models; upgrade it")
        self._model, self._key = resolve_model(self._litellm, target, own_server="hosted_vllm")

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
            raise map_litellm_error(error, litellm=self._litellm, where=self._where) from None

    async def aclose(self) -> None:
        """Close litellm's connections, which all its backends share."""
        await self._litellm.close_litellm_async_clients()
