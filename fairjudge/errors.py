"""Every exception that FairJudge raises on purpose.

FairJudgeError
├── InputError            a file or value that the user gave is wrong (file, line and field named)
├── ConfigurationError    the request cannot be carried out: unknown backend, missing key
│   └── MissingExtraError an optional dependency is not installed
├── PromptError           a template is malformed, changed after release, or got wrong fields
├── CacheError            the cache folder is unusable or contains invalid rows
├── RunError              a run folder is locked, belongs to another command, or cannot be written
├── StoreError            the shared store cannot be reached or used
├── StatisticsError       a statistic was called with arguments it is not defined for
└── BackendError          a model call failed; becomes ``Unscored`` in exactly one place
    ├── RateLimitError            429; contains the wait requested by the server
    ├── ServerError               5xx, and failures reported in a reply of status 200
    │   └── NoReplyError          status 200 without a reply: a page, an empty body
    ├── RequestTimeoutError       no answer in time
    ├── ConnectionFailedError     refused, reset, broken off
    ├── AuthenticationError       401, 402 or 403: key not accepted, or account without credit
    ├── DeniedError               the same for one request, from a server that answers others
    ├── BadRequestError           400 and other 4xx
    │   ├── NotFoundError         404: no such model or path
    │   └── ContextTooLongError   the prompt does not fit the model's window
    ├── RefusedError              the model or its provider declined to answer
    ├── EmptyReplyError           a reply without text
    ├── MalformedReplyError       a reply that violates the wire format
    ├── MismatchedReplyError      a reply that may belong to another request
    ├── WaitTooLongError          the server asks for a longer wait than --max-wait
    ├── BudgetExceededError       the call would exceed --max-cost or --max-calls
    └── ReplayMissError           nothing was recorded for this request
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self


class FairJudgeError(Exception):
    """Base of every deliberate error; its text is a message for users.

    ``command_line_text`` is the message for the command line, if it differs from the one for
    Python: it contains option names instead of argument names.
    """

    command_line_text: str | None = None


class InputError(FairJudgeError):
    """A file or value that the user gave is wrong.

    ``problem`` describes what is wrong and what was expected; ``path``, ``line`` (1-based) and
    ``field`` are its location, or None if unknown.
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
        location = self.path or ""
        if self.line is not None:
            location += f":{self.line}" if location else f"line {self.line}"
        parts = [part for part in (location, self.field and f"field {self.field!r}") if part]
        return ": ".join([*parts, self.problem])


class ConfigurationError(FairJudgeError):
    """The request cannot be carried out."""


class MissingExtraError(ConfigurationError):
    """An optional dependency of ``feature``, part of ``extra``, is not installed."""

    def __init__(self, feature: str, *, extra: str) -> None:
        super().__init__(f"{feature} needs an extra: pip install 'fairjudge[{extra}]'")


@contextmanager
def error_location(*, path: str | Path | None = None, line: int | None = None) -> Iterator[None]:
    """Add the file and line to an `InputError` of the block that has no file."""
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
    """The cache folder is unusable, or contains invalid rows."""


class RunError(FairJudgeError):
    """A run folder is locked, belongs to another command, or cannot be written."""


class StoreError(FairJudgeError):
    """The shared store cannot be reached or used; the message never contains its password."""


class StatisticsError(FairJudgeError):
    """A statistic was called with arguments it is not defined for (a programming error)."""


class BackendError(FairJudgeError):
    """A model call failed; `fairjudge.parsing.outcomes` turns it into ``Unscored``.

    ``usage`` is the token usage (`fairjudge.ports.Usage`) if the server reported any, for example
    with a refusal. ``status`` is the HTTP status, or the status given in the body of a reply of
    status 200. ``details`` is the parsed body of the reply.
    """

    usage: Any = None
    status: int | None = None
    details: Any = None

    def with_usage(self, usage: Any) -> Self:
        """Return this error after setting the usage reported by the server."""
        self.usage = usage
        return self


class _RetryAfterError(BackendError):
    """An error with the wait requested by the server, ``retry_after_seconds``, or None."""

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        self.retry_after_seconds = retry_after_seconds
        super().__init__(message)


class RateLimitError(_RetryAfterError):
    """The server asked to slow down (429)."""


class ServerError(_RetryAfterError):
    """The server failed: 5xx, a transient conflict, or a failure reported with status 200."""


class NoReplyError(ServerError):
    """A reply of status 200 without a model's reply: a web page, an empty body, another format."""


class RequestTimeoutError(BackendError):
    """The request timed out."""


class ConnectionFailedError(BackendError):
    """The connection was refused, reset or interrupted, or the server does not speak HTTP.

    ``unsent``: nothing of the request was sent. ``malformed``: the response is not valid HTTP.
    """

    def __init__(self, message: str, *, unsent: bool = False, malformed: bool = False) -> None:
        self.unsent = unsent
        self.malformed = malformed
        super().__init__(message)


class AuthenticationError(BackendError):
    """The server did not accept the key (401, 403), or the account has no credit (402)."""


class DeniedError(BackendError):
    """The server denied one request (401, 402, 403) but answers others."""


class BadRequestError(BackendError):
    """The server rejected the request (400 and other 4xx)."""


class NotFoundError(BadRequestError):
    """The server has no such model or path (404)."""


class ContextTooLongError(BadRequestError):
    """The prompt does not fit the model's window."""


class RefusedError(BackendError):
    """The model or its provider declined to answer; the message quotes it."""


class EmptyReplyError(BackendError):
    """The reply had no text."""


class MalformedReplyError(BackendError):
    """The reply violates the wire format."""


class MismatchedReplyError(BackendError):
    """The reply may belong to another request: its connection returned unrequested data."""


class WaitTooLongError(BackendError):
    """The total wait requested by the server for one request exceeds ``--max-wait``."""


class BudgetExceededError(BackendError):
    """The call would exceed ``--max-cost`` or ``--max-calls``."""


class ReplayMissError(BackendError):
    """No reply is recorded for this request."""
