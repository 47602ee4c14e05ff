"""Convert errors of backends to `Unscored`; no other module catches them broadly."""

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
    RefusedError,
)
from fairjudge.parsing.whole import is_whole
from fairjudge.ports import Backend, Completion, CompletionRequest

T = TypeVar("T")

_REASONS: tuple[tuple[type[BackendError], UnscoredReason], ...] = (
    (RefusedError, "refused"),
    (BudgetExceededError, "budget"),
    (ContextTooLongError, "too_long"),
    (EmptyReplyError, "unparseable"),
    (BackendError, "backend"),
)
"""Reasons by class of error; the first class that matches counts."""

RETRYABLE: frozenset[UnscoredReason] = frozenset({"backend", "budget"})
"""Reasons that may not recur in another run: a server's failure, a spent budget."""


async def or_unscored(call: Awaitable[T]) -> T | Unscored:
    """Await `call`; return its result, or ``Unscored`` if it raises a `BackendError`.

    AuthenticationError is raised: a rejected key fails the whole run at once, not item by item.
    """
    try:
        return await call
    except AuthenticationError:
        raise
    except BackendError as error:
        reason = next(reason for kind, reason in _REASONS if isinstance(error, kind))
        return Unscored(reason=reason, detail=f"{type(error).__name__}: {error}")


async def complete_or_unscored(
    backend: Backend, request: CompletionRequest
) -> Completion | Unscored:
    """Return the backend's reply to `request`; ``Unscored`` if it failed, refused or broke off."""
    reply = await or_unscored(backend.complete(request))
    if isinstance(reply, Unscored):
        return reply
    if reply.finish_reason == "refusal":
        return Unscored(reason="refused", detail="the provider stopped the reply", raw=reply.text)
    if is_broken_off(reply):
        detail = "the server broke the reply off, and did not say that it is whole"
        return Unscored(reason="backend", detail=detail, raw=reply.text)
    return reply


def is_broken_off(completion: Completion) -> bool:
    """Say whether a server broke a reply off, by its finish reason, else by the text.

    The text is examined only if the finish reason is unknown to FairJudge or missing.
    """
    if completion.finish_reason == "other":
        return not is_whole(completion.text)
    return completion.finish_reason == "error"


def is_cut_off(completion: Completion) -> bool:
    """Say whether the limit on its tokens cut a reply off."""
    return completion.finish_reason == "length"


def with_cut_off(why: Unscored) -> Unscored:
    """Add to an ``Unscored`` that the reply was cut off by the limit on its tokens."""
    detail = f"{why.detail}; it was cut off by the limit on its tokens (max_output_tokens)"
    return replace(why, detail=detail)
