"""OpenAI's chat completions format, for clients, batch files and litellm."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairjudge.backends.finish_reasons import check_finish
from fairjudge.backends.http import one_line
from fairjudge.backends.other_fields import json_in_other_fields, locate_text
from fairjudge.backends.parameter_support import is_strict
from fairjudge.backends.reply_bodies import check_reply, first_choice, native_finish_reason
from fairjudge.backends.usage import read_usage
from fairjudge.errors import EmptyReplyError, RefusedError, ServerError
from fairjudge.ports import (
    Completion,
    CompletionRequest,
    FinishReason,
    TokenAlternatives,
    Usage,
)

_REASONING = re.compile(r"o\d")


def chat_body(
    request: CompletionRequest, *, limit_name: str = "max_completion_tokens"
) -> dict[str, Any]:
    """Return the body of `request`; `limit_name` is the server's name of the token limit."""
    schema, top_logprobs = request.response_schema, request.top_logprobs
    body = {
        "model": request.target.model,
        "temperature": request.temperature,
        "top_p": request.top_p,
        # With one seed, all samples of a prompt would be equal.
        "seed": None if request.seed is None else request.seed + request.sample_index,
        "logprobs": None if top_logprobs is None else True,
        "top_logprobs": top_logprobs or None,
        "stop": list(request.stop) or None,
        "messages": _messages(request),
        limit_name: request.max_output_tokens,
        "response_format": None if schema is None else _response_format(schema),
    }
    return {name: value for name, value in body.items() if value is not None}


def _messages(request: CompletionRequest) -> list[dict[str, str]]:
    # OpenAI's reasoning models have another name for the system role.
    role_names = {"system": "developer"} if _REASONING.match(request.target.model) else {}
    return [
        {"content": message.content, "role": role_names.get(message.role, message.role)}
        for message in request.messages
    ]


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    name = re.sub(r"[^A-Za-z0-9_-]", "_", str(schema.get("title", "reply")))[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": dict(schema), "strict": is_strict(schema)},
    }


def read_chat(
    reply: Any,
    *,
    stop: Sequence[str],
    schema: Mapping[str, Any] | None = None,
    server_name: str = "the server",
) -> Completion:
    """Parse a chat completion, or raise the error that explains its absence.

    If the text is empty, JSON of the requested `schema` in another field counts as the reply
    (`fairjudge.backends.other_fields`). `server_name` is for messages. Some servers return the
    stop string at the end of a reply; it is removed, as by OpenAI.
    """
    reply = check_reply(reply, "choices", server_name=server_name)
    choice = first_choice(reply, server_name=server_name)
    message, usage = choice.get("message") or {}, read_usage(reply.get("usage"))
    refusal = _refusal(message)
    if refusal:
        raise RefusedError(f"the model declined: {one_line(refusal)}").with_usage(usage)
    reason = native_finish_reason(choice)
    finish = check_finish(reason, server_name=server_name, usage=usage)
    text = truncate_at_stop(_text(message.get("content")), stop)
    if not text.strip():
        text_elsewhere = json_in_other_fields(message, schema)
        if text_elsewhere is None:
            location = locate_text(message)
            raise _empty(reason, finish, location, server_name=server_name, usage=usage)
        text, finish = text_elsewhere, "stop"
    model = reply.get("model")
    return Completion(
        text=text,
        finish_reason=finish,
        usage=usage,
        served_model=model if isinstance(model, str) else None,
        tokens=read_logprobs(choice.get("logprobs")),
    )


def _parts(content: Any, *kinds: str) -> Iterator[str]:
    """Yield the texts of the parts of `content` of the given `kinds`."""
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and part.get("type") in kinds:
            text = part.get(str(part["type"])) or part.get("text")
            yield text if isinstance(text, str) else ""


def _refusal(message: Mapping[str, Any]) -> str | None:
    """Return the refusal in a field of the message or in a part of its content, or None."""
    provider_fields = message.get("provider_specific_fields") or {}
    field = message.get("refusal") or provider_fields.get("refusal")
    if field:
        return str(field)
    parts = list(_parts(message.get("content"), "refusal"))
    return " ".join(parts) or "a part of type 'refusal'" if parts else None


def _text(content: Any) -> str:
    """Return the text of a message's content, a text or a list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(_parts(content, "text", "output_text"))


def _empty(
    reason: Any, finish: FinishReason, location: str, *, server_name: str, usage: Usage
) -> EmptyReplyError | ServerError:
    """Return the error for a reply without text; without a finish reason it is a server error."""
    if reason is None:
        error = ServerError(f"{server_name} sent a reply without text and without a finish reason")
        return error.with_usage(usage)
    reason_text = f"finish reason {one_line(reason)!r}"
    if finish == "length":
        reason_text += ": all of max_output_tokens was used for other output, such as reasoning"
    message = f"the reply has no text ({reason_text})" + (f"; {location}" if location else "")
    return EmptyReplyError(message).with_usage(usage)


def truncate_at_stop(text: str, stop: Sequence[str]) -> str:
    """Return `text` up to the first `stop` string in it."""
    positions = (text.find(string) for string in stop if string and string in text)
    return text[: min(positions, default=len(text))]


def read_logprobs(logprobs: Any) -> tuple[TokenAlternatives, ...] | None:
    """Return the alternatives at each token from OpenAI's ``logprobs``, or None."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not content:
        return None
    return tuple(
        TokenAlternatives(token=entry["token"], logprobs=_alternatives(entry)) for entry in content
    )


def _alternatives(step: Mapping[str, Any]) -> dict[str, float]:
    """Return log-probabilities by text, summing the probabilities of tokens with equal text."""
    entries = step.get("top_logprobs") or []
    if all(entry["token"] != step["token"] for entry in entries):
        entries = [step, *entries]
    by_text: dict[str, float] = {}
    for entry in entries:
        token, logprob = entry["token"], entry.get("logprob")
        if logprob is None or not math.isfinite(logprob):
            continue
        earlier_logprob = by_text.get(token)
        by_text[token] = (
            logprob
            if earlier_logprob is None
            else math.log(math.exp(earlier_logprob) + math.exp(logprob))
        )
    return by_text
