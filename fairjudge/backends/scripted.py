"""A backend that answers with a function, for tests of judges, prompts and graphs."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from fairjudge.backends.ports import AnyRequest
from fairjudge.errors import EmptyReplyError
from fairjudge.ports import Completion, CompletionRequest, DecisionRequest, Decisions

ScriptedReply: TypeAlias = str | Completion | Exception
Handler: TypeAlias = Callable[[CompletionRequest], ScriptedReply | Awaitable[ScriptedReply]]
DecisionHandler: TypeAlias = Callable[
    [DecisionRequest], Decisions | Exception | Awaitable[Decisions | Exception]
]


class ScriptedBackend:
    """A backend that answers each request with the return value of `handler`.

    Parameters
    ----------
    handler : callable, optional
        Maps a `CompletionRequest` to a text, a `Completion`, or an exception to raise; may be
        async. Without it, `complete` raises `TypeError`.
    decide : callable, optional
        Maps a `DecisionRequest` to `Decisions` or an exception to raise; may be async.

    Attributes
    ----------
    requests : list
        All requests received, in order.

    Examples
    --------
    >>> import asyncio
    >>> from fairjudge.ports import Message, ModelRef
    >>> backend = ScriptedBackend(lambda request: f"You said {request.messages[-1].content!r}.")
    >>> request = CompletionRequest(
    ...     target=ModelRef(provider="scripted", model="echo"),
    ...     messages=(Message(role="user", content="hello"),),
    ... )
    >>> asyncio.run(backend.complete(request)).text
    "You said 'hello'."
    """

    def __init__(
        self, handler: Handler | None = None, *, decide: DecisionHandler | None = None
    ) -> None:
        self._handler = handler
        self._decide = decide
        self.requests: list[AnyRequest] = []

    async def complete(self, request: CompletionRequest) -> Completion:
        """Return the handler's reply; an empty text raises `EmptyReplyError`."""
        reply = await self._outcome(self._handler, request, "text")
        if isinstance(reply, Completion):
            return reply
        if not reply:
            raise EmptyReplyError("the script's reply is empty")
        return Completion(text=reply)

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Return the decision handler's reply."""
        decisions: Decisions = await self._outcome(self._decide, request, "decisions")
        return decisions

    async def _outcome(
        self, handler: Callable[[Any], Any] | None, request: AnyRequest, kind: str
    ) -> Any:
        if handler is None:
            raise TypeError(f"this ScriptedBackend has no handler for {kind}")
        self.requests.append(request)
        outcome = handler(request)
        reply = await outcome if inspect.isawaitable(outcome) else outcome
        if isinstance(reply, Exception):
            raise reply
        return reply
