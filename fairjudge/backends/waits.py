"""The wait requested by a server: in headers, fields of an error's body, or its text."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

_MAX_WAIT_SECONDS = 1e9
"""31 years; some servers send numbers of hundreds of digits."""
_MAX_DEPTH = 6
_MAX_CHARACTERS = 2_000
"""Maximum characters of a message to search; longer ones may echo the prompt."""
_UNITS: Mapping[str, float] = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_PART = (
    r"\d{1,12}(?:\.\d{1,9})?\s?"
    r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)"
)
_PARTS = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s?(ms|milli|[smhd])[a-z]*", re.IGNORECASE)
_DURATION = re.compile(rf"{_PART}(?:\s?{_PART}){{0,4}}", re.IGNORECASE)
_IN_WORDS = re.compile(
    rf"(?:(?:try|again|retry|reset|resets|available)\b[^.\n]{{0,30}}?\b(?:in|after)|\bwait)"
    rf"(?:\s+(?:for|at least|about))?\s+({_PART}(?:\s?{_PART}){{0,4}})(?![a-z])",
    re.IGNORECASE,
)
"""Texts such as "Please try again in 7.6s", "retry after 5 seconds", "wait 1m30s"."""
_IN_FIELDS = re.compile(r"""["']retryDelay["']\s*:\s*["'](\d{1,9}(?:\.\d{1,9})?)s["']""")
"""Google's field, in a body as text."""
_FIELDS = frozenset({"retrydelay", "retry_after", "retryafter", "retry_after_seconds"})


def seconds_to_wait(
    headers: Mapping[str, str], body: Any = None, *, now: float | None = None
) -> float | None:
    """Return the wait requested by a reply in seconds, or None.

    In order: the headers ``retry-after-ms``, and ``retry-after`` as seconds, a duration (``3s``) or
    an HTTP date (RFC 9110, 10.2.3); fields of `body` (``retryDelay``, ``retry_after``); its text
    ("try again in 7.6s"); the reset of an exhausted limit. `now` is the current time in seconds
    since 1970.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _seconds(text)
    if seconds is None and text is not None:
        seconds = _until(text, now=time.time() if now is None else now)
    if seconds is None:
        seconds = next(_waits_in_body(body), None)
    return _until_reset(headers) if seconds is None else seconds


def _number(text: str | None) -> float | None:
    """Return the number in `text`, at most `_MAX_WAIT_SECONDS`, or None."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*", text or "")
    return min(float(match[1]), _MAX_WAIT_SECONDS) if match else None


def _seconds(text: object) -> float | None:
    """Return the seconds of a number, or of a duration such as ``1m2.5s`` or ``350ms``."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        return min(float(text), _MAX_WAIT_SECONDS) if text >= 0 else None
    if not isinstance(text, str):
        return None
    number = _number(text)
    if number is not None or not _DURATION.fullmatch(text.strip()):
        return number
    parts = ((float(n), unit.lower()) for n, unit in _PARTS.findall(text))
    total = sum(n * _UNITS["ms" if unit == "milli" else unit] for n, unit in parts)
    return min(total, _MAX_WAIT_SECONDS)


def _until(text: str, *, now: float) -> float | None:
    try:
        timestamp = parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, min(timestamp - now, _MAX_WAIT_SECONDS))


def _waits_in_body(body: Any, depth: int = 0) -> Iterator[float]:
    """Yield the waits in fields of `body`, then those in its texts."""
    if isinstance(body, str) and len(body) <= _MAX_CHARACTERS:
        for match in (_IN_FIELDS.search(body), _IN_WORDS.search(body)):
            if match and (seconds := _seconds(match[1])) is not None:
                yield seconds
    elif isinstance(body, Mapping) and depth < _MAX_DEPTH:
        in_fields = (
            _seconds(value) for name, value in body.items() if str(name).lower() in _FIELDS
        )
        yield from (seconds for seconds in in_fields if seconds is not None)
        # Nested fields before texts, which are less reliable.
        for value in sorted(body.values(), key=lambda value: isinstance(value, str)):
            yield from _waits_in_body(value, depth + 1)
    elif isinstance(body, list) and depth < _MAX_DEPTH:
        for value in body[:100]:
            yield from _waits_in_body(value, depth + 1)


def _until_reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until the reset of exhausted limits, by headers of OpenAI and Groq."""
    waits = [
        seconds
        for kind in ("requests", "tokens")
        if _number(headers.get(f"x-ratelimit-remaining-{kind}")) == 0.0
        and (seconds := _seconds(headers.get(f"x-ratelimit-reset-{kind}"))) is not None
    ]
    return max(waits, default=None)
