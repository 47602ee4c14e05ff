"""The last step before a model: marks untrusted text that is sent, takes keys out of replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from fairjudge.backends.ports import Ask, Middleware, Reply, Request
from fairjudge.backends.redacting import redacted
from fairjudge.prompting import seal
from fairjudge.protocols import CompletionRequest, DecisionRequest

Sent = TypeVar("Sent", CompletionRequest, DecisionRequest, CompletionRequest | DecisionRequest)


class Guarding(Middleware):
    """Seals the fences of each request with `secret`, and takes `keys` out of each reply.

    Belongs inside the cache, whose keys are those of requests that are not sealed yet: replies that
    were kept, recorded or brought along are found whatever the secret was.
    """

    def __init__(self, *, secret: bytes, keys: Sequence[str] = ()) -> None:
        self._secret = secret
        self._keys = keys

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        reply = await ask(sealed(request, self._secret))
        return redacted(reply, self._keys) if self._keys else reply


def sealed(request: Sent, secret: bytes) -> Sent:
    """Return `request` as it is sent."""
    return request.model_copy(update={"messages": seal(request.messages, secret)})
