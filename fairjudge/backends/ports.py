"""The port that every backend has, and the pipeline of middlewares before one."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import Any, TypeAlias, TypeVar

from fairjudge.errors import ConfigurationError
from fairjudge.ports import (
    Backend,
    Completion,
    CompletionRequest,
    DecisionBackend,
    DecisionRequest,
    Decisions,
)

Request = TypeVar("Request", CompletionRequest, DecisionRequest)
Reply = TypeVar("Reply", Completion, Decisions)
Ask: TypeAlias = Callable[[Request], Awaitable[Reply]]
AnyRequest: TypeAlias = CompletionRequest | DecisionRequest
AnyBackend: TypeAlias = Backend | DecisionBackend
Warn: TypeAlias = Callable[[str], None]
"""Called with one sentence for the user about something that did not stop the work."""
Clock: TypeAlias = Callable[[], float]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]

counting: ContextVar[Callable[[], None] | None] = ContextVar("counting", default=None)
"""Called before a backend sends a request again by itself; set by whoever counts what is sent."""


def asked_again() -> None:
    """Tell whoever counts requests that one is about to be sent again, in other words."""
    count = counting.get()
    if count is not None:
        count()


class Middleware(ABC):
    """One step around a call: asks the next one, or answers itself."""

    @abstractmethod
    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """Answer `request`; `ask` puts a request to the next step."""

    async def aclose(self) -> None:  # noqa: B027  # few have anything to end
        """End what it has under way; the backend is still open."""


class Pipeline:
    """A backend behind middlewares, of which the first is outermost; a backend of both ports.

    A request that the backend has no port for raises `ConfigurationError`.
    """

    def __init__(self, backend: AnyBackend, *middlewares: Middleware) -> None:
        self._backend = backend
        self._middlewares = middlewares
        ask: Ask[Any, Any] = functools.partial(_ask, backend)
        for middleware in reversed(middlewares):
            ask = functools.partial(middleware.answer, ask=ask)
        self._ask: Callable[[Any], Coroutine[Any, Any, Any]] = ask  # type: ignore[assignment]

    # Not async: every further coroutine is resumed at each step of a call.
    def complete(self, request: CompletionRequest) -> Coroutine[Any, Any, Completion]:
        """Answer `request`."""
        return self._ask(request)

    def decide(self, request: DecisionRequest) -> Coroutine[Any, Any, Decisions]:
        """Answer `request`."""
        return self._ask(request)

    async def aclose(self) -> None:
        """Close the middlewares from the outside in, then the backend."""
        for middleware in self._middlewares:
            await middleware.aclose()
        await aclose(self._backend)


def _ask(backend: AnyBackend, request: AnyRequest) -> Awaitable[Any]:
    """Put `request` to the port of `backend` that answers such requests."""
    writes = isinstance(request, CompletionRequest)
    name = "complete" if writes else "decide"
    port: Callable[[Any], Awaitable[Any]] | None = getattr(backend, name, None)
    if port is not None:
        return port(request)
    if writes:
        raise ConfigurationError(
            f"{type(backend).__name__} answers typed questions and writes no text; "
            "this command needs a backend that generates text"
        )
    raise ConfigurationError(
        f"{type(backend).__name__} writes text and answers no typed questions; use a decision "
        "backend such as 'systemone:' or 'openai-decisions:'"
    )


async def aclose(backend: object) -> None:
    """Close `backend` if it has anything to close."""
    close: Callable[[], Awaitable[None]] | None = getattr(backend, "aclose", None)
    if close is not None:
        await close()
