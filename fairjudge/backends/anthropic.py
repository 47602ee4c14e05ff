"""Anthropic's messages API, through its own client."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import anthropic

from fairjudge.backends.finish_reasons import check_finish
from fairjudge.backends.http import one_line
from fairjudge.backends.other_fields import json_in_other_fields, locate_text
from fairjudge.backends.parameter_support import ParameterSupport
from fairjudge.backends.ports import count_resend
from fairjudge.backends.reply_bodies import check_reply
from fairjudge.backends.server_client import ServerClient
from fairjudge.backends.usage import read_messages_usage
from fairjudge.backends.warming import shared_texts
from fairjudge.errors import BackendError, EmptyReplyError, RefusedError
from fairjudge.ports import Completion, CompletionRequest, Message, ModelRef

_MARK = "cache_control"


class AnthropicBackend(ServerClient):
    """A model behind the messages wire format; see `ServerClient` for its parameters.

    Some models do not support ``temperature`` and ``top_p``, others no schema: a parameter that the
    server declines is omitted from then on, and ``warn`` is called once. A prefix shared with
    other requests is marked for the provider's prompt cache. The format has no seed and no token
    probabilities: ``seed`` has no effect and ``Completion.tokens`` is None.
    """

    key_variable = "ANTHROPIC_API_KEY"
    own_url = "https://api.anthropic.com"
    sdk: ClassVar[Any] = anthropic

    def __init__(self, target: ModelRef, **options: Any) -> None:
        super().__init__(target, **options)
        self._url = self._url.removesuffix("/v1")  # the client appends /v1/messages itself
        self._support = ParameterSupport(self.target.model, server=self._url, warn=self._warn)

    async def complete(self, request: CompletionRequest) -> Completion:
        """Return the reply to `request`, or raise a `fairjudge.errors.BackendError`."""
        has_shared_prefix = bool(shared_texts(request))
        parse = partial(read_reply, schema=request.response_schema, server_name=self._url)
        while True:
            options = self._support.select(optional_parameters(request))
            marks = [_MARK] if has_shared_prefix and self._support.accepts(_MARK) else []
            body = message_body(request, mark_prefix=bool(marks)) | options
            try:
                return await self._post("/v1/messages", body, parse)
            except BackendError as error:
                if self._support.learn(error, [*options, *marks]) is None:
                    raise
            count_resend()


def message_body(request: CompletionRequest, *, mark_prefix: bool = False) -> dict[str, Any]:
    """Return the body of `request` with the parameters that all models support.

    With `mark_prefix`, the shared prefix is marked for the provider's prompt cache.
    """
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    body = {
        "model": request.target.model,
        "max_tokens": request.max_output_tokens,
        "messages": [
            _turn(m, mark_prefix=mark_prefix) for m in request.messages if m.role != "system"
        ],
        "system": system,
        "stop_sequences": list(request.stop),
    }
    return {name: value for name, value in body.items() if value}


def optional_parameters(request: CompletionRequest) -> dict[str, Any]:
    """Return the parameters of `request` that some models decline."""
    schema = request.response_schema
    config = {"format": {"type": "json_schema", "schema": schema and dict(schema)}}
    options = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "output_config": config if schema is not None else None,
    }
    return {name: value for name, value in options.items() if value is not None}


def _turn(message: Message, *, mark_prefix: bool) -> dict[str, Any]:
    """Return a message as JSON; with `mark_prefix`, its prefix is a separate cached block."""
    content: Any = message.content
    if mark_prefix and message.shared:
        text, ephemeral = message.content[: message.shared], {"type": "ephemeral"}
        cached_block = {"type": "text", "text": text, _MARK: ephemeral}
        remainder = message.content[message.shared :]
        content = [cached_block]
        if remainder.strip():
            content.append({"type": "text", "text": remainder})
    return {"role": message.role, "content": content}


def read_reply(
    reply: Any, *, schema: Mapping[str, Any] | None = None, server_name: str = "the server"
) -> Completion:
    """Parse a message into a `Completion`, or raise the error that explains its absence."""
    reply = check_reply(reply, "content", "stop_reason", server_name=server_name)
    usage, reason = read_messages_usage(reply.get("usage")), reply.get("stop_reason")
    if reason == "refusal":
        details = reply.get("stop_details") or {}
        explanation = details.get("explanation") or "stop reason 'refusal'"
        raise RefusedError(f"the model declined: {one_line(explanation)}").with_usage(usage)
    finish = check_finish(reason, server_name=server_name, usage=usage)
    blocks = reply.get("content") or ()
    text = "".join(block["text"] for block in blocks if block.get("type") == "text")
    if not text.strip():
        text_elsewhere = json_in_other_fields({"content": blocks}, schema)
        if text_elsewhere is None:
            location = locate_text({"content": blocks})
            problem = f"the reply has no text (stop reason {one_line(reason)!r})"
            raise EmptyReplyError("; ".join(filter(None, [problem, location]))).with_usage(usage)
        text, finish = text_elsewhere, "stop"
    model = reply.get("model")
    return Completion(
        text=text,
        finish_reason=finish,
        usage=usage,
        served_model=model if isinstance(model, str) else None,
    )
