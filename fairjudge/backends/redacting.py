"""Takes keys out of what servers say before it is kept: some repeat what they were sent."""

from __future__ import annotations

import os
from collections.abc import Sequence

from fairjudge.backends.ports import AnyBackend, aclose, decision_port, text_port
from fairjudge.protocols import (
    Completion,
    CompletionRequest,
    DecisionRefusal,
    DecisionRequest,
    Decisions,
)

LEAST_LENGTH = 8
"""Servers of one's own take ``x`` or ``none`` for a key: words that replies may well hold."""
_NAMES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


def keys_in_environment(variable: str | None = None) -> tuple[str, ...]:
    """Return the key in `variable`, or where that is None whatever is named like a key."""
    names = [variable] if variable else [name for name in os.environ if name.endswith(_NAMES)]
    given = {os.environ.get(name, "").strip() for name in names}
    return tuple(sorted((key for key in given if len(key) >= LEAST_LENGTH), key=len, reverse=True))


class RedactingBackend:
    """Puts ``[key]`` wherever a reply of `inner` holds one of `keys`.

    Token alternatives are left out of such a reply: a key may stand across several of them.
    """

    def __init__(self, inner: AnyBackend, *, keys: Sequence[str]) -> None:
        self._inner = inner
        self._keys = keys

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`."""
        reply = await text_port(self._inner)(request)
        changes = {
            "text": self._without(reply.text),
            "served_model": self._without(reply.served_model),
        }
        if changes == {"text": reply.text, "served_model": reply.served_model}:
            return reply
        return reply.model_copy(update={**changes, "tokens": None})

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`."""
        reply = await decision_port(self._inner)(request)
        answers = {
            name: DecisionRefusal(why=self._without(answer.why) or "")
            if isinstance(answer, DecisionRefusal)
            else answer
            for name, answer in reply.answers.items()
        }
        served_model = self._without(reply.served_model)
        return reply.model_copy(update={"answers": answers, "served_model": served_model})

    async def aclose(self) -> None:
        """Close `inner`."""
        await aclose(self._inner)

    def _without(self, text: str | None) -> str | None:
        for key in self._keys:
            text = text and text.replace(key, "[key]")
        return text
