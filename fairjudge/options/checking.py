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

from fairjudge.datasets._problems import explain
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.options.declaring import declared, hint_of

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")


def checked(kind: type[T], options: Mapping[str, Any], of: str, *, beside: Iterable[str] = ()) -> T:
    """Return the dataclass `kind` with the options `options`; strings become paths where needed.

    `beside` are names that may stand beside its options, for suggestions.

    Raises
    ------
    ConfigurationError
        If it has no option of such a name, or an option is of another type or out of its bounds.
    """
    names = [field.name for field in fields(kind) if field.compare]  # type: ignore[arg-type]
    flags = {option.flag.strip("-").replace("-", "_"): option.name for option in declared(kind)}
    _check_names(options, names, flags, of=of, beside=beside)
    try:
        return kind(**{name: _validated(kind, name, value) for name, value in options.items()})
    except ConfigurationError as error:
        raise ConfigurationError(f"{of}: {error}") from None


def of_arguments(kind: type[T], arguments: Mapping[str, Any], of: str) -> T:
    """Return `kind`, a dataclass, made of those arguments of a call that are named as its fields.

    Raises
    ------
    ConfigurationError
        If one is of another type or out of its bounds.
    """
    values = {field.name: arguments[field.name] for field in fields(kind)}  # type: ignore[arg-type]
    return checked(kind, values, of)


def _check_names(
    option_names: Iterable[str],
    names: Sequence[str],
    flags: Mapping[str, str],
    *,
    of: str,
    beside: Iterable[str] = (),
) -> None:
    candidates = [*beside, *names]
    for name in option_names:
        if name not in names:
            close = [flags[name]] if name in flags else get_close_matches(name, candidates, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(candidates)}"
            raise ConfigurationError(f"{of}: no option {name!r}; {hint}")


def check_fields(value: Any) -> None:
    """Check the fields of a dataclass against their types; those left out of comparisons are not.

    Raises
    ------
    ConfigurationError
        For the first one that does not.
    """
    for field in fields(value):
        current = getattr(value, field.name)
        if field.compare and current is not field.default:
            _validated(type(value), field.name, current, strict=True)


def checks_arguments(call: Callable[P, R]) -> Callable[P, R]:
    """Return `call` with a check of numbers, strings and choices by their types and bounds.

    The call itself checks arguments of other types. A keyword that it does not have is an error
    that names the closest one.
    """
    signature = inspect.signature(call)
    names = [name for name in signature.parameters if name != "self"]
    of = call.__qualname__.removesuffix(".__init__")
    of = of.removeprefix("a") if inspect.iscoroutinefunction(call) else of  # as its blocking twin

    @functools.cache
    def hints() -> dict[str, Any]:
        hints = {name: _plain_hint(call, name) for name in signature.parameters}
        return {name: hint for name, hint in hints.items() if hint is not None}

    def check(*args: P.args, **kwargs: P.kwargs) -> None:
        _check_names(kwargs, names, {}, of=of)
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            hint = hints().get(name)
            if hint is not None and (_is_scalar(hint) or isinstance(value, _PLAIN)):
                plain = value.item() if getattr(value, "ndim", None) == 0 else value
                _check(hint, plain, name, strict=isinstance(value, str))

    @functools.wraps(call)
    def checking(*args: P.args, **kwargs: P.kwargs) -> R:
        with _named_arguments(call):
            check(*args, **kwargs)
            return call(*args, **kwargs)

    @functools.wraps(call)
    async def checking_first(*args: P.args, **kwargs: P.kwargs) -> Any:
        with _named_arguments(call):
            check(*args, **kwargs)
            return await cast("Any", call(*args, **kwargs))

    return cast("Callable[P, R]", checking_first) if inspect.iscoroutinefunction(call) else checking


@contextmanager
def _named_arguments(call: Callable[..., Any]) -> Iterator[None]:
    """Let errors from within name the arguments of `call` instead of a command line's flags."""
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
    """Return the type of a parameter of plain values, None for one of other types."""
    try:
        hint = hint_of(call, name)
    except (KeyError, NameError):  # not annotated, or by what only type checkers import
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
    """Say whether a plain type is of single values, not of sequences."""
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
        place, problem = explain(error, value)
        within = "" if place is None else f".{place}"
        raise ConfigurationError(f"{name}{within}: {problem}") from None


def _validated(kind: type, name: str, value: Any, *, strict: bool = False) -> Any:
    return _check(hint_of(kind, name), value, name, strict=strict)
