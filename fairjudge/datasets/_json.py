"""Strict JSON parsing: values that could not be written back unchanged are rejected or repaired."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fairjudge.domain import replace_lone_surrogates
from fairjudge.files import beyond_floats

MAX_DEPTH = 64
"""Maximum levels of nesting; a reference has 7."""
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(eq=False)
class JsonError(Exception):
    """Text that is not a usable JSON value.

    ``position`` is an offset into the text, ``field`` a path to the invalid value, each None if
    unknown. ``cut_off`` is whether the text is truncated.
    """

    problem: str
    position: int | None = None
    field: str | None = None
    cut_off: bool = False


def parse(text: str, *, nan_as_null: bool = False) -> Any:
    """Parse ``text`` as one JSON value, ignoring surrounding white space."""
    start = len(text) - len(text.lstrip())
    value, end = parse_at(text, start, nan_as_null=nan_as_null)
    tail = text[end:].lstrip()
    if tail:
        raise JsonError(
            f"not valid JSON: unexpected text after the value: {tail[:20]!r}",
            position=len(text) - len(tail),
        )
    return value


def parse_at(text: str, start: int, *, nan_as_null: bool = False) -> tuple[Any, int]:
    """Parse the JSON value that begins at ``start``; return it and the offset of its end.

    `nan_as_null` is for files of tools that write NaN for missing numbers. Raises `JsonError` for
    invalid JSON, NaN, numbers too large for a float, duplicate keys, and excessive nesting.
    """
    try:
        value, end = (_NAN_AS_NULL if nan_as_null else _STRICT).raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise _syntax_problem(text, error) from None
    except RecursionError:
        raise _too_deep() from None
    except _NotFiniteError:
        raise _not_finite(text, start) from None
    except ValueError as error:  # an integer of thousands of digits
        if "digit" in str(error):
            raise JsonError("a number has too many digits") from None
        raise JsonError(str(error)) from None
    brackets = text.count("[", start, end) + text.count("{", start, end)
    if brackets > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _too_deep()
    return value, end


def find_value_end(text: str, start: int) -> int | None:
    """Return the end of a value that ``parse_at`` rejected, or None if it is not JSON."""
    try:
        return _LENIENT.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def replace_surrogate_escapes(text: str, value: Any) -> tuple[Any, bool]:
    r"""Replace lone surrogates in ``value``, which come from escapes such as ``\ud800``.

    Returns the value and whether anything was replaced. ``text`` is the JSON of the value.
    """
    if not _SURROGATE_ESCAPE.search(text):
        return value, False
    repaired_value = _repair(value)
    return repaired_value, repaired_value != value


def _repair(value: Any) -> Any:
    if isinstance(value, dict):
        return {replace_lone_surrogates(key): _repair(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_repair(item) for item in value]
    return replace_lone_surrogates(value)


class _NotFiniteError(ValueError):
    pass


def _parse_float(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise _NotFiniteError
    return number


def _parse_int(literal: str) -> int:
    number = int(literal)
    if beyond_floats(number):
        raise _NotFiniteError
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        duplicate_key = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"duplicate key {duplicate_key!r}")
    return result


def _parse_nan_as_null(literal: str) -> None:
    if literal != "NaN":
        _parse_float(literal)


def _decoder(parse_constant: Callable[[str], Any]) -> json.JSONDecoder:
    return json.JSONDecoder(
        strict=False,
        object_pairs_hook=_object,
        parse_float=_parse_float,
        parse_int=_parse_int,
        parse_constant=parse_constant,
    )


_STRICT = _decoder(_parse_float)
_NAN_AS_NULL = _decoder(_parse_nan_as_null)
_LENIENT = json.JSONDecoder(strict=False)


def _syntax_problem(text: str, error: json.JSONDecodeError) -> JsonError:
    message = error.msg[0].lower() + error.msg[1:]
    is_unterminated = error.msg.startswith("Unterminated string")
    is_cut_off = is_unterminated or not text[error.pos :].strip()
    return JsonError(f"not valid JSON: {message}", position=error.pos, cut_off=is_cut_off)


def _too_deep() -> JsonError:
    return JsonError(f"nested more than {MAX_DEPTH} levels deep")


def _not_finite(text: str, start: int) -> JsonError:
    problem = "expected a finite number; JSON has no NaN or Infinity (use null or omit it)"
    try:
        value, _ = _LENIENT.raw_decode(text, start)
    except ValueError:
        return JsonError(problem)
    return JsonError(problem, field=next(_not_finite_fields(value, ""), None))


def _not_finite_fields(value: Any, path: str) -> Iterator[str]:
    if (isinstance(value, float) and not math.isfinite(value)) or (
        isinstance(value, int) and beyond_floats(value)
    ):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _not_finite_fields(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _not_finite_fields(item, f"{path}[{index}]")


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [
            child for item in level for child in (item.values() if isinstance(item, dict) else item)
        ]
    return depth
