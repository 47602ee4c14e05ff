"""The interface of backends, and the pipeline of middlewares in front of one."""

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
"""Called with one sentence for the user about a problem that does not stop the work."""
Clock: TypeAlias = Callable[[], float]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]

resend_counter: ContextVar[Callable[[], None] | None] = ContextVar("resend_counter", default=None)
"""Called before a backend itself resends a request; set by the budget, which counts calls."""


def count_resend() -> None:
    """Count a resend of a request by a backend, such as without a declined parameter."""
    count = resend_counter.get()
    if count is not None:
        count()


class Middleware(ABC):
    """One step of a pipeline: it calls the next step, or answers the request itself."""

    @abstractmethod
    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """Answer `request`; `ask` passes a request to the next step."""

    async def aclose(self) -> None:  # noqa: B027  # most have no open calls
        """Cancel or finish open calls; the backend is still open."""


class Pipeline:
    """A backend behind middlewares, the first of which is outermost; itself a backend.

    A request of a kind that the backend does not support raises `ConfigurationError`.
    """

    def __init__(self, backend: AnyBackend, *middlewares: Middleware) -> None:
        self._backend = backend
        self._middlewares = middlewares
        ask: Ask[Any, Any] = functools.partial(_ask, backend)
        for middleware in reversed(middlewares):
            ask = functools.partial(middleware.answer, ask=ask)
        self._ask: Callable[[Any], Coroutine[Any, Any, Any]] = ask  # type: ignore[assignment]

    # Not async, which would add a coroutine to every call.
    def complete(self, request: CompletionRequest) -> Coroutine[Any, Any, Completion]:
        """Answer `request`."""
        return self._ask(request)

    def decide(self, request: DecisionRequest) -> Coroutine[Any, Any, Decisions]:
        """Answer `request`."""
        return self._ask(request)

    async def aclose(self) -> None:
        """Close the middlewares, outermost first, then the backend."""
        for middleware in self._middlewares:
            await middleware.aclose()
        await aclose(self._backend)


def _ask(backend: AnyBackend, request: AnyRequest) -> Awaitable[Any]:
    """Call the method of `backend` for requests of this kind."""
    needs_text = isinstance(request, CompletionRequest)
    name = "complete" if needs_text else "decide"
    port: Callable[[Any], Awaitable[Any]] | None = getattr(backend, name, None)
    if port is not None:
        return port(request)
    if needs_text:
        raise ConfigurationError(
            f"{type(backend).__name__} answers typed questions and writes no text; "
            "this command needs a backend that generates text"
        )
    raise ConfigurationError(
        f"{type(backend).__name__} writes text and answers no typed questions; use a decision "
        "backend such as 'systemone:' or 'openai-decisions:'"
    )


async def aclose(backend: object) -> None:
    """Close `backend` if it has a method ``aclose``."""
    close: Callable[[], Awaitable[None]] | None = getattr(backend, "aclose", None)
    if close is not None:
        await close()
