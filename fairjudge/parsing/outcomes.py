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


async def complete_or_unscored(
    backend: Backend, request: CompletionRequest
) -> Completion | Unscored:
    """Return the backend's reply to `request`, or why there is none that counts."""
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
    """Say whether a server broke a reply off: by its own word, or by what the text looks like.

    The text counts only where the finish reason is one that FairJudge does not know, or is missing.
    """
    if completion.finish_reason == "other":
        return not is_whole(completion.text)
    return completion.finish_reason == "error"


def is_cut_off(completion: Completion) -> bool:
    """Say whether the limit on its tokens cut a reply off."""
    return completion.finish_reason == "length"


def saying_cut_off(why: Unscored) -> Unscored:
    """Return why a reply cannot be read, with the limit on its tokens as the likely cause."""
    detail = f"{why.detail}; it was cut off by the limit on its tokens (max_output_tokens)"
    return replace(why, detail=detail)
