"""Any provider of litellm; requires the extra ``[litellm]``."""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from typing import Any

import openai

from fairjudge.backends.chat_wire import chat_body, read_chat
from fairjudge.backends.failures import failure, failure_within
from fairjudge.backends.guarding import keys_in_environment
from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS, PLACEHOLDER_KEY, one_line
from fairjudge.backends.ports import Warn
from fairjudge.backends.server_client import connection_error, map_sdk_error
from fairjudge.backends.systemone_wire import questions_json, read_decisions, state_json
from fairjudge.errors import (
    ConfigurationError,
    ContextTooLongError,
    RefusedError,
)
from fairjudge.parsing.outcomes import is_whole
from fairjudge.ports import (
    Completion,
    CompletionRequest,
    DecisionRequest,
    Decisions,
    ModelRef,
)


class LiteLLMClient:
    """Base class of the clients over litellm: resolution of the model's name, and errors.

    With a base URL, a name without a provider is resolved to litellm's provider `default_provider`.
    litellm reads keys from the environment.

    A missing key or an unknown provider raises `ConfigurationError`.
    """

    default_provider = "openai"

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        warn: Warn | None = None,  # noqa: ARG002
    ) -> None:
        self.target = target
        self._server_name = target.base_url or target.model
        self._timeout_seconds = timeout_seconds
        self._litellm = import_litellm()
        self._model, self._key = self._resolve_model()

    async def aclose(self) -> None:
        """Close litellm's connections, which all backends share."""
        await self._litellm.close_litellm_async_clients()

    def _resolve_model(self) -> tuple[str, str | None]:
        """Return litellm's name of the model, and the key to pass or None if litellm has it."""
        model, has_server = self.target.model, self.target.base_url is not None
        if has_server and "/" not in model:
            model = f"{self.default_provider}/{model}"
        try:
            self._litellm.get_llm_provider(model)
        except openai.BadRequestError:
            if not has_server:
                raise ConfigurationError(
                    f"litellm has no provider for {model!r}; write it as provider/model"
                ) from None
            model = f"{self.default_provider}/{model}"
        missing_keys = self._litellm.validate_environment(model).get("missing_keys") or []
        if missing_keys and not has_server:
            raise ConfigurationError(
                f"{self.target} needs a key: set the environment variable "
                f"{' and '.join(missing_keys)}"
            )
        return model, PLACEHOLDER_KEY if missing_keys else None

    def _map_error(self, error: Exception) -> Exception:
        """Map a litellm exception (OpenAI's, and a few more) to a `BackendError`."""
        server_name, secrets = self._server_name, keys_in_environment()
        message = one_line(getattr(error, "message", error), secrets=secrets)
        if isinstance(error, self._litellm.ContextWindowExceededError):
            return ContextTooLongError(f"{server_name}: {message}")
        if isinstance(error, self._litellm.ContentPolicyViolationError):
            return RefusedError(f"{server_name}: {message}")
        # litellm reports failed connections as status 500.
        if isinstance(error, openai.APIStatusError) and "Connection error" in message:
            return connection_error(error, server_name=server_name, secrets=secrets)
        status = getattr(error, "status_code", None)
        response: Any = getattr(error, "response", None)
        body = getattr(response, "text", "") or getattr(error, "message", str(error))
        if isinstance(status, str) or (status == 422 and body == message):
            # This is litellm's form of an error inside a reply of status 200.
            error_body = {"message": message, "code": status if isinstance(status, str) else None}
            return failure_within({"error": error_body}, server_name=server_name)
        is_connection_error = isinstance(error, openai.APIConnectionError)  # timeouts too
        if (
            isinstance(error, openai.APIError)
            and isinstance(status, int)
            and not is_connection_error
        ):
            headers = dict(getattr(response, "headers", None) or {})
            headers |= dict(getattr(error, "litellm_response_headers", None) or {})
            return failure(status, body, server_name=server_name, headers=headers, secrets=secrets)
        return map_sdk_error(error, sdk=openai, server_name=server_name, secrets=secrets)


class LiteLLMBackend(LiteLLMClient):
    """A model by its litellm name, such as ``litellm:gemini/gemini-2.0-flash``.

    litellm silently omits parameters that a provider does not support. With a base URL, a name
    without a provider is resolved to a server with the chat completions format.
    """

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reply = await self._litellm.acompletion(**self._arguments(request))
            completion = read_chat(
                reply.model_dump(warnings=False),
                stop=request.stop,
                schema=request.response_schema,
                server_name=self._server_name,
            )
            return _verify_stop(completion)
        except Exception as error:
            raise self._map_error(error) from None

    def _arguments(self, request: CompletionRequest) -> dict[str, Any]:
        server = {"base_url": self.target.base_url, "api_key": self._key}
        return {
            **chat_body(request, limit_name="max_tokens"),
            **{name: value for name, value in server.items() if value is not None},
            "model": self._model,
            "timeout": self._timeout_seconds,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
        }


def _verify_stop(reply: Completion) -> Completion:
    """Return `reply`, with finish reason "error" if its JSON is incomplete.

    litellm reports "stop" even if the server reports no reason.
    """
    begins_json = reply.text.lstrip()[:1] in {"{", "["}
    if reply.finish_reason == "stop" and begins_json and not is_whole(reply.text):
        return reply.model_copy(update={"finish_reason": "error"})
    return reply


class LiteLLMDecisionsBackend(LiteLLMClient):
    """A decision model of any provider of litellm.

    Examples are ``litellm-decisions:openai/<model>`` and ``litellm-decisions:typesafe/<model>``;
    with a base URL, a name without a provider is resolved to a System One server. All
    questions of a request are sent in one call. A litellm version without decisions raises
    `ConfigurationError`.
    """

    default_provider = "hosted_vllm"

    def __init__(self, target: ModelRef, **options: Any) -> None:
        super().__init__(target, **options)
        if not hasattr(self._litellm, "asystemone"):
            raise ConfigurationError(
                "the installed litellm does not support decision models; upgrade it"
            )

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reply = await self._litellm.asystemone(
                    model=self._model,
                    state=state_json(request),
                    questions=questions_json(request),
                    api_base=self.target.base_url,
                    api_key=self._key,
                    timeout=self._timeout_seconds,
                    num_retries=0,
                    max_retries=0,
                )
            return read_decisions(
                request, reply.model_dump(warnings=False), server_name=self._server_name
            )
        except Exception as error:
            raise self._map_error(error) from None


def import_litellm() -> Any:
    """Import litellm with its network access, telemetry and prints disabled."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # read at import
    import litellm

    # These warnings would print parts of replies to standard error.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return litellm
