"""Anthropic's messages, through its own client."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping
from typing import Any, Literal

import anthropic
from anthropic.types import Message as Reply
from anthropic.types import MessageParam

from fairjudge.backends.dialect import Dialect
from fairjudge.backends.http import (
    CONNECT_TIMEOUT_SECONDS,
    DEFAULT_TIMEOUT_SECONDS,
    PerLoop,
    api_key,
    check_target,
    is_loopback,
    one_line,
)
from fairjudge.backends.ports import Warn
from fairjudge.backends.sdk_errors import map_sdk_error
from fairjudge.errors import EmptyReplyError, RefusedError
from fairjudge.protocols import Completion, CompletionRequest, FinishReason, ModelRef, Usage

KEY_VARIABLE = "ANTHROPIC_API_KEY"
OWN_URL = "https://api.anthropic.com"

_FINISH: Mapping[object, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


class AnthropicBackend:
    """A model behind the messages wire format.

    Newer models take no ``temperature`` or ``top_p``, older ones no schema: what the server
    declines is left out from then on, and `warn` is told once. The format has no seed and no token
    probabilities: ``seed`` changes nothing and ``Completion.tokens`` is None.

    Parameters
    ----------
    target : ModelRef
        The model; its ``base_url`` None means Anthropic's own server.
    timeout_seconds : float, optional
        Longest wait for one whole reply.
    warn : callable, optional
        Told what the server did not take.

    Raises
    ------
    ConfigurationError
        When ANTHROPIC_API_KEY is not set and `target` names no other server.
    """

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        warn: Warn | None = None,
    ) -> None:
        self.target = target
        # The client appends /v1/messages itself.
        self._url = (target.base_url or OWN_URL).removesuffix("/v1")
        self._key = api_key(KEY_VARIABLE, target)
        self._timeout_seconds = timeout_seconds
        self._dialect = Dialect(server=self._url, warn=warn)
        self._clients = PerLoop(self._make_client)
        # Which models retire when is nothing a user of a summary judge can act on mid-run.
        warnings.filterwarnings("ignore", message="The model '.*' is deprecated and will reach")

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        check_target(request, self.target)
        while True:
            body = self._body(request)
            try:
                async with asyncio.timeout(self._timeout_seconds):
                    return read_reply(await self._send(request, body))
            except Exception as error:
                if self._dialect.learn(error, body) is None:
                    ours = map_sdk_error(
                        error, sdk=anthropic, where=self._url, secrets=(self._key,)
                    )
                    raise ours from None

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop()
        if client is not None:
            await client.close()

    async def _send(self, request: CompletionRequest, body: dict[str, Any]) -> Reply:
        system = "\n\n".join(m.content for m in request.messages if m.role == "system")
        turns = [_turn(m.role, m.content) for m in request.messages if m.role != "system"]
        return await self._clients.get().messages.create(
            model=self.target.model,
            max_tokens=request.max_output_tokens,
            messages=turns,
            system=system or anthropic.omit,
            stop_sequences=list(request.stop) or anthropic.omit,
            extra_body=body,
        )

    def _body(self, request: CompletionRequest) -> dict[str, Any]:
        """Return the parameters that not every model or version of the client knows."""
        schema = request.response_schema
        wanted = {
            "temperature": request.temperature,
            "top_p": request.top_p,
            "output_config": None
            if schema is None
            else {"format": {"type": "json_schema", "schema": dict(schema)}},
        }
        return {
            name: value
            for name, value in wanted.items()
            if value is not None and self._dialect.takes(name)
        }

    def _make_client(self) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(
            api_key=self._key,
            base_url=self._url,
            max_retries=0,
            timeout=anthropic.Timeout(self._timeout_seconds, connect=CONNECT_TIMEOUT_SECONDS),
            http_client=anthropic.DefaultAsyncHttpxClient(trust_env=not is_loopback(self._url)),
        )


def _turn(role: Literal["user", "assistant"], content: str) -> MessageParam:
    if role == "user":
        return {"role": "user", "content": content}
    return {"role": "assistant", "content": content}


def read_reply(reply: Reply) -> Completion:
    """Return what the model said; raise for a refusal or an empty reply."""
    if reply.stop_reason == "refusal":
        details = getattr(reply, "stop_details", None)
        why = getattr(details, "explanation", None) or "stop reason 'refusal'"
        raise RefusedError(f"the model declined: {one_line(why)}")
    text = "".join(block.text for block in reply.content if block.type == "text")
    if not text.strip():
        raise EmptyReplyError(f"the reply has no text (stop reason {reply.stop_reason!r})")
    return Completion(
        text=text,
        finish_reason=_FINISH.get(reply.stop_reason, "other"),
        usage=Usage(input_tokens=reply.usage.input_tokens, output_tokens=reply.usage.output_tokens),
        served_model=reply.model,
    )
