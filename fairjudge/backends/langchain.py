"""Any chat model of LangChain; opening one by name requires the extra ``[langchain]``.

The least strict backend, since LangChain's integrations differ in what they send and return. No
schema is sent, parameters without a field of the model are omitted (with one warning each), and
replies have no size limit and no protection against mismatches.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
import httpx
import httpx2
import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage

from fairjudge.backends.chat_wire import read_chat
from fairjudge.backends.failures import failure, failure_within
from fairjudge.backends.guarding import keys_in_environment
from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS, one_line
from fairjudge.backends.ports import Warn, count_resend
from fairjudge.backends.server_client import connection_error, map_sdk_error
from fairjudge.errors import (
    BackendError,
    ConfigurationError,
    NoReplyError,
    RequestTimeoutError,
    ServerError,
    needs_extra,
)
from fairjudge.ports import Completion, CompletionRequest, ModelRef

_LIMITS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""The integrations' names of the token limit."""
_FINISH_REASONS = ("finish_reason", "stop_reason", "done_reason")
_TIMEOUTS = (httpx.TimeoutException, httpx2.TimeoutException)
_CONNECTION_ERRORS = (
    ConnectionError,
    aiohttp.ClientConnectionError,
    httpx.TransportError,
    httpx2.TransportError,
)
_MAX_IDLE_CONNECTIONS = 100
"""httpx's default number of connections."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_ROLES = {"system": "system", "user": "human", "assistant": "ai"}


class LangChainBackend:
    """A chat model opened by name, such as ``langchain:google_genai/gemini-2.5-pro``.

    Alternatively, `chat` is a chat model created by the caller, and `target` its `chat_target`.
    Without a provider before a slash, LangChain infers it from the model's name. A missing package
    or key raises `ConfigurationError`. ``warn`` is called once for each parameter that is not sent.
    """

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        warn: Warn | None = None,
        chat: BaseChatModel | None = None,
    ) -> None:
        self.target = target
        self._server_name = target.base_url or str(target)
        self._timeout_seconds = timeout_seconds
        self._warn = warn
        self._notices: set[str] = set()
        is_own_chat = chat is not None and chat_target(chat) == target
        self._chat = chat if chat is not None and is_own_chat else self._open_model()
        max_retries = getattr(self._chat, "max_retries", 0)
        if is_own_chat and "max_retries" in type(self._chat).model_fields and max_retries != 0:
            self._notify(
                "retries calls itself, which are not counted; create it with max_retries=0"
            )

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        messages = [(_ROLES[message.role], message.content) for message in request.messages]
        chat = self._chat.model_copy(update=self._fields(request))
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reply = await _call_chat(chat, messages, stop=request.stop)
        except Exception as error:
            raise self._map_error(error) from None
        try:
            return read_chat(
                _as_chat_completion(reply), stop=request.stop, server_name=self._server_name
            )
        except Exception as error:
            raise map_sdk_error(
                error, sdk=openai, server_name=self._server_name, secrets=keys_in_environment()
            ) from None

    def _fields(self, request: CompletionRequest) -> dict[str, Any]:
        """Return the parameters of `request` by the names of the model's fields."""
        fields = type(self._chat).model_fields
        limit = next((name for name in _LIMITS if name in fields), _LIMITS[0])
        top_logprobs = request.top_logprobs
        values = {
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": None if request.seed is None else request.seed + request.sample_index,
            "logprobs": None if top_logprobs is None else True,
            "top_logprobs": top_logprobs or None,
            limit: request.max_output_tokens,
        }
        for name, value in values.items():
            if value is not None and name not in fields:
                self._notify(f"has no parameter {name!r}; it is not sent")
        if request.response_schema is not None:
            self._notify("gets no schema; prompts describe the format")
        return {n: value for n, value in values.items() if value is not None and n in fields}

    def _open_model(self) -> BaseChatModel:
        with needs_extra("backend 'langchain'", extra="langchain"):
            from langchain.chat_models import init_chat_model
        provider, slash, model = self.target.model.partition("/")
        options: dict[str, Any] = {"max_retries": 0, "timeout": self._timeout_seconds}
        if self.target.base_url is not None:
            options["base_url"] = self.target.base_url
        if slash:
            options["model_provider"] = provider
        try:
            chat: BaseChatModel = init_chat_model(model if slash else provider, **options)
        except (ImportError, ValueError, TypeError, openai.OpenAIError) as error:
            message = one_line(error, secrets=keys_in_environment())
            raise ConfigurationError(f"{self.target}: {message}") from None
        return chat

    def _notify(self, notice: str) -> None:
        if self._warn is not None and notice not in self._notices:
            self._notices.add(notice)
            self._warn(f"{self.target} {notice}")

    def _map_error(self, error: Exception) -> BackendError:
        """Map an integration's exception, of any class, to a `BackendError`."""
        secrets, server_name = keys_in_environment(), self._server_name
        anthropic = sys.modules.get("anthropic")  # loaded if the integration uses it
        result: Exception | None
        if isinstance(error, (openai.OpenAIError, TimeoutError, BackendError)):
            result = map_sdk_error(error, sdk=openai, server_name=server_name, secrets=secrets)
        elif anthropic is not None and isinstance(error, anthropic.AnthropicError):
            result = map_sdk_error(error, sdk=anthropic, server_name=server_name, secrets=secrets)
        else:
            result = _error_of_invalid_reply(error, server_name=server_name)
            result = result or _error_by_attributes(error, server_name=server_name, secrets=secrets)
        if isinstance(result, BackendError):
            return result
        return BackendError(
            f"{server_name}: {type(error).__name__}: {one_line(error, secrets=secrets)}"
        )


