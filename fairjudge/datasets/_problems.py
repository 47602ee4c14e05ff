"""Validate records, with readable error messages."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from fairjudge.errors import InputError

R = TypeVar("R", bound=BaseModel)

_EXPECTED = {
    **dict.fromkeys(("string_type", "string_sub_type"), "text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true/false"),
    **dict.fromkeys(("tuple_type", "list_type", "sequence_str"), "a list"),
    **dict.fromkeys(("dict_type", "mapping_type"), "an object"),
    **dict.fromkeys(("model_type", "model_attributes_type"), "an object"),
    "finite_number": "a finite number",
    "none_required": "null",
    "path_type": "a path",
}
"""Maps types of pydantic's errors to the expected kind of value."""
_BOUNDS = {
    "greater_than_equal": "{:g} or more",
    "less_than_equal": "{:g} or less",
}
_PLAIN = {
    "missing": "missing",
    "extra_forbidden": "there is no such field",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}


_MAX_NAMED = 5
"""Maximum number of invalid fields listed after the first."""


def validate_record(model: type[R], value: Any) -> R:
    """Return `value` as an instance of `model`.

    Raises
    ------
    InputError
        The value is invalid; the message has the first invalid field and the expected value.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        field, problem = explain_validation_error(error, value)
        raise InputError(problem, field=field) from None


def explain_validation_error(error: ValidationError, value: Any) -> tuple[str | None, str]:
    """Return the first invalid field (None for the whole record) and the expected value."""
    details = error.errors(include_url=False)
    details_by_place: dict[tuple[int | str, ...], list[ErrorDetails]] = {}
    for item in details:
        if item["type"] == "too_short" and item["input"]:
            continue  # pydantic repeats a problem within the list
        details_by_place.setdefault(_location(item, value), []).append(item)
    location, details_at_location = next(iter(details_by_place.items()))
    problem = _problem(details_at_location)
    if len(details_by_place) > 1:
        other_fields = [_path(location) or "the record" for location in list(details_by_place)[1:]]
        problem += f" (also invalid: {', '.join(other_fields[:_MAX_NAMED])})"
    return _path(location), problem


def _problem(details: list[ErrorDetails]) -> str:
    first = details[0]
    if first["type"] == "value_error":
        message = str(first["ctx"]["error"])
        return (
            message + _found_text(first["input"]) if message.startswith("expected a") else message
        )
    if first["type"] == "literal_error":
        return f"expected {first['ctx']['expected']}{_found_text(first['input'])}"
    if first["type"] in _BOUNDS:
        bound = next(iter(first["ctx"].values()))
        return f"expected {_BOUNDS[first['type']].format(bound)}{_found_text(first['input'])}"
    if first["type"] in _PLAIN:
        return _PLAIN[first["type"]]
    kinds = dict.fromkeys(_expected(item) for item in details)
    kinds.pop("", None)
    if not kinds:
        return first["msg"]
    *initial_kinds, last_kind = kinds
    expected = f"{', '.join(initial_kinds)} or {last_kind}" if initial_kinds else last_kind
    return f"expected {expected}{_found_text(first['input'])}"


def _expected(item: ErrorDetails) -> str:
    if item["type"] == "is_instance_of":
        return "a list" if item["ctx"]["class"] == "Sequence" else "a path"
    return _EXPECTED.get(item["type"], "")


def _found_text(value: Any) -> str:
    return f", found {describe(value)}"


def describe(value: Any) -> str:
    """Return the JSON kind of ``value``, with the value itself, truncated."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if not isinstance(value, str | int | float):
        return f"a value of type {type(value).__name__}"
    kind = "text" if isinstance(value, str) else "the number"
    text = repr(value) if len(repr(value)) <= 40 else repr(value)[:37] + "..."
    return f"{kind} {text}"


def _location(item: ErrorDetails, value: Any) -> tuple[int | str, ...]:
    """Return the part of the location within ``value``; the rest are names of union members."""
    if item["type"] == "missing":
        return item["loc"]
    location: tuple[int | str, ...] = ()
    for step in item["loc"]:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            break
        location += (step,)
    return location


def _path(location: tuple[int | str, ...]) -> str | None:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path or None
