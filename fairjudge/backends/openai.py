"""OpenAI's chat completions API, and all OpenAI-compatible servers."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from fairjudge.backends.chat_wire import chat_body, read_chat
from fairjudge.backends.parameter_support import ParameterSupport
from fairjudge.backends.ports import count_resend
from fairjudge.backends.server_client import ServerClient
from fairjudge.errors import BackendError
from fairjudge.ports import Completion, CompletionRequest, ModelRef

OWN_URL = "https://api.openai.com/v1"

_LIMITS = ("max_completion_tokens", "max_tokens")


class OpenAIBackend(ServerClient):
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
        schema = request.response_schema
        parse = partial(read_chat, stop=request.stop, schema=schema, server_name=self._url)
        while True:
            body = self._body(request)
            try:
                return await self._post("/chat/completions", body, parse)
            except BackendError as error:
                if not self._adapts_to(error, body):
                    raise
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
        """Return the server's name of the token limit; only OpenAI itself uses the newer name."""
        names = _LIMITS if self._url == OWN_URL else _LIMITS[::-1]
        return names[0] if self._support.accepts(names[0]) else names[1]

    def _adapts_to(self, error: Exception, parameters: Collection[str]) -> bool:
        """Return whether to resend without one of `parameters`, which `error` declines."""
        name = self._support.learn(error, parameters, quiet=_LIMITS)
        if name in _LIMITS:
            return any(self._support.accepts(limit) for limit in _LIMITS)
        return name is not None
