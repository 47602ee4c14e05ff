"""Decision models behind ``/v1/systemone``: hosted models, Ollama, llama.cpp, vLLM, and others."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar
from urllib.parse import urlsplit

import openai

from fairjudge.backends.server_client import ServerClient
from fairjudge.backends.systemone_wire import questions_json, read_decisions, state_json
from fairjudge.ports import DecisionRequest, Decisions, ModelRef


class SystemOneBackend(ServerClient):
    """A decision model behind a server with the System One format.

    All questions of a request are sent in one call. ``/v1`` is added to a base URL without a path.
    The key in SYSTEMONE_API_KEY is sent if it is set. See `ServerClient` for the parameters.
    """

    key_variable = "SYSTEMONE_API_KEY"
    # The SDK reads these headers from the environment; they are only for OpenAI's server.
    client_options: ClassVar[dict[str, Any]] = {
        "default_headers": dict.fromkeys(("OpenAI-Organization", "OpenAI-Project"), openai.omit)
    }

    def __init__(self, target: ModelRef, **options: Any) -> None:
        super().__init__(target, **options)
        if not urlsplit(self._url).path:
            self._url += "/v1"

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        body = {
            "model": self.target.model,
            "state": state_json(request),
            "questions": questions_json(request),
        }
        return await self._post(
            "/systemone", body, partial(read_decisions, request, server_name=self._url)
        )
