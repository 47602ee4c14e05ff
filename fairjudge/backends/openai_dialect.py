"""Which request parameters a server of the chat completions format takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import openai

from fairjudge.backends.http import error_for_status
from fairjudge.backends.ports import Warn
from fairjudge.errors import ContextTooLongError
from fairjudge.protocols import CompletionRequest

_UNSUPPORTED = re.compile(
    r"not support|unsupported|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed"
    r"|not available|extra.?forbidden|extra inputs|does not accept",
    re.IGNORECASE,
)
_OTHER_NAMES = {
    "response_format": re.compile(
        r"response_format|json_schema|structured|guided|grammar", re.IGNORECASE
    ),
    "logprobs": re.compile(r"logprobs", re.IGNORECASE),
    "stop": re.compile(r"\bstop\b", re.IGNORECASE),
}
_OPTIONAL = ("response_format", "logprobs", "temperature", "top_p", "seed", "stop")
_LIMITS = ("max_completion_tokens", "max_tokens")


class Dialect:
    """The parameters that one server is sent; it shrinks as the server declines them.

    Parameters
    ----------
    own_server : bool
        Whether this is OpenAI's own, which wants ``max_completion_tokens``; others know the older
        ``max_tokens``.
    server : str
        How to name the server to `warn`.
    warn : callable or None
        Told once of each parameter that is left out.
    """

    def __init__(self, *, own_server: bool, server: str, warn: Warn | None) -> None:
        self._limit = "max_completion_tokens" if own_server else "max_tokens"
        self._server = server
        self._warn = warn
        self._declined: set[str] = set()

    def options(self, request: CompletionRequest) -> dict[str, Any]:
        """Return the keyword arguments for the client.

        What the client would interpret by itself goes through ``extra_body`` instead. Samples of
        one prompt under one seed would be the same sample, so the seed grows with the sample index.
        """
        wanted: dict[str, Any] = {"temperature": request.temperature}
        if request.top_p is not None:
            wanted["top_p"] = request.top_p
        if request.seed is not None:
            wanted["seed"] = request.seed + request.sample_index
        if request.stop:
            wanted["stop"] = list(request.stop)
        if request.top_logprobs is not None:
            wanted["logprobs"] = True
        options = {name: value for name, value in wanted.items() if name not in self._declined}
        if options.get("logprobs") and request.top_logprobs:
            options["top_logprobs"] = request.top_logprobs
        body: dict[str, Any] = {self._limit: request.max_output_tokens}
        if request.response_schema is not None and "response_format" not in self._declined:
            body["response_format"] = _response_format(request.response_schema)
        return {**options, "extra_body": body}

    def adapts_to(self, error: Exception, options: Mapping[str, Any]) -> bool:
        """Say whether the request should be sent again without what `error` declines.

        `options` are those that the failed request was sent with.
        """
        name = _declined_option(error, {**options, **options["extra_body"]})
        if name is None:
            return False
        if name in _LIMITS:
            other = _LIMITS[1 - _LIMITS.index(name)]
            self._limit = other
            self._declined.add(name)
            return other not in self._declined
        if name not in self._declined and self._warn is not None:
            self._warn(f"{self._server} does not support {name!r}; asking without it")
        self._declined.add(name)
        return True


def _declined_option(error: Exception, sent: Mapping[str, Any]) -> str | None:
    """Return the parameter among `sent` that the server rejected as such, or None."""
    if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        return None
    said = f"{error.message} {error.code or ''}"
    mapped = error_for_status(error.status_code, said, where="", headers={})
    if isinstance(mapped, ContextTooLongError):
        return None
    if "response_format" in sent and _OTHER_NAMES["response_format"].search(said):
        return "response_format"
    if not _UNSUPPORTED.search(said):
        return None
    for name in (*_LIMITS, *_OPTIONAL):
        pattern = _OTHER_NAMES.get(name) or re.compile(rf"\b{name}\b")
        if name in sent and (error.param == name or pattern.search(said)):
            return name
    return None


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {
            "name": re.sub(r"[^A-Za-z0-9_-]", "_", str(schema.get("title", "reply")))[:64],
            "schema": dict(schema),
            "strict": _is_strict(schema),
        },
    }


def _is_strict(schema: Any) -> bool:
    """Say whether every object lists all its properties as required and allows no others.

    OpenAI's strict mode takes only such schemas.
    """
    if isinstance(schema, list):
        return all(_is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    return all(_is_strict(part) for part in schema.values())
