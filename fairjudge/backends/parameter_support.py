"""Learning from a server's own words which request parameters it does not take."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from fairjudge.backends.http import error_for_status
from fairjudge.backends.ports import Warn
from fairjudge.backends.server_client import said_by_server
from fairjudge.errors import ContextTooLongError

_UNSUPPORTED = re.compile(
    r"not support|unsupported|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed"
    r"|not available|not accept|extra.?forbidden|extra inputs|deprecated|may only be"
    r"|cannot both|not enabled",
    re.IGNORECASE,
)
_SCHEMA = re.compile(
    r"response_format|output_config|output_format|json.?schema|structured|guided|grammar",
    re.IGNORECASE,
)
_SIGNS: Mapping[str, re.Pattern[str]] = {
    "max_completion_tokens": re.compile(r"\bmax_completion_tokens\b"),
    "max_tokens": re.compile(r"\bmax_tokens\b"),
    "logprobs": re.compile(r"logprobs", re.IGNORECASE),
    "top_p": re.compile(r"\btop_p\b"),
    "temperature": re.compile(r"\btemperature\b"),
    "seed": re.compile(r"\bseed\b"),
    "stop": re.compile(r"\bstop\b"),
    "cache_control": re.compile(r"\bcache_control\b"),
}
_SCHEMA_PARAMETERS = frozenset({"response_format", "output_config"})


class ParameterSupport:
    """The optional parameters that one server has declined so far; `warn` is told of each once."""

    def __init__(self, *, server: str, warn: Warn | None) -> None:
        self._server = server
        self._warn = warn
        self._declined: set[str] = set()

    def accepts(self, name: str) -> bool:
        """Say whether `name` is worth sending."""
        return name not in self._declined

    def learn(
        self, error: Exception, sent: Collection[str], *, quiet: Collection[str] = ()
    ) -> str | None:
        """Return the parameter among `sent` that `error` declines, or None if it is another error.

        Several requests under way may learn the same thing; it is said once, unless in `quiet`.
        """
        status = getattr(error, "status_code", None)
        if status not in {400, 422}:
            return None
        name = _declined(said_by_server(error), sent)
        if name is None:
            return None
        if self.accepts(name) and self._warn is not None and name not in quiet:
            self._warn(f"{self._server} does not support {name!r}; asking without it")
        self._declined.add(name)
        return name


def _declined(said: str, sent: Collection[str]) -> str | None:
    if isinstance(error_for_status(400, said, where="", headers={}), ContextTooLongError):
        return None
    schema = _SCHEMA_PARAMETERS.intersection(sent)
    if schema and _SCHEMA.search(said):
        return min(schema)
    if not _UNSUPPORTED.search(said):
        return None
    # The first that is named: "'max_tokens' is not supported. Use 'max_completion_tokens'".
    places = {name: _SIGNS[name].search(said) for name in sent if name in _SIGNS}
    named = {name: place.start() for name, place in places.items() if place is not None}
    return min(named, key=named.__getitem__) if named else None


def is_strict(schema: Any) -> bool:
    """Say whether every object lists all its properties as required and allows no others.

    OpenAI's strict mode takes only such schemas.
    """
    if isinstance(schema, list | tuple):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    return all(is_strict(part) for part in schema.values())
