"""OpenAI's chat completions, and every server that speaks them, through langchain-openai."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import openai
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from fairjudge.backends.chat_wire import read_choice, response_format
from fairjudge.backends.dialect import Dialect
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
        self._models = PerLoop(self._make_model)
        # langchain-openai turns two kinds of 400 into advice about its own classes.
        warnings.filterwarnings("ignore", message="This model does not support OpenAI's struct")
        warnings.filterwarnings("ignore", message="Invalid schema for OpenAI's structured")

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        check_target(request, self.target)
        messages = [_as_langchain(message) for message in request.messages]
        while True:
            options = self._options(request)
            try:
                async with asyncio.timeout(self._timeout_seconds):
                    reply = await self._models.get().ainvoke(messages, **options)
                    return read_reply(reply, stop=request.stop)
            except Exception as error:
                if not self._adapts_to(error, options):
                    ours = map_sdk_error(error, sdk=openai, where=self._url, secrets=(self._key,))
                    raise ours from None

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        model = self._models.pop()
        if model is not None:
            await model.root_async_client.close()

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
            "response_format": None if schema is None else response_format(schema),
        }
        options = self._taken(wanted)
        if "logprobs" in options and request.top_logprobs:
            options["top_logprobs"] = request.top_logprobs
        return {**options, "extra_body": self._taken(body)}

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

    def _make_model(self) -> ChatOpenAI:
        return ChatOpenAI(
            model=self.target.model,
            api_key=SecretStr(self._key),
            base_url=self._url,
            max_retries=0,
            timeout=openai.Timeout(self._timeout_seconds, connect=CONNECT_TIMEOUT_SECONDS),
            http_async_client=openai.DefaultAsyncHttpxClient(trust_env=not is_loopback(self._url)),
            use_responses_api=False,
            cache=False,
        )


def _as_langchain(message: Message) -> BaseMessage:
    kinds: dict[str, type[BaseMessage]] = {
        "system": SystemMessage,
        "user": HumanMessage,
        "assistant": AIMessage,
    }
    return kinds[message.role](content=message.content)


def read_reply(reply: AIMessage, *, stop: Sequence[str]) -> Completion:
    """Return what the model said; raise for a refusal or an empty reply."""
    counted = reply.usage_metadata
    return read_choice(
        text=reply.text,
        refusal=reply.additional_kwargs.get("refusal"),
        finish_reason=reply.response_metadata.get("finish_reason"),
        usage=Usage(
            input_tokens=counted["input_tokens"] if counted else None,
            output_tokens=counted["output_tokens"] if counted else None,
        ),
        served_model=reply.response_metadata.get("model_name"),
        logprobs=reply.response_metadata.get("logprobs"),
        stop=stop,
    )
