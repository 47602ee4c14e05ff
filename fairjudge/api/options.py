"""Options given by name: one that is unknown or of another type is an error that says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from fairjudge.datasets._problems import explain
from fairjudge.errors import ConfigurationError

T = TypeVar("T")


def checked(kind: type[T], given: Mapping[str, Any], of: str) -> T:
    """Return `kind`, a dataclass, made of `given`; texts become paths where paths are expected.

    Raises
    ------
    ConfigurationError
        If it has no option of such a name, or an option is of another type.
    """
    known = [one.name for one in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}"
            raise ConfigurationError(f"{of}: no option {name!r}; {hint}")
    try:
        return TypeAdapter(kind).validate_python(dict(given))
    except ValidationError as error:
        place, problem = explain(error, given)
        raise ConfigurationError(f"{place}: {problem}") from None


def check_fields(value: Any) -> None:
    """Check that the public fields of a dataclass hold what their types say.

    Raises
    ------
    ConfigurationError
        For the first one that does not.
    """
    for name, hint in get_type_hints(type(value)).items():
        found = getattr(value, name)
        try:
            TypeAdapter(hint).validate_python(found, strict=True)
        except ValidationError as error:
            problem = explain(error, found)[1]
            raise ConfigurationError(f"{name}: {problem}") from None
