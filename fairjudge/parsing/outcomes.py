"""Outcomes of calls: errors of backends as `Unscored`, and truncated replies.

No other module catches errors of backends broadly.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Awaitable
from dataclasses import replace
from typing import TypeVar

from fairjudge.domain import UNSCORED_REASONS, Unscored, UnscoredReason
from fairjudge.errors import (
    AuthenticationError,
    BackendError,
    BudgetExceededError,
    ContextTooLongError,
    EmptyReplyError,
    RefusedError,
)
from fairjudge.parsing._thoughts import without_reasoning
from fairjudge.ports import Backend, Completion, CompletionRequest

T = TypeVar("T")

_FENCE = re.compile(r"```[a-zA-Z]{0,20}\s*")
_SENTENCE_END = re.compile(r"[.!?]\s")
_CONTINUATION_MARKS = frozenset(",;:\u060c\u061b\u3001\uff0c\uff1a\uff1b")
_VERDICT_CHARACTERS = 40
_VERDICT_WORDS = 3

_REASONS: tuple[tuple[type[BackendError], UnscoredReason], ...] = (
    (RefusedError, "refused"),
    (BudgetExceededError, "budget"),
    (ContextTooLongError, "too_long"),
    (EmptyReplyError, "unparseable"),
    (BackendError, "backend"),
)
"""Reasons by class of error; the first class that matches counts."""

RETRYABLE: frozenset[UnscoredReason] = frozenset(
    reason for reason, info in UNSCORED_REASONS.items() if info.retryable
)
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
    """Return the reply to `request`; ``Unscored`` if it failed, refused or was interrupted."""
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
    """Return whether a server interrupted a reply, by its finish reason, else by the text.

    The text is examined only if the finish reason is unknown to FairJudge or missing.
    """
    if completion.finish_reason == "other":
        return not is_whole(completion.text)
    return completion.finish_reason == "error"


def is_whole(text: str) -> bool:
    """Return whether `text` looks like a complete reply.

    JSON is complete if it closes. Prose is complete if it ends with punctuation of any script, or
    with a short line that states a verdict.
    """
    answer = without_reasoning(text).strip()
    fences = answer.count("```")
    if fences % 2 == 1:
        return False
    bare = _FENCE.sub("", answer).strip()
    if bare[:1] in {"{", "["}:
        return _closes(bare)
    brace = bare.find("{")
    if brace >= 0 and '"' in bare[brace:] and not _closes(bare[brace:]):
        return False
    return _ends_complete(bare)


def _closes(text: str) -> bool:
    """Return whether the JSON at the start of `text` is closed; if malformed, by its last sign."""
    try:
        json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return text.endswith(("}", "]"))
    return True


def _ends_complete(text: str) -> bool:
    last = text[-1:]
    if not last or last in _CONTINUATION_MARKS:
        return False
    closes = unicodedata.category(last) in {"Po", "Pe", "Pf"} or last == '"'
    return closes or _is_short_statement(text.rpartition("\n")[2])


def _is_short_statement(line: str) -> bool:
    """Return whether a last line is complete without a full stop: "Score: 4", "yes"."""
    if len(line) > _VERDICT_CHARACTERS or _SENTENCE_END.search(line):
        return False
    return ":" in line or line[-1].isdigit() or len(line.split()) <= _VERDICT_WORDS


def is_cut_off(completion: Completion) -> bool:
    """Return whether the token limit ended a reply."""
    return completion.finish_reason == "length"


def with_cut_off(unscored: Unscored) -> Unscored:
    """Return `unscored` with a note that the token limit ended the reply."""
    detail = f"{unscored.detail}; it was cut off by the limit on its tokens (max_output_tokens)"
    return replace(unscored, detail=detail)
