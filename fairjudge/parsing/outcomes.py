"""The one place where a backend's error becomes `Unscored`; nothing else catches broadly."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import TypeVar

from fairjudge.domain import Unscored, UnscoredReason
from fairjudge.errors import (
    AuthenticationError,
    BackendError,
    BudgetExceededError,
    ContextTooLongError,
    EmptyReplyError,
    MalformedReplyError,
    RefusedError,
)
from fairjudge.protocols import Backend, Completion, CompletionRequest

T = TypeVar("T")

_REASONS: tuple[tuple[type[BackendError], UnscoredReason], ...] = (
    (RefusedError, "refused"),
    (BudgetExceededError, "budget"),
    (ContextTooLongError, "too_long"),
    (EmptyReplyError, "unparseable"),
    (MalformedReplyError, "unparseable"),
    (BackendError, "backend"),
)
"""The first that an error is an instance of says the reason."""

RETRYABLE: frozenset[UnscoredReason] = frozenset({"backend", "budget"})
"""Reasons that another try may not have: a server's failure, a spent budget."""


async def or_unscored(call: Awaitable[T]) -> T | Unscored:
    """Await `call`; return its result, or why there is none.

    A key that is not accepted fails the whole run at once, not item by item.
    """
    try:
        return await call
    except AuthenticationError:
        raise
    except BackendError as error:
        reason = next(reason for kind, reason in _REASONS if isinstance(error, kind))
        return Unscored(reason=reason, detail=f"{type(error).__name__}: {error}")


def complete_or_unscored(
    backend: Backend, request: CompletionRequest
) -> Awaitable[Completion | Unscored]:
    """Return the backend's reply to `request`, or why there is none."""
    return or_unscored(backend.complete(request))


def is_cut_off(completion: Completion) -> bool:
    """Say whether a reply was cut off: by the limit on its tokens, or by the server's own word."""
    return completion.finish_reason in {"length", "error"}


def saying_cut_off(why: Unscored) -> Unscored:
    """Return why a reply cannot be read, with the limit on its tokens as the likely cause."""
    detail = f"{why.detail}; it was cut off by the limit on its tokens (max_output_tokens)"
    return replace(why, detail=detail)