def chat_target(chat: BaseChatModel) -> ModelRef:
    """Return the `ModelRef` of `chat` for cache keys, signatures and records.

    It contains the class, the model's name, and a hash of all settings as serialised by LangChain,
    which replaces keys by the names of their variables. Other parts are represented by `repr`.
    """
    settings = _without_addresses(dumpd(chat))
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"), default=repr)
    digest = hashlib.sha256(_ADDRESS.sub("", text).encode()).hexdigest()[:16]
    name = getattr(chat, "model_name", None) or getattr(chat, "model", None)
    label = type(chat).__name__ + (f"/{name}" if isinstance(name, str) and name else "")
    return ModelRef(provider="langchain", model=f"{label}@{digest}")


async def _call_chat(
    chat: BaseChatModel, messages: list[tuple[str, str]], *, stop: Sequence[str]
) -> AIMessage:
    """Return the reply of `chat`.

    Some integrations share one HTTP client between event loops. Each of its idle connections from a
    closed loop fails once; since the request may have been sent, each resend counts as a call.
    """
    for _ in range(_MAX_IDLE_CONNECTIONS):
        try:
            return await chat.ainvoke(messages, stop=list(stop) or None)
        except RuntimeError as error:
            if "Event loop is closed" not in str(error):
                raise
        count_resend()
    return await chat.ainvoke(messages, stop=list(stop) or None)


def _without_addresses(value: Any) -> Any:
    """Return `value` without memory addresses, which differ between processes."""
    if isinstance(value, str):
        return _ADDRESS.sub("", value)
    if isinstance(value, Mapping):
        return {str(name): _without_addresses(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_addresses(part) for part in value]
    return value


def _as_chat_completion(reply: AIMessage) -> dict[str, Any]:
    """Convert `reply` to the chat completions format, for `read_chat`."""
    metadata = reply.response_metadata
    reason = next((metadata[name] for name in _FINISH_REASONS if metadata.get(name)), None)
    parts = reply.content if isinstance(reply.content, list) else []
    refusals = [part for part in parts if isinstance(part, dict) and part.get("type") == "refusal"]
    message = {
        "content": [{"type": "text", "text": str(reply.text)}, *refusals],
        "refusal": reply.additional_kwargs.get("refusal"),
    }
    choice = {"message": message, "finish_reason": reason, "logprobs": metadata.get("logprobs")}
    return {
        "model": metadata.get("model_name") or metadata.get("model"),
        "choices": [{"index": 0, **choice}],
        "usage": _usage(reply.usage_metadata),
    }


def _usage(counts: Any) -> dict[str, Any] | None:
    if not counts:
        return None
    details = counts.get("input_token_details") or {}
    return {
        "prompt_tokens": counts.get("input_tokens"),
        "completion_tokens": counts.get("output_tokens"),
        "prompt_tokens_details": {
            "cached_tokens": details.get("cache_read"),
            "cache_write_tokens": details.get("cache_creation"),
        },
    }


def _error_of_invalid_reply(error: Exception, *, server_name: str) -> BackendError | None:
    """Return the error for an integration's exception on an invalid reply of status 200."""
    if isinstance(error, json.JSONDecodeError):
        return NoReplyError(f"{server_name} answered 200 with no JSON")
    if isinstance(error, ValueError) and error.args and isinstance(error.args[0], dict):
        return failure_within({"error": error.args[0]}, server_name=server_name)
    lacks_choices = isinstance(error, TypeError) and "'choices'" in str(error)
    if lacks_choices or isinstance(error, IndexError):
        return ServerError(f"{server_name} answered 200 with no choice in the reply")
    return None


def _error_by_attributes(
    error: Exception, *, server_name: str, secrets: tuple[str, ...]
) -> BackendError | None:
    """Return the error for an exception with a status, or for a failed connection."""
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if isinstance(status, int) and status >= 400:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        return failure(
            status, str(error), server_name=server_name, headers=headers, secrets=secrets
        )
    if isinstance(error, _TIMEOUTS):
        return RequestTimeoutError(f"{server_name} sent no reply in time")
    if isinstance(error, _CONNECTION_ERRORS):
        return connection_error(error, server_name=server_name, secrets=secrets)
    return None
