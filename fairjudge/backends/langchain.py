"""Any chat model of LangChain; needs the extra ``[langchain]`` to open one by its name.

The loosest of the backends: what LangChain's integrations send and keep differs between them. A
schema is not sent, parameters that a model has no field for are left out (each said once), and
neither the bounds on replies nor the protection against shifted ones that other backends have hold.
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
from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS, check_target, one_line
from fairjudge.backends.ports import Warn, asked_again
from fairjudge.backends.server_client import broken_off, map_sdk_error
from fairjudge.errors import (
    BackendError,
    ConfigurationError,
    MissingExtraError,
    NoReplyError,
    RequestTimeoutError,
    ServerError,
)
from fairjudge.ports import Completion, CompletionRequest, ModelRef

_LIMITS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""What integrations call the most tokens of a reply."""
_FINISH_REASONS = ("finish_reason", "stop_reason", "done_reason")
_TIMEOUTS = (httpx.TimeoutException, httpx2.TimeoutException)
_BROKEN = (
    ConnectionError,
    aiohttp.ClientConnectionError,
    httpx.TransportError,
    httpx2.TransportError,
)
_MAX_KEPT_CONNECTIONS = 100
"""Of a client of httpx, by default."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_ROLES = {"system": "system", "user": "human", "assistant": "ai"}


class LangChainBackend:
    """A chat model that LangChain opens by name, such as ``langchain:google_genai/gemini-2.5-pro``.

    Or `chat`, a chat model that was made elsewhere, where `target` is `chat_target` of it. Without
    a provider before a slash, LangChain guesses it from the model's name. A package or key that is
    missing raises `ConfigurationError`. ``warn`` is called once for each thing that is not sent.
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
        self._where = target.base_url or str(target)
        self._timeout_seconds = timeout_seconds
        self._warn = warn
        self._said: set[str] = set()
        made_elsewhere = chat is not None and chat_target(chat) == target
        self._chat = chat if chat is not None and made_elsewhere else self._opened()
        repeats = getattr(self._chat, "max_retries", 0)
        if made_elsewhere and "max_retries" in type(self._chat).model_fields and repeats != 0:
            self._say("repeats calls by itself, which are not counted; make it with max_retries=0")

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        check_target(request, self.target)
        messages = [(_ROLES[message.role], message.content) for message in request.messages]
        chat = self._chat.model_copy(update=self._fields(request))
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reply = await _reply_of(chat, messages, stop=request.stop)
        except Exception as error:
            raise self._mapped(error) from None
        try:
            return read_chat(_as_chat_completion(reply), stop=request.stop, where=self._where)
        except Exception as error:
            raise map_sdk_error(
                error, sdk=openai, where=self._where, secrets=keys_in_environment()
            ) from None

    def _fields(self, request: CompletionRequest) -> dict[str, Any]:
        """Return what `request` asks for, by the names of the model's fields."""
        known = type(self._chat).model_fields
        limit = next((name for name in _LIMITS if name in known), _LIMITS[0])
        top_logprobs = request.top_logprobs
        wanted = {
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": None if request.seed is None else request.seed + request.sample_index,
            "logprobs": None if top_logprobs is None else True,
            "top_logprobs": top_logprobs or None,
            limit: request.max_output_tokens,
        }
        for name, value in wanted.items():
            if value is not None and name not in known:
                self._say(f"has no parameter {name!r}; asking without it")
        if request.response_schema is not None:
            self._say("is asked without a schema; prompts name the form in words")
        return {n: value for n, value in wanted.items() if value is not None and n in known}

    def _opened(self) -> BaseChatModel:
        try:
            from langchain.chat_models import init_chat_model
        except ImportError as error:
            raise MissingExtraError("backend 'langchain'", extra="langchain") from error
        provider, slash, model = self.target.model.partition("/")
        options: dict[str, Any] = {"max_retries": 0, "timeout": self._timeout_seconds}
        if self.target.base_url is not None:
            options["base_url"] = self.target.base_url
        if slash:
            options["model_provider"] = provider
        try:
            chat: BaseChatModel = init_chat_model(model if slash else provider, **options)
        except (ImportError, ValueError, TypeError, openai.OpenAIError) as error:
            said = one_line(error, secrets=keys_in_environment())
            raise ConfigurationError(f"{self.target}: {said}") from None
        return chat

    def _say(self, what: str) -> None:
        if self._warn is not None and what not in self._said:
            self._said.add(what)
            self._warn(f"{self.target} {what}")

    def _mapped(self, error: Exception) -> BackendError:
        """Return the error of FairJudge for what an integration raised: each has its own kinds."""
        secrets, where = keys_in_environment(), self._where
        anthropic = sys.modules.get("anthropic")  # where the integration is made of it
        found: Exception | None
        if isinstance(error, (openai.OpenAIError, TimeoutError, BackendError)):
            found = map_sdk_error(error, sdk=openai, where=where, secrets=secrets)
        elif anthropic is not None and isinstance(error, anthropic.AnthropicError):
            found = map_sdk_error(error, sdk=anthropic, where=where, secrets=secrets)
        else:
            found = _of_reply(error, where=where)
            found = found or _by_its_attributes(error, where=where, secrets=secrets)
        if isinstance(found, BackendError):
            return found
        return BackendError(f"{where}: {type(error).__name__}: {one_line(error, secrets=secrets)}")


