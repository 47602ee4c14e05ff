"""Unsupported request parameters, by model family and by the server's error messages."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from fairjudge.backends.failures import ErrorDetails
from fairjudge.backends.ports import Warn
from fairjudge.errors import BadRequestError, ServerError

_UNSUPPORTED = re.compile(
    r"not support|unsupported|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed"
    r"|not available|unavailable|not accept|extra.?forbidden|extra inputs|deprecated|may only be"
    r"|cannot both|not enabled|not implemented|no longer|disabled",
    re.IGNORECASE,
)
_OUT_OF_RANGE = re.compile(
    r"\bonly\b|must be|must not|should be|cannot be|can't be|invalid|\brange\b|\bfixed\b"
    r"|strictly positive|greater than|less than|at (?:least|most)|not valid|default value",
    re.IGNORECASE,
)
"""Words that decline a value; they count only near the name of an optional parameter."""
_NEAR = 100
"""Maximum number of characters between a parameter's name and words about its value."""
_SCHEMA = re.compile(
    r"response.?format|output_config|output_format|json.?schema|structured|guided|grammar",
    re.IGNORECASE,
)
_GRAMMAR = re.compile(r"grammar|json.?schema|response_format|structured output", re.IGNORECASE)
"""Words in errors 500 and 501 of local servers that decline a schema."""
_SIGNS: Mapping[str, re.Pattern[str]] = {
    "max_completion_tokens": re.compile(r"\bmax_completion_tokens\b"),
    "max_tokens": re.compile(r"\bmax_tokens\b"),
    "logprobs": re.compile(r"logprobs", re.IGNORECASE),
    "top_p": re.compile(r"\btop_p\b", re.IGNORECASE),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "stop": re.compile(r"\bstop\b"),
    "cache_control": re.compile(r"\bcache_control\b"),
}
_LIMITS = frozenset({"max_completion_tokens", "max_tokens"})
"""Parameters that cannot be omitted, only renamed."""
_BASE_PARAMETERS = {"top_logprobs": "logprobs", "stop_sequences": "stop"}
"""Parameters that depend on another one, or are its name in another format."""
_SCHEMA_PARAMETERS = frozenset({"response_format", "output_config"})
_OPTIONAL = (_SIGNS.keys() - _LIMITS) | _SCHEMA_PARAMETERS


_FAMILIES: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = tuple(
    (re.compile(rf"(?:.*/)?(?:{family})"), frozenset(parameters.split()))
    for family, parameters in (
        # Reasoning models whose reasoning cannot be disabled.
        (r"o\d|gpt-5(?!\.|-chat)", "temperature top_p logprobs stop"),
        # Models released before structured outputs.
        (r"gpt-3\.5|gpt-4(?:$|-\d|-turbo|-32k)|gpt-4o-2024-05-13|o1-(?:mini|preview)",
         "response_format"),
        (r"claude-opus-4-[7-9]|claude-[a-z]+-[5-9]\b", "temperature top_p"),
        (r"claude-(?:[23]\b|instant)|claude-(?:opus|sonnet)-4(?:-0|-20\d{6})?$", "output_config"),
    )
)  # fmt: skip
"""Families of models and the parameters that they decline, by the providers' documentation."""


def declined_parameters(model: str) -> frozenset[str]:
    """Return the optional parameters that the family of `model` is known to decline."""
    return frozenset().union(*(names for family, names in _FAMILIES if family.match(model)))


class ParameterSupport:
    """The optional parameters that `model` declines, known by its family or from errors.

    `warn` is called once for each parameter that the server declines.
    """

    def __init__(self, model: str = "", *, server: str, warn: Warn | None) -> None:
        self._server = server
        self._warn = warn
        self._declined_parameters = set(declined_parameters(model))

    def accepts(self, name: str) -> bool:
        """Return whether the parameter `name` should be sent."""
        return _BASE_PARAMETERS.get(name, name) not in self._declined_parameters

    def select(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the `parameters` that should be sent."""
        return {name: value for name, value in parameters.items() if self.accepts(name)}

    def learn(
        self, error: Exception, parameters: Collection[str], *, quiet: Collection[str] = ()
    ) -> str | None:
        """Return the one of `parameters` that `error` declines, or None for another error.

        Concurrent requests may learn the same parameter; it is reported once, unless in `quiet`.
        """
        details = getattr(error, "details", None)
        name = (
            _declined_parameter(error, details, parameters)
            if isinstance(details, ErrorDetails)
            else None
        )
        if name is None:
            return None
        if self.accepts(name) and self._warn is not None and name not in quiet:
            self._warn(f"{self._server} does not support {name!r}; it is no longer sent")
        self._declined_parameters.add(name)
        return name


def _declined_parameter(
    error: Exception, details: ErrorDetails, parameters: Collection[str]
) -> str | None:
    """Return the one of `parameters` that a bad request declines, or None."""
    schema = min(_SCHEMA_PARAMETERS.intersection(parameters), default=None)
    if type(error) is ServerError and error.status in {500, 501} and _GRAMMAR.search(str(details)):
        return schema
    if type(error) is not BadRequestError:
        return None
    param = _BASE_PARAMETERS.get(details.param or "", details.param)
    if param in parameters and param in _OPTIONAL:
        return param
    if schema and _SCHEMA.search(str(details)):
        return schema
    return _first_parameter(str(details), parameters)


def _first_parameter(text: str, parameters: Collection[str]) -> str | None:
    """Return the first parameter named in a message: "'max_tokens' is not supported. Use ..."."""
    names_by_position = {
        match.start(): name
        for name in parameters
        if name in _SIGNS and (match := _SIGNS[name].search(text))
    }
    if not names_by_position:
        return None
    start = min(names_by_position)
    near = text[max(0, start - _NEAR) : start + _NEAR]
    is_declined = _UNSUPPORTED.search(text) or (
        names_by_position[start] not in _LIMITS and _OUT_OF_RANGE.search(near)
    )
    return names_by_position[start] if is_declined else None


def is_strict(schema: Any) -> bool:
    """Return whether every object in a schema requires all its properties and allows no others.

    OpenAI's strict mode supports only such schemas.
    """
    if isinstance(schema, list | tuple):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        is_closed = schema.get("additionalProperties") is False
        if not is_closed or set(schema.get("required", ())) != set(properties):
            return False
    return all(is_strict(part) for part in schema.values())
