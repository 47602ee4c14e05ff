"""OpenAI's chat completions, and every server that speaks them, through langchain-openai.

langchain-openai words the request and reads the reply; `fairjudge.backends.posting` carries both,
since its own way through OpenAI's client takes ten times as long a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import openai
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from fairjudge.backends.chat_wire import read_choice, response_format
from fairjudge.backends.dialect import Dialect
from fairjudge.backends.http import (
    DEFAULT_TIMEOUT_SECONDS,
    PerLoop,
    api_key,
    check_target,
)
from fairjudge.backends.ports import Warn
from fairjudge.backends.posting import JsonPoster
from fairjudge.backends.sdk_errors import map_sdk_error
from fairjudge.protocols import (
    Completion,
    CompletionRequest,
    Message,
    ModelRef,
    Usage,
)

KEY_VARIABLE = "OPENAI_API_KEY"
OWN_URL = "https://api.openai.com/v1"

_LIMITS = ("max_completion_tokens", "max_tokens")


class OpenAIBackend:
    """A model behind the chat completions wire format.

    A parameter that the server says it does not support (``response_format``, ``temperature`` of
    reasoning models, ``logprobs``, ...) is left out from then on, and `warn` is told once.

    Parameters
    ----------
    target : ModelRef
        The model; its ``base_url`` None means OpenAI's own server.
    timeout_seconds : float, optional
        Longest wait for one whole reply.
    warn : callable, optional
        Told what the server did not take.

    Raises
    ------
    ConfigurationError
        When OPENAI_API_KEY is not set and `target` names no other server.
    """

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        warn: Warn | None = None,
    ) -> None:
        self.target = target
        self._url = target.base_url or OWN_URL
        self._key = api_key(KEY_VARIABLE, target)
        self._timeout_seconds = timeout_seconds
        self._dialect = Dialect(server=self._url, warn=warn)
        self._clients = PerLoop(self._make_client)
        self._last_format: tuple[Mapping[str, Any], dict[str, Any]] | None = None

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        check_target(request, self.target)
        messages = [_as_langchain(message) for message in request.messages]
        while True:
            options = self._options(request)
            try:
                result = await self._clients.get().ask(messages, options)
                return read_result(result, stop=request.stop)
            except Exception as error:
                if not self._adapts_to(error, options):
                    ours = map_sdk_error(error, sdk=openai, where=self._url, secrets=(self._key,))
                    raise ours from None

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop()
        if client is not None:
            await client.close()

    def _options(self, request: CompletionRequest) -> dict[str, Any]:
        """Return the keyword arguments for the client, without what the server declines.

        What langchain-openai would interpret by itself goes through ``extra_body``. Samples of one
        prompt under one seed would be the same sample, so the seed grows with the sample index.
        """
        schema = request.response_schema
        wanted: dict[str, Any] = {
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": None if request.seed is None else request.seed + request.sample_index,
            "stop": list(request.stop) or None,
            "logprobs": None if request.top_logprobs is None else True,
        }
        body: dict[str, Any] = {
            self._limit(): request.max_output_tokens,
            "response_format": None if schema is None else self._format(schema),
        }
        options = self._taken(wanted)
        if "logprobs" in options and request.top_logprobs:
            options["top_logprobs"] = request.top_logprobs
        return {**options, "extra_body": self._taken(body)}

    def _format(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the ``response_format`` for `schema`; a run asks for one schema over and over."""
        if self._last_format is None or self._last_format[0] != schema:
            self._last_format = (schema, response_format(schema))
        return self._last_format[1]

    def _taken(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: value
            for name, value in wanted.items()
            if value is not None and (name in _LIMITS or self._dialect.takes(name))
        }

    def _limit(self) -> str:
        """Return how the server calls the token limit: only OpenAI's own needs the newer name."""
        names = _LIMITS if self._url == OWN_URL else _LIMITS[::-1]
        return names[0] if self._dialect.takes(names[0]) else names[1]

    def _adapts_to(self, error: Exception, options: Mapping[str, Any]) -> bool:
        """Say whether to send again without what `error` declines of `options`."""
        name = self._dialect.learn(error, [*options, *options["extra_body"]], quiet=_LIMITS)
        if name in _LIMITS:
            return any(self._dialect.takes(limit) for limit in _LIMITS)
        return name is not None

    def _make_client(self) -> _Client:
        model = _Model(
            model=self.target.model,
            api_key=SecretStr(self._key),
            base_url=self._url,
            max_retries=0,
            use_responses_api=False,
            cache=False,
        )
        return _Client(model, self._url, key=self._key, timeout_seconds=self._timeout_seconds)


class _Model(ChatOpenAI):
    """langchain-openai's model, with the two ends of a call that subclasses may use."""

    def payload(self, messages: list[BaseMessage], options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a request."""
        payload = self._get_request_payload(messages, **options)
        extra: Mapping[str, Any] = payload.pop("extra_body", None) or {}
        payload.pop("stream", None)
        return {**payload, **extra}

    def result(self, reply: Any) -> ChatResult:
        """Return the body of a reply as langchain's values."""
        return self._create_chat_result(reply)


class _Client:
    """One event loop's model and connections."""

    def __init__(self, model: _Model, url: str, *, key: str, timeout_seconds: float) -> None:
        self._model = model
        given = model.root_async_client.default_headers
        headers = {name: value for name, value in given.items() if isinstance(value, str)}
        self._poster = JsonPoster(url, key=key, headers=headers, timeout_seconds=timeout_seconds)

    async def ask(self, messages: list[BaseMessage], options: Mapping[str, Any]) -> ChatResult:
        body = self._model.payload(messages, options)
        reply = await self._poster.post("/chat/completions", body)
        result = self._model.result(reply)
        # langchain reads this field from the values of OpenAI's client alone.
        refusal = reply["choices"][0]["message"].get("refusal")
        result.generations[0].message.additional_kwargs["refusal"] = refusal
        return result

    async def close(self) -> None:
        await self._poster.close()
        await self._model.root_async_client.close()


def _as_langchain(message: Message) -> BaseMessage:
    kinds: dict[str, type[BaseMessage]] = {
        "system": SystemMessage,
        "user": HumanMessage,
        "assistant": AIMessage,
    }
    return kinds[message.role](content=message.content)


def read_result(result: ChatResult, *, stop: Sequence[str]) -> Completion:
    """Return what the model said; raise for a refusal or an empty reply."""
    generation = result.generations[0]
    reply, told = cast("AIMessage", generation.message), generation.generation_info or {}
    counted = reply.usage_metadata
    return read_choice(
        text=reply.text,
        refusal=reply.additional_kwargs.get("refusal"),
        finish_reason=told.get("finish_reason"),
        usage=Usage(
            input_tokens=counted["input_tokens"] if counted else None,
            output_tokens=counted["output_tokens"] if counted else None,
        ),
        served_model=(result.llm_output or {}).get("model_name"),
        logprobs=told.get("logprobs"),
        stop=stop,
    )
