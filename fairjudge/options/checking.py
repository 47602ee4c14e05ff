"""Options given by name: one that is unknown, of another type or out of bounds is an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from fairjudge.datasets._problems import explain
from fairjudge.declaring import hint_of
from fairjudge.errors import ConfigurationError

T = TypeVar("T")


def checked(kind: type[T], given: Mapping[str, Any], of: str) -> T:
    """Return `kind`, a dataclass, made of `given`; texts become paths where paths are expected.

    Raises
    ------
    ConfigurationError
        If it has no option of such a name, or an option is of another type or out of its bounds.
    """
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}"
            raise ConfigurationError(f"{of}: no option {name!r}; {hint}")
    return kind(**{name: _validated(kind, name, value) for name, value in given.items()})


def check_fields(value: Any) -> None:
    """Check that the fields of a dataclass by which it is compared hold what their types say.

    Raises
    ------
    ConfigurationError
        For the first one that does not.
    """
    for one in fields(value):
        found = getattr(value, one.name)
        if one.compare and found is not one.default:
            _validated(type(value), one.name, found, strict=True)


def _validated(kind: type, name: str, value: Any, *, strict: bool = False) -> Any:
    try:
        return TypeAdapter(hint_of(kind, name)).validate_python(value, strict=strict)
    except ValidationError as error:
        place, problem = explain(error, value)
        within = "" if place is None else f".{place}"
        raise ConfigurationError(f"{name}{within}: {problem}") from None
