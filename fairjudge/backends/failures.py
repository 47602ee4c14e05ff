"""Map a server's error to a `BackendError`, for all wire formats, by status, code and words.

The status has priority: a 429 is a rate limit whatever its message (except with the code of an
account without credit). If it is ambiguous, as 400 is, the codes of the body decide, then its
words (`fairjudge.backends.failure_words`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from fairjudge.backends import failure_words as words
from fairjudge.backends.http import one_line
from fairjudge.backends.waits import seconds_to_wait
from fairjudge.errors import (
    AuthenticationError,
    BackendError,
    BadRequestError,
    ContextTooLongError,
    NotFoundError,
    RateLimitError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
)

_TRANSIENT = frozenset({409, 423, 424, 425, 498, 499})
"""Transient: conflicts, locks, too early, no capacity (Groq's 498), closed by a proxy (499)."""
_FORBIDDEN = frozenset({403, 451})
_CODE_FIELDS = ("code", "type", "status", "error_code", "reason", "error_type", "status_code")
_WORD_FIELDS = ("message", "detail", "msg", "status_msg", "error_description", "title", "raw")
_NESTED = ("innererror", "metadata", "details", "inner_error")
_MAX_PAGE, _MAX_WORDS, _MAX_CODE = 20_000, 2_000, 200
"""Maximum characters of a page, a message and a code; a server may send megabytes."""
_MAX_PARTS = 50
_MAX_DEPTH = 5
_CODE_LIKE_FIELDS = ("flagged_input", "failed_generation", "content_filter_result")
"""Fields whose presence counts as a code."""
_TAGS = re.compile(r"<(?:script|style)\b.{0,10000}?</|<[^<>]{0,1000}>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDetails:
    """The details of an error in a body: status, codes, words, and a parameter."""

    status: int | None
    codes: str
    words: str
    param: str | None = None

    def __str__(self) -> str:
        return f"{self.words} {self.codes}".strip()


def failure(
    status: int,
    body: Any,
    *,
    server_name: str,
    headers: Mapping[str, str] | None = None,
    secrets: Iterable[str] = (),
) -> BackendError:
    """Return the error for an HTTP `status` other than 200, with `body` as JSON or as text.

    `server_name` is for the message, from which `secrets` are removed.
    """
    body = _parse_json(body) if isinstance(body, str | bytes) else body
    details = read_error(body)
    text = f"{server_name} answered {status}: {one_line(details, secrets=secrets)}"
    wait_seconds = seconds_to_wait(headers or {}, body)
    return _error(_kind(status, details), text, status, details, wait_seconds=wait_seconds)


def failure_within(body: Any, *, server_name: str) -> BackendError:
    """Return the error for a body with an error in a reply of status 200.

    The body's status or code decides. Without them its words are classified like those of a 400;
    if they are unknown too, it is a server error.
    """
    details = read_error(body)
    text = f"{server_name} answered 200 with an error: {one_line(details)}"
    by_code = words.STATUS_BY_CODE.items()
    code_statuses = (status for pattern, status in by_code if pattern.search(details.codes))
    status, wait_seconds = details.status or next(code_statuses, None), seconds_to_wait({}, body)
    kind = _kind(status or 400, details)
    if status is None and kind is BadRequestError:
        return _error(ServerError, text, None, details, wait_seconds=wait_seconds)
    return _error(kind, text, status or 400, details, wait_seconds=wait_seconds)


def _error(
    kind: type[BackendError],
    text: str,
    status: int | None,
    details: ErrorDetails,
    *,
    wait_seconds: float | None,
) -> BackendError:
    error: BackendError
    if kind is RateLimitError or kind is ServerError:
        error = kind(text, retry_after_seconds=wait_seconds)
    elif kind is AuthenticationError and _lacks_credit(details):
        error = AuthenticationError(f"{text} (the account of the key has no credit)")
    else:
        error = kind(f"{text} (check the key)" if status == 401 else text)
    error.status, error.details = status, details
    return error


def _kind(status: int, details: ErrorDetails) -> type[BackendError]:
    """Return the class of error for a status and details."""
    if status == 429:
        no_credit = words.NO_CREDIT_CODES.search(details.codes)
        return AuthenticationError if no_credit else RateLimitError
    if status in {401, 402}:
        return AuthenticationError
    if status in _FORBIDDEN:
        return _kind_of_forbidden(details)
    if status >= 500:
        return _kind_of_server_error(details)
    if status in _TRANSIENT:
        return ServerError
    by_status = {404: NotFoundError, 408: RequestTimeoutError, 413: ContextTooLongError}
    return by_status.get(status) or _kind_of_bad_request(details)


def _kind_of_forbidden(details: ErrorDetails) -> type[BackendError]:
    if words.MODERATION_CODES.search(details.codes):
        return RefusedError
    if words.RATE_CODES.search(details.codes) or words.RATE_WORDS.search(details.words):
        return RateLimitError
    of_prompt = words.MODERATION_WORDS.search(details.words)
    return RefusedError if of_prompt and not _concerns_account(details) else AuthenticationError


def _kind_of_server_error(details: ErrorDetails) -> type[BackendError]:
    # llama.cpp reports prompts that are too long with status 500, some gateways content filters.
    if words.TOO_LONG_CODES.search(details.codes) or words.TOO_LONG_WORDS.search(details.words):
        return ContextTooLongError
    return RefusedError if words.MODERATION_CODES.search(details.codes) else ServerError


def _kind_of_bad_request(details: ErrorDetails) -> type[BackendError]:
    by_code = (
        (words.MODERATION_CODES, RefusedError),
        (words.TOO_LONG_CODES, ContextTooLongError),
        (words.NO_CREDIT_CODES, AuthenticationError),
        (words.KEY_CODES, AuthenticationError),
        (words.TRANSIENT_CODES, ServerError),
        (words.MISSING_CODES, NotFoundError),
    )
    by_words = (
        (words.TOO_LONG_WORDS, ContextTooLongError),
        (words.NO_CREDIT_WORDS, AuthenticationError),
        (words.KEY_WORDS, AuthenticationError),
        (words.TRANSIENT_WORDS, ServerError),
        (words.MISSING_WORDS, NotFoundError),
    )
    for pattern, kind in by_code:
        if pattern.search(details.codes):
            return kind
    if words.MODERATION_WORDS.search(details.words) and not _concerns_account(details):
        return RefusedError
    return next((kind for p, kind in by_words if p.search(details.words)), BadRequestError)


def _concerns_account(details: ErrorDetails) -> bool:
    return words.ACCOUNT_WORDS.search(details.words) is not None


def _lacks_credit(details: ErrorDetails) -> bool:
    by_code = words.NO_CREDIT_CODES.search(details.codes)
    return bool(by_code or words.NO_CREDIT_WORDS.search(details.words))


def read_error(body: Any) -> ErrorDetails:
    """Return the error details in `body`: JSON of any provider, JSON as text, or an HTML page."""
    if isinstance(body, str | bytes):
        body = _parse_json(body)
    if isinstance(body, list):
        body = next((part for part in body if isinstance(part, Mapping)), {"message": str(body)})
    if not isinstance(body, Mapping):
        text = " ".join(_TAGS.sub(" ", str(body or "")[:_MAX_PAGE]).split())[:_MAX_WORDS]
        return _details_of_text(text)
    parts = list(islice(_parts(body), _MAX_PARTS))
    codes = [
        str(part[f])[:_MAX_CODE] for part in parts for f in _CODE_FIELDS if _is_code(part.get(f))
    ]
    code_like_fields = [name for part in parts for name in _CODE_LIKE_FIELDS if part.get(name)]
    messages = [text for part in parts for f in _WORD_FIELDS if (text := _words(part.get(f)))]
    params = (part.get("param") for part in parts)
    statuses = (int(code) for code in codes if re.fullmatch(r"[45]\d\d", code))
    return ErrorDetails(
        status=next(statuses, None),
        codes=" ".join(dict.fromkeys([*codes, *code_like_fields])),
        words=" ".join(dict.fromkeys(messages)) or one_line(dict(body)),
        param=next((param for param in params if isinstance(param, str)), None),
    )


_CODE_IN_TEXT = re.compile(r"\b[a-zA-Z]+(?:_[a-zA-Z]+)+\b")


def _details_of_text(text: str) -> ErrorDetails:
    """Return the details of a plain text, with codes of missing credit in it."""
    candidates = _CODE_IN_TEXT.findall(text)
    codes = [code for code in dict.fromkeys(candidates) if words.NO_CREDIT_CODES.fullmatch(code)]
    return ErrorDetails(status=None, codes=" ".join(codes), words=text)


def _parse_json(text: str | bytes) -> Any:
    """Return the JSON in `text`, possibly after words added by a client; else `text`."""
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    decoder = json.JSONDecoder()
    for start in (0, text.find("{")):
        try:
            value, _ = decoder.raw_decode(text[max(start, 0) :].strip())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, Mapping | list):
            return value
    return text


def _parts(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a body that describe the error, innermost first."""
    inner = body.get("error") or body.get("base_resp")
    if isinstance(inner, str):
        yield {"message": inner}
    nested = [inner, *(body.get("errors") or () if isinstance(body.get("errors"), list) else ())]
    for part in [item for item in nested if isinstance(item, Mapping)]:
        yield part
        for name in _NESTED:
            value = part.get(name)
            items = value if isinstance(value, list) else [value]
            yield from (item for item in items if isinstance(item, Mapping))
    yield body


def _is_code(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value not in ("", 200)


def _words(value: Any, depth: int = 0) -> str:
    """Return the text of a message, or of a list of them, without echoed parts of the request."""
    if isinstance(value, str):
        return value[:_MAX_WORDS]
    if depth == _MAX_DEPTH:
        return ""
    if isinstance(value, Mapping):
        value = [value[name] for name in ("loc", *_WORD_FIELDS) if name in value]
    items = value[:_MAX_PARTS] if isinstance(value, list) else ()
    parts = (_words(part, depth + 1) for part in items)
    return " ".join(part for part in parts if part)[:_MAX_WORDS]
