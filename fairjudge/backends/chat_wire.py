"""OpenAI's chat completions format, as clients, batch files and litellm write and read it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fairjudge.backends.http import one_line
from fairjudge.backends.parameter_support import is_strict
from fairjudge.backends.usage import read_usage
from fairjudge.errors import EmptyReplyError, RefusedError
from fairjudge.protocols import Completion, CompletionRequest, FinishReason, TokenAlternatives

_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "error": "error",
}
_REASONING = re.compile(r"o\d")


def chat_body(
    request: CompletionRequest, *, limit_name: str = "max_completion_tokens"
) -> dict[str, Any]:
    """Return the body of `request`; `limit_name` is what the server calls the token limit."""
    schema, top_logprobs = request.response_schema, request.top_logprobs
    body = {
        "model": request.target.model,
        "temperature": request.temperature,
        "top_p": request.top_p,
        # Samples of one prompt under one seed would be the same sample.
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
    # OpenAI's reasoning models know the first role by another name.
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


def read_chat(reply: Any, *, stop: Sequence[str]) -> Completion:
    """Return what the model said in a chat completion, or raise what `map_sdk_error` knows.

    Some servers leave the stop string that ended a reply at its end; it is cut off here, as OpenAI
    does.
    """
    if reply.get("error"):
        raise ValueError(f"an error in place of a reply: {reply['error']}")
    choice = reply["choices"][0]
    message, usage = choice["message"], read_usage(reply.get("usage"))
    own = message.get("provider_specific_fields") or {}
    refusal = message.get("refusal") or own.get("refusal")
    reason = str(choice.get("finish_reason")).lower()
    if refusal:
        raise RefusedError(f"the model declined: {one_line(refusal)}").with_usage(usage)
    if reason == "content_filter":
        why = "the provider's content filter stopped the reply"
        raise RefusedError(why).with_usage(usage)
    text = cut_at(_text(message.get("content")), stop)
    if not text.strip():
        raise EmptyReplyError(f"the reply has no text ({_why_empty(reason)})").with_usage(usage)
    model = reply.get("model")
    return Completion(
        text=text,
        finish_reason=_FINISH.get(reason, "other"),
        usage=usage,
        served_model=model if isinstance(model, str) else None,
        tokens=read_logprobs(choice.get("logprobs")),
    )


def _text(content: Any) -> str:
    """Return the text of a message: as it is, or of its parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _why_empty(reason: str) -> str:
    why = f"finish reason {one_line(reason)!r}"
    if _FINISH.get(reason) == "length":
        why += ": all of max_output_tokens went elsewhere, as into reasoning"
    return why


def cut_at(text: str, stop: Sequence[str]) -> str:
    """Return `text` up to the first of the `stop` strings in it."""
    places = [place for one in stop if one and (place := text.find(one)) >= 0]
    return text[: min(places)] if places else text


def read_logprobs(logprobs: Any) -> tuple[TokenAlternatives, ...] | None:
    """Return the alternatives at each token from OpenAI's ``logprobs``, or None."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not content:
        return None
    return tuple(
        TokenAlternatives(token=place["token"], logprobs=_alternatives(place)) for place in content
    )


def _alternatives(place: Mapping[str, Any]) -> dict[str, float]:
    """Return log-probabilities by text; two tokens that read the same add up."""
    listed = place.get("top_logprobs") or []
    if all(entry["token"] != place["token"] for entry in listed):
        listed = [place, *listed]
    found: dict[str, float] = {}
    for entry in listed:
        token, logprob = entry["token"], entry.get("logprob")
        if logprob is None or not math.isfinite(logprob):
            continue
        known = found.get(token)
        found[token] = logprob if known is None else math.log(math.exp(known) + math.exp(logprob))
    return found
