"""Checks of options: unknown names, other types, and values out of bounds are errors."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from fairjudge.datasets._problems import explain_validation_error
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.options.declaring import declared_options, type_hint

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")


def make_options(
    kind: type[T], options: Mapping[str, Any], context: str, *, other_names: Iterable[str] = ()
) -> T:
    """Return an instance of the dataclass `kind`; strings become paths where needed.

    Errors begin with `context`; `other_names` are also valid there, and are suggested for typos.

    Raises
    ------
    ConfigurationError
        If an option is unknown, has the wrong type, or is out of its bounds.
    """
    names = [field.name for field in fields(kind) if field.compare]  # type: ignore[arg-type]
    names_by_flag = {
        option.flag.strip("-").replace("-", "_"): option.name for option in declared_options(kind)
    }
    _check_names(options, names, names_by_flag, context=context, other_names=other_names)
    try:
        return kind(**{name: _validate(kind, name, value) for name, value in options.items()})
    except ConfigurationError as error:
        raise ConfigurationError(f"{context}: {error}") from None


def options_from_arguments(kind: type[T], arguments: Mapping[str, Any], context: str) -> T:
    """Return an instance of the dataclass `kind` from the arguments of a call, by field name.

    Raises
    ------
    ConfigurationError
        If a value has the wrong type or is out of its bounds.
    """
    values = {field.name: arguments[field.name] for field in fields(kind)}  # type: ignore[arg-type]
    return make_options(kind, values, context)


def _check_names(
    option_names: Iterable[str],
    names: Sequence[str],
    flags: Mapping[str, str],
    *,
    context: str,
    other_names: Iterable[str] = (),
) -> None:
    candidates = [*other_names, *names]
    for name in option_names:
        if name not in names:
            close = [flags[name]] if name in flags else get_close_matches(name, candidates, n=1)
            choices = ", ".join(candidates)
            hint = f"did you mean {close[0]!r}?" if close else f"choose from {choices}"
            raise ConfigurationError(f"{context}: no option {name!r}; {hint}")


def check_fields(value: Any) -> None:
    """Check the fields of a dataclass against their types, except fields with ``compare=False``.

    Raises
    ------
    ConfigurationError
        For the first invalid field.
    """
    for field in fields(value):
        current = getattr(value, field.name)
        if field.compare and current is not field.default:
            _validate(type(value), field.name, current, strict=True)


def checks_arguments(call: Callable[P, R]) -> Callable[P, R]:
    """Return a decorated `call` that validates numbers, strings and choices by type and bounds.

    Arguments of other types are left to the call. The error for an unknown keyword suggests the
    closest one.
    """
    signature = inspect.signature(call)
    names = [name for name in signature.parameters if name != "self"]
    context = call.__qualname__.removesuffix(".__init__")
    if inspect.iscoroutinefunction(call):
        context = context.removeprefix("a")  # the name of its blocking twin

    @functools.cache
    def hints() -> dict[str, Any]:
        hints = {name: _plain_hint(call, name) for name in signature.parameters}
        return {name: hint for name, hint in hints.items() if hint is not None}

    def check(*args: P.args, **kwargs: P.kwargs) -> None:
        _check_names(kwargs, names, {}, context=context)
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            hint = hints().get(name)
            if hint is not None and (_is_scalar(hint) or isinstance(value, _PLAIN)):
                plain = value.item() if getattr(value, "ndim", None) == 0 else value
                _check(hint, plain, name, strict=isinstance(value, str))

    @functools.wraps(call)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with _errors_for_python(call):
            check(*args, **kwargs)
            return call(*args, **kwargs)

    @functools.wraps(call)
    async def async_wrapper(*args: P.args, **kwargs: P.kwargs) -> Any:
        with _errors_for_python(call):
            check(*args, **kwargs)
            return await cast("Any", call(*args, **kwargs))

    return cast("Callable[P, R]", async_wrapper) if inspect.iscoroutinefunction(call) else wrapper


@contextmanager
def _errors_for_python(call: Callable[..., Any]) -> Iterator[None]:
    """Replace command-line flags by the arguments of `call` in errors raised in the block."""
    try:
        yield
    except (ConfigurationError, InputError) as error:
        message = str(error)
        if error.command_line_text is None and "--" in message:
            from fairjudge.options.naming import python_words

            error.command_line_text = message
            error.args = (python_words(message, call),)
        raise


def as_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return a name, or a sequence of names, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


_PLAIN = (bool, float, int, str, Path, NoneType)


def _plain_hint(call: Callable[..., Any], name: str) -> Any:
    """Return the type of a parameter if its values are plain, else None."""
    try:
        hint = type_hint(call, name)
    except (KeyError, NameError):  # no annotation, or one that only type checkers import
        return None
    return hint if _is_plain(hint) else None


def _is_plain(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin is None:
        return hint in _PLAIN
    if origin is Annotated:
        return _is_plain(get_args(hint)[0])
    return origin is Literal or all(map(_is_plain, get_args(hint)))


def _is_scalar(hint: Any) -> bool:
    """Return whether a plain type is of single values, not of sequences."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _is_scalar(parts[0])
    if origin in {Union, UnionType}:
        return all(map(_is_scalar, parts))
    return origin is None or origin is Literal


def _check(hint: Any, value: Any, name: str, *, strict: bool) -> Any:
    try:
        return TypeAdapter(hint).validate_python(value, strict=strict)
    except ValidationError as error:
        field_path, problem = explain_validation_error(error, value)
        suffix = "" if field_path is None else f".{field_path}"
        raise ConfigurationError(f"{name}{suffix}: {problem}") from None


def _validate(kind: type, name: str, value: Any, *, strict: bool = False) -> Any:
    return _check(type_hint(kind, name), value, name, strict=strict)
