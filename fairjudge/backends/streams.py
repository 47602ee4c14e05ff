"""Assemble replies that a server streams without being asked to.

They are server-sent events of the chat completions format: lines ``data: {...}`` with pieces of the
text, up to ``data: [DONE]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_MARK = "data:"


def assembled(text: str) -> Mapping[str, Any] | None:
    """Return the chat completion assembled from the events in `text`, or None without events.

    An event with an error is returned in place of a reply. A stream that broke off has no finish
    reason.
    """
    if not text.lstrip().startswith((_MARK, "event:", ":")):
        return None
    reply: dict[str, Any] = {}
    pieces: list[str] = []
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
            pieces.append(piece.get("content") or "")
            reason = choice.get("finish_reason") or reason
    if not events:
        return None
    message = {"role": "assistant", "content": "".join(pieces)}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**reply, "choices": [choice] if any(pieces) or reason else []}


def _events(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.split("\n"):  # not splitlines(): replies may contain U+2028 and the like
        if not line.startswith(_MARK):
            continue
        try:
            event = json.loads(line.removeprefix(_MARK))
        except (ValueError, RecursionError):  # [DONE], or half an event
            continue
        if isinstance(event, Mapping):
            yield event
