"""Read servers' token counts: of the prompt, of the reply, and of cached parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fairjudge.ports import Usage

_MAX_TOKENS = 10**9
"""More than any call has; a larger number is invalid."""


def read_usage(usage: Any) -> Usage:
    """Read the ``usage`` of a chat completion of OpenAI, litellm or servers like vLLM.

    An invalid count is None; if the prompt has 0 tokens, all counts are. ``prompt_tokens`` includes
    cached tokens.
    """
    fields = _fields(usage)
    details = _fields(fields.get("prompt_tokens_details"))
    return _usage(
        _count(fields.get("prompt_tokens")),
        _count(fields.get("completion_tokens")),
        cache_read=_first(details.get("cached_tokens"), fields.get("cache_read_input_tokens")),
        cache_written=_first(
            details.get("cache_write_tokens"), fields.get("cache_creation_input_tokens")
        ),
    )


def read_messages_usage(usage: Any) -> Usage:
    """Read the ``usage`` of formats with ``input_tokens``: Anthropic's messages, decisions.

    Anthropic's ``input_tokens`` exclude cached tokens, which are counted separately; OpenAI's, with
    ``input_tokens_details``, include them.
    """
    fields = _fields(usage)
    input_tokens, cache_written = _count(fields.get("input_tokens")), None
    cache_read = _count(_fields(fields.get("input_tokens_details")).get("cached_tokens"))
    if cache_read is None:
        cache_read = _count(fields.get("cache_read_input_tokens"))
        cache_written = _count(fields.get("cache_creation_input_tokens"))
        if input_tokens is not None:
            input_tokens += (cache_read or 0) + (cache_written or 0)
    output_tokens = _count(fields.get("output_tokens"))
    return _usage(input_tokens, output_tokens, cache_read=cache_read, cache_written=cache_written)


def _fields(value: Any) -> Mapping[str, Any]:
    """Return the fields of a JSON object, or of a client's object for one."""
    if isinstance(value, Mapping):
        return value
    return getattr(value, "__dict__", {})


def _usage(
    input_tokens: int | None,
    output_tokens: int | None,
    *,
    cache_read: int | None,
    cache_written: int | None,
) -> Usage:
    if input_tokens == 0:  # prompts are never empty, so the server does not count tokens
        return Usage()
    is_valid = input_tokens is not None and (cache_read or 0) + (cache_written or 0) <= input_tokens
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cached_input_tokens=cache_read if is_valid else None,
        written_input_tokens=cache_written if is_valid else None,
    )


def _first(*values: Any) -> int | None:
    return next((count for value in values if (count := _count(value)) is not None), None)


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return math.ceil(value) if 0 <= value <= _MAX_TOKENS else None
