"""What servers say they counted: tokens of the prompt, of the reply, and what a cache spared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fairjudge.ports import Usage

_MAX_TOKENS = 10**9
"""More than any call has: what a server counts beyond it is no count."""


def read_usage(usage: Any) -> Usage:
    """Read the ``usage`` of a chat completion, as OpenAI, litellm and servers like vLLM write it.

    What is no count is not known, nor is anything where the prompt is said to have no tokens.
    ``prompt_tokens`` counts cached tokens too.
    """
    given = _fields(usage)
    details = _fields(given.get("prompt_tokens_details"))
    return _usage(
        _count(given.get("prompt_tokens")),
        _count(given.get("completion_tokens")),
        read=_first(details.get("cached_tokens"), given.get("cache_read_input_tokens")),
        written=_first(details.get("cache_write_tokens"), given.get("cache_creation_input_tokens")),
    )


def read_messages_usage(usage: Any) -> Usage:
    """Read the ``usage`` of formats with ``input_tokens``: Anthropic's messages, decisions.

    Anthropic's leave out what is cached, which it counts beside them; where OpenAI's counts it, in
    ``input_tokens_details``, they are all of the prompt.
    """
    given = _fields(usage)
    details = _fields(given.get("input_tokens_details"))
    within = _count(details.get("cached_tokens"))
    read = _count(given.get("cache_read_input_tokens"))
    written = _count(given.get("cache_creation_input_tokens"))
    rest = _count(given.get("input_tokens"))
    if within is not None:
        return _usage(rest, _count(given.get("output_tokens")), read=within, written=None)
    return _usage(
        None if rest is None else rest + (read or 0) + (written or 0),
        _count(given.get("output_tokens")),
        read=read,
        written=written,
    )


def _fields(value: Any) -> Mapping[str, Any]:
    """Return the fields of a JSON object, or of a value that a client made of one."""
    if isinstance(value, Mapping):
        return value
    return getattr(value, "__dict__", {})


def _usage(
    input_tokens: int | None, output_tokens: int | None, *, read: int | None, written: int | None
) -> Usage:
    if input_tokens == 0:  # no prompt is empty: such a server counts nothing
        return Usage()
    possible = input_tokens is not None and (read or 0) + (written or 0) <= input_tokens
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cached_input_tokens=read if possible else None,
        written_input_tokens=written if possible else None,
    )


def _first(*values: Any) -> int | None:
    return next((count for value in values if (count := _count(value)) is not None), None)


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return math.ceil(value) if 0 <= value <= _MAX_TOKENS else None
