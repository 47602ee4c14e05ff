"""Make a record of a value, or say in plain words why it is none."""

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
"""Types of pydantic's errors to what it expected."""
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
"""Fields at fault that are named beside the first."""


def validated(model: type[R], value: Any) -> R:
    """Return `value` as a `model`.

    Raises
    ------
    InputError
        It is none: the first field at fault, and what was expected there.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        field, problem = explain(error, value)
        raise InputError(problem, field=field) from None


def explain(error: ValidationError, value: Any) -> tuple[str | None, str]:
    """Return the first invalid field (None for the whole record) and the expected value."""
    details = error.errors(include_url=False)
    by_place: dict[tuple[int | str, ...], list[ErrorDetails]] = {}
    for item in details:
        if item["type"] == "too_short" and item["input"]:
            continue  # pydantic's echo of a problem within the list
        by_place.setdefault(_place(item, value), []).append(item)
    place, at_place = next(iter(by_place.items()))
    problem = _problem(at_place)
    if len(by_place) > 1:
        further = [_path(place) or "the record" for place in list(by_place)[1:]]
        problem += f" (also at fault: {', '.join(further[:_MAX_NAMED])})"
    return _path(place), problem


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
    *initial, last = kinds
    listed = f"{', '.join(initial)} or {last}" if initial else last
    return f"expected {listed}{_found_text(first['input'])}"


def _expected(item: ErrorDetails) -> str:
    if item["type"] == "is_instance_of":
        return "a list" if item["ctx"]["class"] == "Sequence" else "a path"
    return _EXPECTED.get(item["type"], "")


def _found_text(value: Any) -> str:
    return f", found {describe(value)}"


def describe(value: Any) -> str:
    """Name the JSON kind of ``value``, with the value where it is short."""
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


def _place(item: ErrorDetails, value: Any) -> tuple[int | str, ...]:
    """Return the part of the location that leads into ``value``; the rest names union members."""
    if item["type"] == "missing":
        return item["loc"]
    place: tuple[int | str, ...] = ()
    for step in item["loc"]:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            break
        place += (step,)
    return place


def _path(place: tuple[int | str, ...]) -> str | None:
    path = ""
    for step in place:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path or None
