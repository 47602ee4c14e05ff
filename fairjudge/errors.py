"""Every exception that FairJudge raises on purpose.

FairJudgeError
├── InputError            a file or value that the user gave is wrong (file, line and field named)
├── ConfigurationError    cannot be carried out as asked: unknown backend, missing key
│   └── MissingExtraError an optional dependency is not installed
├── PromptError           a template is malformed, changed after release, or got wrong fields
├── CacheError            the cache folder is unusable or holds rows that are refused
├── RunError              a run folder is locked, belongs to another command, or cannot be written
├── StoreError            the shared store cannot be reached or used
├── StatisticsError       a statistic was called with arguments it is not defined for
└── BackendError          a model call failed; becomes ``Unscored`` in exactly one place
    ├── RateLimitError            429; carries the wait the server asked for
    ├── ServerError               5xx, and failures that a reply of status 200 tells of
    │   └── NoReplyError          a reply of status 200 that holds none: a page, an empty body
    ├── RequestTimeoutError       no answer in time
    ├── ConnectionFailedError     refused, reset, broken off
    ├── AuthenticationError       401, 402 or 403: the key is not accepted, or cannot pay
    ├── DeniedError               the same for one request, from a server that answers others
    ├── BadRequestError           400 and other 4xx
    │   ├── NotFoundError         404: no such model or path
    │   └── ContextTooLongError   the prompt does not fit the model's window
    ├── RefusedError              the model or its provider declined to answer
    ├── EmptyReplyError           a reply without text
    ├── MalformedReplyError       a reply that is not what the wire format promises
    ├── MismatchedReplyError      a reply that may be another request's
    ├── WaitTooLongError          the server asks for a longer wait than --max-wait
    ├── BudgetExceededError       the call would pass --max-cost or --max-calls
    └── ReplayMissError           nothing was recorded for this request
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self


class FairJudgeError(Exception):
    """Base of every deliberate error; its text is one message fit to show a user.

    ``command_line_text`` is the same in the words of a command line, where a call of Python said it
    with the names of its arguments.
    """

    command_line_text: str | None = None


class InputError(FairJudgeError):
    """A file or value that the user gave is wrong.

    ``problem`` says what is wrong and what was expected; ``path``, ``line`` (from 1) and ``field``
    where, as far as known.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        self.problem = problem
        self.path = None if path is None else str(path)
        self.line = line
        self.field = field
        super().__init__(self._message())

    def _message(self) -> str:
        place = self.path or ""
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        parts = [part for part in (place, self.field and f"field {self.field!r}") if part]
        return ": ".join([*parts, self.problem])


class ConfigurationError(FairJudgeError):
    """The request cannot be carried out as asked."""


class MissingExtraError(ConfigurationError):
    """An optional dependency, which ``extra`` brings, is not installed; ``feature`` needs it."""

    def __init__(self, feature: str, *, extra: str) -> None:
        super().__init__(f"{feature} needs an extra: pip install 'fairjudge[{extra}]'")


@contextmanager
def error_location(*, path: str | Path | None = None, line: int | None = None) -> Iterator[None]:
    """Add the file, and the line, to an `InputError` of the block that names no file."""
    try:
        yield
    except InputError as error:
        if error.path is not None:
            raise
        line = error.line if line is None else line
        raise InputError(error.problem, path=path, line=line, field=error.field) from error


@contextmanager
def needs_extra(feature: str, *, extra: str) -> Iterator[None]:
    """Raise `MissingExtraError` if an import in the block fails."""
    try:
        yield
    except ImportError:
        raise MissingExtraError(feature, extra=extra) from None


class PromptError(FairJudgeError):
    """A prompt template is malformed, was changed after release, or got the wrong fields."""


class CacheError(FairJudgeError):
    """The cache folder is unusable, or holds rows that are refused."""


class RunError(FairJudgeError):
    """A run folder is locked, belongs to another command, or cannot be written."""


class StoreError(FairJudgeError):
    """The shared store cannot be reached or used; its password is never part of the text."""


class StatisticsError(FairJudgeError):
    """A statistic was called with arguments it is not defined for (a programming error)."""


class BackendError(FairJudgeError):
    """A model call failed; `fairjudge.parsing.outcomes` turns it into ``Unscored``.

    ``usage`` is what the server counted (`fairjudge.ports.Usage`) where it answered all the
    same, as by a refusal; None where nothing is known. ``status`` is the HTTP status, or the one
    that a body of status 200 names; ``details`` the parsed body of the reply.
    """

    usage: Any = None
    status: int | None = None
    details: Any = None

    def with_usage(self, usage: Any) -> Self:
        """Return this error with what the server counted."""
        self.usage = usage
        return self


class _RetryAfterError(BackendError):
    """``retry_after_seconds`` is the wait that the server asked for, or None."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        self.retry_after_seconds = retry_after_seconds
        super().__init__(message)


class RateLimitError(_RetryAfterError):
    """The server asked to slow down (429)."""


class ServerError(_RetryAfterError):
    """The server failed: 5xx, a conflict that passes, or a failure named inside a status 200."""


class NoReplyError(ServerError):
    """A reply of status 200 that holds no reply: a web page, an empty body, another format."""


class RequestTimeoutError(BackendError):
    """No answer came in time."""


class ConnectionFailedError(BackendError):
    """The connection was refused, reset or broken off, or does not speak HTTP.

    ``unsent``: before anything was sent. ``malformed``: something came that is not valid HTTP.
    """

    def __init__(self, message: str, *, unsent: bool = False, malformed: bool = False) -> None:
        self.unsent = unsent
        self.malformed = malformed
        super().__init__(message)


class AuthenticationError(BackendError):
    """The server did not accept the key (401, 403), or the account cannot pay (402)."""


class DeniedError(BackendError):
    """The server denied one request (401, 402, 403) while it answers others."""


class BadRequestError(BackendError):
    """The server rejected the request (400 and other 4xx)."""


class NotFoundError(BadRequestError):
    """The server has no such model or path (404)."""


class ContextTooLongError(BadRequestError):
    """The prompt does not fit the model's window."""


class RefusedError(BackendError):
    """The model or its provider declined to answer; the text says how."""


class EmptyReplyError(BackendError):
    """The reply had no text."""


class MalformedReplyError(BackendError):
    """The reply is not what the wire format promises."""


class MismatchedReplyError(BackendError):
    """The reply may be that to another request: its connection carried more than was asked for."""


class WaitTooLongError(BackendError):
    """The server asks for more waiting than ``--max-wait``, which bounds one request's in all."""


class BudgetExceededError(BackendError):
    """The call would pass the limit set by ``--max-cost`` or ``--max-calls``."""


class ReplayMissError(BackendError):
    """No reply is recorded for this request."""
