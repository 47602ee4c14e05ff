"""Decision models behind ``/v1/systemone``: hosted ones, Ollama, llama.cpp, vLLM, and others."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import openai

from fairjudge.backends.http import (
    CONNECT_TIMEOUT_SECONDS,
    DEFAULT_TIMEOUT_SECONDS,
    PerLoop,
    api_key,
    check_target,
    is_loopback,
)
from fairjudge.backends.ports import Warn
from fairjudge.backends.sdk_errors import map_sdk_error
from fairjudge.backends.systemone_wire import questions_of, read_decisions, state_of
from fairjudge.errors import ConfigurationError
from fairjudge.protocols import DecisionRequest, Decisions, ModelRef

KEY_VARIABLE = "SYSTEMONE_API_KEY"


class SystemOneBackend:
    """Answers typed questions through a server of the System One format.

    All questions of a request go in one call. A base URL without a path gets ``/v1``. The key in
    SYSTEMONE_API_KEY is sent if there is one.

    Parameters
    ----------
    target : ModelRef
        The model and its server.
    timeout_seconds : float, optional
        Longest wait for one whole reply.
    warn : callable, optional
        Not used.

    Raises
    ------
    ConfigurationError
        When `target` names no server.
    """

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        warn: Warn | None = None,  # noqa: ARG002
    ) -> None:
        if target.base_url is None:
            raise ConfigurationError(f"{target} needs a server: name it with --base-url")
        self.target = target
        self._url = target.base_url if urlsplit(target.base_url).path else f"{target.base_url}/v1"
        self._key = api_key(KEY_VARIABLE, target)
        self._timeout_seconds = timeout_seconds
        # OpenAI's client serves as a plain HTTP client here: one pool, one set of errors.
        self._clients = PerLoop(self._make_client)

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        check_target(request, self.target)
        body = {
            "model": self.target.model,
            "state": state_of(request),
            "questions": questions_of(request),
        }
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reply = await self._clients.get().post("/systemone", body=body, cast_to=object)
            return read_decisions(request, reply)
        except Exception as error:
            ours = map_sdk_error(error, sdk=openai, where=self._url, secrets=(self._key,))
            raise ours from None

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop()
        if client is not None:
            await client.close()

    def _make_client(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self._url,
            max_retries=0,
            timeout=openai.Timeout(self._timeout_seconds, connect=CONNECT_TIMEOUT_SECONDS),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=not is_loopback(self._url)),
        )
