"""OpenAI's chat completions format, for clients, batch files and litellm."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairjudge.backends.finish_reasons import checked_finish
from fairjudge.backends.http import one_line
from fairjudge.backends.parameter_support import is_strict
from fairjudge.backends.placed_elsewhere import answer_elsewhere, where_it_went
from fairjudge.backends.reply_bodies import check_reply, finish_reason_of, first_choice
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
    renamed = {"system": "developer"} if _REASONING.match(request.target.model) else {}
    return [
        {"content": message.content, "role": renamed.get(message.role, message.role)}
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
    where: str = "the server",
) -> Completion:
    """Parse a chat completion, or raise the reason why it has no text.

    If the text is empty, JSON of the requested `schema` in another place counts as the reply
    (`fairjudge.backends.placed_elsewhere`). `where` names the server in messages. Some servers
    leave the stop string at the end of a reply; it is removed here, as by OpenAI.
    """
    reply = check_reply(reply, "choices", where=where)
    choice = first_choice(reply, where=where)
    message, usage = choice.get("message") or {}, read_usage(reply.get("usage"))
    refusal = _refusal(message)
    if refusal:
        raise RefusedError(f"the model declined: {one_line(refusal)}").with_usage(usage)
    reason = finish_reason_of(choice)
    finish = checked_finish(reason, where=where, usage=usage)
    text = cut_at(_text(message.get("content")), stop)
    if not text.strip():
        elsewhere = answer_elsewhere(message, schema)
        if elsewhere is None:
            went = where_it_went(message)
            raise _empty(reason, finish, went, where=where, usage=usage)
        text, finish = elsewhere, "stop"
    model = reply.get("model")
    return Completion(
        text=text,
        finish_reason=finish,
        usage=usage,
        served_model=model if isinstance(model, str) else None,
        tokens=read_logprobs(choice.get("logprobs")),
    )


def _parts(content: Any, *kinds: str) -> Iterator[str]:
    """Yield the texts of a message's parts of these `kinds`."""
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and part.get("type") in kinds:
            text = part.get(str(part["type"])) or part.get("text")
            yield text if isinstance(text, str) else ""


def _refusal(message: Mapping[str, Any]) -> str | None:
    """Return the refusal in a field of the message or in a part of its content, or None."""
    own = message.get("provider_specific_fields") or {}
    field = message.get("refusal") or own.get("refusal")
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
    reason: Any, finish: FinishReason, went: str, *, where: str, usage: Usage
) -> EmptyReplyError | ServerError:
    """Return the error for a reply without text; without a finish reason it is a server error."""
    if reason is None:
        error = ServerError(f"{where} sent a reply without text and without a finish reason")
        return error.with_usage(usage)
    why = f"finish reason {one_line(reason)!r}"
    if finish == "length":
        why += ": all of max_output_tokens went elsewhere, as into reasoning"
    message = f"the reply has no text ({why})" + (f"; {went}" if went else "")
    return EmptyReplyError(message).with_usage(usage)


def cut_at(text: str, stop: Sequence[str]) -> str:
    """Return `text` up to the first `stop` string in it."""
    places = (text.find(string) for string in stop if string and string in text)
    return text[: min(places, default=len(text))]


def read_logprobs(logprobs: Any) -> tuple[TokenAlternatives, ...] | None:
    """Return the alternatives at each token from OpenAI's ``logprobs``, or None."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not content:
        return None
    return tuple(
        TokenAlternatives(token=place["token"], logprobs=_alternatives(place)) for place in content
    )


def _alternatives(place: Mapping[str, Any]) -> dict[str, float]:
    """Return log-probabilities by text; those of tokens with equal text are added."""
    listed = place.get("top_logprobs") or []
    if all(entry["token"] != place["token"] for entry in listed):
        listed = [place, *listed]
    by_text: dict[str, float] = {}
    for entry in listed:
        token, logprob = entry["token"], entry.get("logprob")
        if logprob is None or not math.isfinite(logprob):
            continue
        earlier = by_text.get(token)
        by_text[token] = (
            logprob if earlier is None else math.log(math.exp(earlier) + math.exp(logprob))
        )
    return by_text
