"""What wrappers have in common: both ports of whatever they wrap, and closing it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from fairjudge.errors import ConfigurationError
from fairjudge.protocols import (
    Backend,
    Completion,
    CompletionRequest,
    DecisionBackend,
    DecisionRequest,
    Decisions,
)

AnyBackend: TypeAlias = Backend | DecisionBackend
Complete: TypeAlias = Callable[[CompletionRequest], Awaitable[Completion]]
Decide: TypeAlias = Callable[[DecisionRequest], Awaitable[Decisions]]
Warn: TypeAlias = Callable[[str], None]
"""Called with one sentence for the user about something that did not stop the work."""


class FullBackend(Backend, DecisionBackend, Protocol):
    """Both ports and `aclose`: what every wrapper is, whatever it wraps."""

    async def aclose(self) -> None:
        """Give back connections, files and memory."""
        ...


def text_port(backend: object) -> Complete:
    """Return `backend.complete`, or raise `ConfigurationError` if it writes no text."""
    complete: Complete | None = getattr(backend, "complete", None)
    if complete is not None:
        return complete
    raise ConfigurationError(
        f"{type(backend).__name__} answers typed questions and writes no text; "
        "this command needs a backend that generates text"
    )


def decision_port(backend: object) -> Decide:
    """Return `backend.decide`, or raise `ConfigurationError` if it writes text only."""
    decide: Decide | None = getattr(backend, "decide", None)
    if decide is not None:
        return decide
    raise ConfigurationError(
        f"{type(backend).__name__} writes text and answers no typed questions; use a decision "
        "backend such as 'systemone:' or 'openai-decisions:'"
    )


async def aclose(backend: object) -> None:
    """Close `backend` if it has anything to close."""
    close: Callable[[], Awaitable[None]] | None = getattr(backend, "aclose", None)
    if close is not None:
        await close()
