"""Replies that a server streams though none asked for it: put together as the one they are.

Server-sent events of the chat completions format: lines ``data: {...}`` whose pieces of text add
up, up to ``data: [DONE]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_MARK = "data:"


def assembled(text: str) -> Mapping[str, Any] | None:
    """Return the chat completion that the events in `text` make, or None where there are none.

    An event that holds an error is returned in place of a reply. A stream that broke off has no
    finish reason.
    """
    if not text.lstrip().startswith((_MARK, "event:", ":")):
        return None
    reply: dict[str, Any] = {}
    said: list[str] = []
    reason = None
    events = list(_events(text))
    for event in events:
        if event.get("error"):
            return event
        reply |= {name: event[name] for name in ("id", "model", "usage") if event.get(name)}
        for choice in event.get("choices") or ():
            if choice.get("index") not in {0, None}:
                continue
            piece = choice.get("delta") or choice.get("message") or {}
            said.append(piece.get("content") or "")
            reason = choice.get("finish_reason") or reason
    if not events:
        return None
    message = {"role": "assistant", "content": "".join(said)}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**reply, "choices": [choice] if any(said) or reason else []}


def _events(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.split("\n"):  # not splitlines(): replies may hold U+2028 and its like
        if not line.startswith(_MARK):
            continue
        try:
            event = json.loads(line.removeprefix(_MARK))
        except (ValueError, RecursionError):  # [DONE], or half an event
            continue
        if isinstance(event, Mapping):
            yield event
