"""The parts of OpenAI's chat completions format that several backends read and write."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fairjudge.backends.dialect import is_strict
from fairjudge.backends.http import one_line
from fairjudge.errors import EmptyReplyError, RefusedError
from fairjudge.protocols import Completion, FinishReason, TokenAlternatives, Usage

_FINISH: Mapping[object, FinishReason] = {"stop": "stop", "length": "length"}


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``response_format`` that asks for `schema`."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", str(schema.get("title", "reply")))[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": dict(schema), "strict": is_strict(schema)},
    }


def read_choice(
    *,
    text: str,
    refusal: str | None,
    finish_reason: str | None,
    usage: Usage,
    served_model: str | None,
    logprobs: Any,
    stop: Sequence[str],
) -> Completion:
    """Return what the model said; raise for a refusal or an empty reply.

    Some servers leave the stop string that ended a reply at its end; it is cut off here, as OpenAI
    does.
    """
    if refusal:
        raise RefusedError(f"the model declined: {one_line(refusal)}")
    if finish_reason == "content_filter":
        raise RefusedError("the provider's content filter stopped the reply")
    text = cut_at(text, stop)
    if not text.strip():
        why = f"finish reason {finish_reason!r}"
        if _FINISH.get(finish_reason) == "length":
            why += ": all of max_output_tokens went elsewhere, as into reasoning"
        raise EmptyReplyError(f"the reply has no text ({why})")
    return Completion(
        text=text,
        finish_reason=_FINISH.get(finish_reason, "other"),
        usage=usage,
        served_model=served_model,
        tokens=read_logprobs(logprobs),
    )


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
