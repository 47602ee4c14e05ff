"""What a server's failure means: one table for every wire, by status, then code, then words.

A status says most: whatever the words of a 429, it is a rate limit (but for the one code that says
that the account cannot pay). Where it leaves open what happened, as 400 does, the codes of the body
decide, and after them its words (`fairjudge.backends.failure_words`).
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

_PASSING = frozenset({409, 423, 424, 425, 498, 499})
"""Conflicts, locks, requests too early, no capacity (Groq's 498), closed by a proxy (499)."""
_FORBIDDEN = frozenset({403, 451})
_CODE_FIELDS = ("code", "type", "status", "error_code", "reason", "error_type", "status_code")
_WORD_FIELDS = ("message", "detail", "msg", "status_msg", "error_description", "title", "raw")
_NESTED = ("innererror", "metadata", "details", "inner_error")
_MAX_PAGE, _MAX_WORDS, _MAX_CODE = 20_000, 2_000, 200
"""Characters that are read of a page, of a message and of a code: a server may send megabytes."""
_MAX_PARTS = 50
_MAX_DEPTH = 5
_TELLING = ("flagged_input", "failed_generation", "content_filter_result")
"""Fields that say by being there what happened."""
_TAGS = re.compile(r"<(?:script|style)\b.{0,10000}?</|<[^<>]{0,1000}>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a body says of a failure: the status that it names, codes, words, and a parameter."""

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
    where: str,
    headers: Mapping[str, str] | None = None,
    secrets: Iterable[str] = (),
) -> BackendError:
    """Return the error for an HTTP `status` other than 200, with `body` as JSON or as text.

    `where` names the server. `secrets` are taken out of what it said.
    """
    body = _parsed(body) if isinstance(body, str | bytes) else body
    said = read_error(body)
    text = f"{where} answered {status}: {one_line(said, secrets=secrets)}"
    return _error(status, said, text, wait_seconds=seconds_to_wait(headers or {}, body))


def failure_within(body: Any, *, where: str) -> BackendError:
    """Return the error for one that came inside a reply of status 200.

    It is that of the status which the body names by number or by code. Where it names none, its
    words are read as those of a 400, and what they do not tell is the server's failure.
    """
    said = read_error(body)
    text = f"{where} answered 200 with an error: {one_line(said)}"
    status = said.status or _named_status(said.codes)
    error = _error(status or 400, said, text, wait_seconds=seconds_to_wait({}, body))
    if status is None and type(error) is BadRequestError:
        return _with(ServerError(text, retry_after_seconds=seconds_to_wait({}, body)), None, said)
    return error


def _named_status(codes: str) -> int | None:
    found = (status for pattern, status in words.STATUS_BY_CODE.items() if pattern.search(codes))
    return next(found, None)


def _error(status: int, said: Said, text: str, *, wait_seconds: float | None) -> BackendError:
    kind = _kind(status, said)
    error: BackendError
    if kind is RateLimitError or kind is ServerError:
        error = kind(text, retry_after_seconds=wait_seconds)
    elif kind is AuthenticationError and _cannot_pay(said):
        error = AuthenticationError(f"{text} (the account behind the key cannot pay)")
    else:
        error = kind(text)
    return _with(error, status, said)


def _with(error: BackendError, status: int | None, said: Said) -> BackendError:
    error.status, error.said = status, said
    return error


def _kind(status: int, said: Said) -> type[BackendError]:
    """Return the kind of error: the table."""
    if status == 429:
        no_credit = words.NO_CREDIT_CODES.search(said.codes)
        return AuthenticationError if no_credit else RateLimitError
    if status in {401, 402}:
        return AuthenticationError
    if status in _FORBIDDEN:
        return _kind_of_forbidden(said)
    if status >= 500:
        return _kind_of_server_error(said)
    if status in _PASSING:
        return ServerError
    named = {404: NotFoundError, 408: RequestTimeoutError, 413: ContextTooLongError}
    return named.get(status) or _kind_of_bad_request(said)


def _kind_of_forbidden(said: Said) -> type[BackendError]:
    if words.MODERATION_CODES.search(said.codes):
        return RefusedError
    if words.RATE_CODES.search(said.codes) or words.RATE_WORDS.search(said.words):
        return RateLimitError
    of_prompt = words.MODERATION_WORDS.search(said.words)
    return RefusedError if of_prompt and not _of_account(said) else AuthenticationError


def _kind_of_server_error(said: Said) -> type[BackendError]:
    # llama.cpp says with status 500 that a prompt is too long; some gateways pass on filters so.
    if words.TOO_LONG_CODES.search(said.codes) or words.TOO_LONG_WORDS.search(said.words):
        return ContextTooLongError
    return RefusedError if words.MODERATION_CODES.search(said.codes) else ServerError


def _kind_of_bad_request(said: Said) -> type[BackendError]:
    by_code = (
        (words.MODERATION_CODES, RefusedError),
        (words.TOO_LONG_CODES, ContextTooLongError),
        (words.NO_CREDIT_CODES, AuthenticationError),
        (words.KEY_CODES, AuthenticationError),
        (words.PASSING_CODES, ServerError),
        (words.MISSING_CODES, NotFoundError),
    )
    by_words = (
        (words.TOO_LONG_WORDS, ContextTooLongError),
        (words.NO_CREDIT_WORDS, AuthenticationError),
        (words.KEY_WORDS, AuthenticationError),
        (words.PASSING_WORDS, ServerError),
        (words.MISSING_WORDS, NotFoundError),
    )
    for pattern, kind in by_code:
        if pattern.search(said.codes):
            return kind
    if words.MODERATION_WORDS.search(said.words) and not _of_account(said):
        return RefusedError
    return next((kind for p, kind in by_words if p.search(said.words)), BadRequestError)


def _of_account(said: Said) -> bool:
    return words.ACCOUNT_WORDS.search(said.words) is not None


def _cannot_pay(said: Said) -> bool:
    by_code = words.NO_CREDIT_CODES.search(said.codes)
    return bool(by_code or words.NO_CREDIT_WORDS.search(said.words))


def read_error(body: Any) -> Said:
    """Return what `body` says: JSON of any provider's shape, JSON as text, or a page."""
    if isinstance(body, str | bytes):
        body = _parsed(body)
    if isinstance(body, list):
        body = next((part for part in body if isinstance(part, Mapping)), {"message": str(body)})
    if not isinstance(body, Mapping):
        text = " ".join(_TAGS.sub(" ", str(body or "")[:_MAX_PAGE]).split())[:_MAX_WORDS]
        return _of_text(text)
    parts = list(islice(_parts(body), _MAX_PARTS))
    codes = [
        str(part[f])[:_MAX_CODE] for part in parts for f in _CODE_FIELDS if _is_code(part.get(f))
    ]
    telling = [name for part in parts for name in _TELLING if part.get(name)]
    said = [text for part in parts for f in _WORD_FIELDS if (text := _words(part.get(f)))]
    params = (part.get("param") for part in parts)
    statuses = (int(code) for code in codes if re.fullmatch(r"[45]\d\d", code))
    return Said(
        status=next(statuses, None),
        codes=" ".join(dict.fromkeys([*codes, *telling])),
        words=" ".join(dict.fromkeys(said)) or one_line(dict(body)),
        param=next((param for param in params if isinstance(param, str)), None),
    )


_CODE_IN_TEXT = re.compile(r"\b[a-zA-Z]+(?:_[a-zA-Z]+)+\b")


def _of_text(text: str) -> Said:
    """Read words alone; the code of a lack of money may stand among them, as clients raise it."""
    found = _CODE_IN_TEXT.findall(text)
    codes = [code for code in dict.fromkeys(found) if words.NO_CREDIT_CODES.fullmatch(code)]
    return Said(status=None, codes=" ".join(codes), words=text)


def _parsed(text: str | bytes) -> Any:
    """Return the JSON that `text` is, or that a client put after words of its own; else text."""
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    decoder = json.JSONDecoder()
    for start in (0, text.find("{")):
        try:
            found, _ = decoder.raw_decode(text[max(start, 0) :].strip())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, Mapping | list):
            return found
    return text


def _parts(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a body that speak of the failure, the inner ones first."""
    inner = body.get("error") or body.get("base_resp")
    if isinstance(inner, str):
        yield {"message": inner}
    nested = [inner, *(body.get("errors") or () if isinstance(body.get("errors"), list) else ())]
    for part in [one for one in nested if isinstance(one, Mapping)]:
        yield part
        for name in _NESTED:
            found = part.get(name)
            listed = found if isinstance(found, list) else [found]
            yield from (one for one in listed if isinstance(one, Mapping))
    yield body


def _is_code(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value not in ("", 200)


def _words(value: Any, depth: int = 0) -> str:
    """Return the words of a message, or of a list of them; never what it repeats of the request."""
    if isinstance(value, str):
        return value[:_MAX_WORDS]
    if depth == _MAX_DEPTH:
        return ""
    if isinstance(value, Mapping):
        value = [value[name] for name in ("loc", *_WORD_FIELDS) if name in value]
    listed = value[:_MAX_PARTS] if isinstance(value, list) else ()
    parts = (_words(part, depth + 1) for part in listed)
    return " ".join(part for part in parts if part)[:_MAX_WORDS]
