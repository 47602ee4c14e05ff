"""Decision models behind ``/v1/systemone``: hosted ones, Ollama, llama.cpp, vLLM, and others."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import openai

from fairjudge.backends.http import check_target
from fairjudge.backends.http_transport import sdk_http_client
from fairjudge.backends.server_client import ServerClient, post_json
from fairjudge.backends.systemone_wire import questions_of, read_decisions, state_of
from fairjudge.ports import DecisionRequest, Decisions, ModelRef


class SystemOneBackend(ServerClient[openai.AsyncOpenAI]):
    """Answers typed questions through a server of the System One format.

    All questions of a request are sent in one call. ``/v1`` is added to a base URL without a path.
    The key in SYSTEMONE_API_KEY is sent if it is set. See `ServerClient` for the parameters.
    """

    key_variable = "SYSTEMONE_API_KEY"

    def __init__(self, target: ModelRef, **options: Any) -> None:
        super().__init__(target, **options)
        if not urlsplit(self._url).path:
            self._url += "/v1"

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        check_target(request, self.target)
        body = {
            "model": self.target.model,
            "state": state_of(request),
            "questions": questions_of(request),
        }
        try:
            reply = await post_json(
                self._connection, "/systemone", body, timeout_seconds=self._timeout_seconds
            )
            return read_decisions(request, reply, where=self._url)
        except Exception as error:
            raise self._mapped(error) from None

    def _connect(self) -> openai.AsyncOpenAI:
        omitted: Any = {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
        return openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self._url,
            max_retries=0,
            timeout=self._timeout_seconds,
            default_headers=omitted,  # from the environment, for OpenAI's own server only
            http_client=sdk_http_client(openai, self._url, warn=self._warn),
        )