def chat_target(chat: BaseChatModel) -> ModelRef:
    """Return what stands for `chat` in cache keys, signatures and records.

    Its class, its model's name, and a hash of all its settings as LangChain writes them: keys come
    out as the names of their variables. Where LangChain cannot write a part, its `repr` stands in.
    """
    settings = _without_addresses(dumpd(chat))
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"), default=repr)
    digest = hashlib.sha256(_ADDRESS.sub("", text).encode()).hexdigest()[:16]
    name = getattr(chat, "model_name", None) or getattr(chat, "model", None)
    described = type(chat).__name__ + (f"/{name}" if isinstance(name, str) and name else "")
    return ModelRef(provider="langchain", model=f"{described}@{digest}")


async def _reply_of(
    chat: BaseChatModel, messages: list[tuple[str, str]], *, stop: Sequence[str]
) -> AIMessage:
    """Return the reply of `chat`.

    Some integrations share one HTTP client among all event loops of a process. Each connection that
    it kept from a loop that is closed fails once; the request may be sent before that, so that each
    repetition counts as a call.
    """
    for _ in range(_MAX_KEPT_CONNECTIONS):
        try:
            return await chat.ainvoke(messages, stop=list(stop) or None)
        except RuntimeError as error:
            if "Event loop is closed" not in str(error):
                raise
        asked_again()
    return await chat.ainvoke(messages, stop=list(stop) or None)


def _without_addresses(value: Any) -> Any:
    """Return `value` without the addresses in memory that differ from one process to the next."""
    if isinstance(value, str):
        return _ADDRESS.sub("", value)
    if isinstance(value, Mapping):
        return {str(name): _without_addresses(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_addresses(part) for part in value]
    return value


def _as_chat_completion(reply: AIMessage) -> dict[str, Any]:
    """Return `reply` in the chat completions format, which one reader reads for all."""
    metadata = reply.response_metadata
    reason = next((metadata[name] for name in _FINISH_REASONS if metadata.get(name)), None)
    parts = reply.content if isinstance(reply.content, list) else []
    refused = [part for part in parts if isinstance(part, dict) and part.get("type") == "refusal"]
    message = {
        "content": [{"type": "text", "text": str(reply.text)}, *refused],
        "refusal": reply.additional_kwargs.get("refusal"),
    }
    choice = {"message": message, "finish_reason": reason, "logprobs": metadata.get("logprobs")}
    return {
        "model": metadata.get("model_name") or metadata.get("model"),
        "choices": [{"index": 0, **choice}],
        "usage": _usage(reply.usage_metadata),
    }


def _usage(counted: Any) -> dict[str, Any] | None:
    if not counted:
        return None
    details = counted.get("input_token_details") or {}
    return {
        "prompt_tokens": counted.get("input_tokens"),
        "completion_tokens": counted.get("output_tokens"),
        "prompt_tokens_details": {
            "cached_tokens": details.get("cache_read"),
            "cache_write_tokens": details.get("cache_creation"),
        },
    }


def _of_reply(error: Exception, *, where: str) -> BackendError | None:
    """Return the error for what integrations raise over a reply of status 200 that is none."""
    if isinstance(error, json.JSONDecodeError):
        return NoReplyError(f"{where} answered 200 with no JSON")
    if isinstance(error, ValueError) and error.args and isinstance(error.args[0], dict):
        return failure_within({"error": error.args[0]}, where=where)
    without_choices = isinstance(error, TypeError) and "'choices'" in str(error)
    if without_choices or isinstance(error, IndexError):
        return ServerError(f"{where} answered 200 with no choice in the reply")
    return None


def _by_its_attributes(
    error: Exception, *, where: str, secrets: tuple[str, ...]
) -> BackendError | None:
    """Return the error for one that says a status, or that the connection failed."""
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if isinstance(status, int) and status >= 400:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        return failure(status, str(error), where=where, headers=headers, secrets=secrets)
    if isinstance(error, _TIMEOUTS):
        return RequestTimeoutError(f"{where} sent no reply in time")
    if isinstance(error, _BROKEN):
        return broken_off(error, where=where, secrets=secrets)
    return None
