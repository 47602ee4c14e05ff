"""OpenAI's chat completions API, and all servers of its format."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import openai

from fairjudge.backends.chat_wire import chat_body, read_chat
from fairjudge.backends.http import check_target
from fairjudge.backends.http_transport import sdk_http_client
from fairjudge.backends.parameter_support import ParameterSupport
from fairjudge.backends.ports import count_resend
from fairjudge.backends.server_client import ServerClient, post_json
from fairjudge.ports import Completion, CompletionRequest, ModelRef

OWN_URL = "https://api.openai.com/v1"

_LIMITS = ("max_completion_tokens", "max_tokens")


class OpenAIBackend(ServerClient[openai.AsyncOpenAI]):
    """A model behind the chat completions wire format; see `ServerClient` for its parameters.

    A parameter that the server declines (``response_format``, ``temperature`` of reasoning models,
    ``logprobs``, ...) is omitted from then on, and ``warn`` is called once.
    """

    key_variable = "OPENAI_API_KEY"
    own_url = OWN_URL

    def __init__(self, target: ModelRef, **options: Any) -> None:
        super().__init__(target, **options)
        self._support = ParameterSupport(self.target.model, server=self._url, warn=self._warn)

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        check_target(request, self.target)
        while True:
            body = self._body(request)
            try:
                reply = await post_json(
                    self._connection,
                    "/chat/completions",
                    body,
                    timeout_seconds=self._timeout_seconds,
                )
                return read_chat(
                    reply, stop=request.stop, schema=request.response_schema, where=self._url
                )
            except Exception as error:
                failed = self._mapped(error)
                if not self._adapts_to(failed, body):
                    raise failed from None
            count_resend()

    def _body(self, request: CompletionRequest) -> dict[str, Any]:
        """Return the body without declined parameters."""
        limit = self._limit()
        return {
            name: value
            for name, value in chat_body(request, limit_name=limit).items()
            if name == limit or self._support.accepts(name)
        }

    def _limit(self) -> str:
        """Return the server's name of the token limit; only OpenAI's own needs the newer name."""
        names = _LIMITS if self._url == OWN_URL else _LIMITS[::-1]
        return names[0] if self._support.accepts(names[0]) else names[1]

    def _adapts_to(self, error: Exception, parameters: Collection[str]) -> bool:
        """Return whether to resend without one of `parameters`, which `error` declines."""
        name = self._support.learn(error, parameters, quiet=_LIMITS)
        if name in _LIMITS:
            return any(self._support.accepts(limit) for limit in _LIMITS)
        return name is not None

    def _connect(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self._url,
            max_retries=0,
            timeout=self._timeout_seconds,
            http_client=sdk_http_client(openai, self._url, warn=self._warn),
        )
