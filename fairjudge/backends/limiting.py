"""Bounds how many calls are in flight."""

from __future__ import annotations

import asyncio

from fairjudge.backends.ports import AnyBackend, aclose, decision_port, text_port
from fairjudge.protocols import Completion, CompletionRequest, DecisionRequest, Decisions


class LimitingBackend:
    """Lets at most `most` requests through to `inner` at once; the others wait their turn.

    Belongs outside the retries, so that a request which waits for a busy server keeps its place.
    """

    def __init__(self, inner: AnyBackend, *, most: int) -> None:
        self._inner = inner
        self._places = asyncio.Semaphore(most)

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request` when there is a place."""
        async with self._places:
            return await text_port(self._inner)(request)

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request` when there is a place."""
        async with self._places:
            return await decision_port(self._inner)(request)

    async def aclose(self) -> None:
        """Close `inner`."""
        await aclose(self._inner)
