"""The parameters of commands, made of what dataclasses of options and calls declare."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer

from fairjudge.options.declaring import REQUIRED, Declared, declared

R = TypeVar("R")
T = TypeVar("T")


def with_options(**bundles: Callable[..., Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Give a command the options that others declare, and call it with what is made of them.

    ``@with_options(model=models)`` puts the parameters of `models` in place of its parameter
    ``model``, so that several commands take the same options without repeating them. A bundle may
    take the options of another in the same way; `call_of` makes one of a call, `options_of` of a
    dataclass. What the command declares itself by ``Annotated[..., Opt(...)]`` is an option too.
    """

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        ready = {name: _taking_text(bundle) for name, bundle in bundles.items()}
        own = _taking_text(command)

        @functools.wraps(command)
        def called(**given: Any) -> R:
            for name, bundle in ready.items():
                given[name] = bundle(**{part: given.pop(part) for part in _signature(bundle)})
            return own(**given)

        parameters = [
            parameter
            for name, one in _signature(own).items()
            for parameter in (_signature(ready[name]).values() if name in ready else [one])
        ]
        return _signed(called, parameters)

    return decorate


def _taking_text(function: Callable[..., R]) -> Callable[..., R]:
    """Return `function`, whose parameters with an `Opt` take what a command line gives."""
    hints = get_type_hints(function, include_extras=True)
    options = {option.name: option for option in declared(function)}

    def called(**given: Any) -> R:
        return function(
            **{
                name: _value(options[name], value) if name in options else value
                for name, value in given.items()
            }
        )

    return _signed(
        called,
        [
            _parameter(options[name])
            if name in options
            else parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in inspect.signature(function).parameters.items()
        ],
    )


class Call(Generic[T]):
    """A call whose options a command line gave; the command finishes it."""

    def __init__(self, call: Callable[..., T], options: Sequence[Declared], given: Any) -> None:
        self._call = call
        self._options = options
        self.values = {option.name: _value(option, given[option.name]) for option in options}
        """The options by name; after the call, what is in a file in the place of its path."""

    def read(self, *, skip_bad: bool) -> Mapping[str, Any]:
        """Read the files, and return the values."""
        for option in self._options:
            self.values[option.name] = _read(option, self.values[option.name], skip_bad=skip_bad)
        return self.values

    def __call__(self, *, skip_bad: bool = False, **more: Any) -> T:
        """Read the files, and call with `more` beside the options, such as ``progress``."""
        self.read(skip_bad=skip_bad)
        named = self.values | more
        by_place: list[Any] = []
        if any(option.variadic for option in self._options):
            for option in self._options:  # those before the variadic one are given by place too
                value = named.pop(option.name)
                by_place += value if option.variadic else [value]
                if option.variadic:
                    break
        return self._call(*by_place, **named)


def call_of(call: Callable[..., T]) -> Callable[..., Call[T]]:
    """Return the bundle of those parameters of a call that are options."""
    options = declared(call)
    return _signed(
        lambda **given: Call(call, options, given), [_parameter(option) for option in options]
    )


def options_of(kind: Callable[..., T]) -> Callable[..., T]:
    """Return the bundle of a dataclass whose fields are options; it makes one of them."""
    fields = fields_of(kind)
    return _signed(lambda **given: kind(**fields(**given)), list(_signature(fields).values()))


def fields_of(
    kind: Callable[..., Any], *, rename: Mapping[str, str] | None = None
) -> Callable[..., dict[str, Any]]:
    """Return the bundle of the options of a dataclass or a call; it makes a dict of them by name.

    A command that takes another option of one of these names knows it as `rename` says.
    """
    options = declared(kind)
    called = {option.name: (rename or {}).get(option.name, option.name) for option in options}

    def by_name(**given: Any) -> dict[str, Any]:
        values = {option.name: _value(option, given[called[option.name]]) for option in options}
        return {
            name: tuple(dict.fromkeys(value)) if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    parameters = [_parameter(option).replace(name=called[option.name]) for option in options]
    return _signed(by_name, parameters)


def _value(option: Declared, given: Any) -> Any:
    """Return the value that is meant by what a command line gives."""
    opt, several = option.opt, option.each is not None
    if several:
        given = tuple(given or ())
    if opt.reads is None and opt.parse is None:
        return given or (() if option.default is REQUIRED else option.default) if several else given
    if not given:
        return option.default
    if opt.parse is None:
        return given
    try:
        return tuple(map(opt.parse, given)) if several else opt.parse(given)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option.flag) from None


def _read(option: Declared, value: Any, *, skip_bad: bool) -> Any:
    """Return what the file holds that is given for an option, where it is one that reads files."""
    if option.opt.reads is None or not isinstance(value, str | Path):
        return value
    from fairjudge.cli.display import say_bad_lines
    from fairjudge.datasets import Loaded

    found = option.opt.reads(value, skip_bad=skip_bad)
    if isinstance(found, Loaded):
        say_bad_lines(found)
    return found


def _signature(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


def _signed(
    function: Callable[..., R], parameters: Sequence[inspect.Parameter]
) -> Callable[..., R]:
    function.__dict__["__signature__"] = inspect.Signature(parameters)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return function


def _parameter(option: Declared) -> inspect.Parameter:
    """Return the Typer parameter for an option."""
    opt, default = option.opt, option.default
    several = option.each is not None
    kind, more = _kind(option)
    if several or opt.parse is not None:
        default = _text(default) if default is not REQUIRED and not option.variadic else REQUIRED
    hint = kind if default is REQUIRED else kind | None
    shown: Any = typer.Option
    names = [*([opt.short] if opt.short else []), option.flag, *opt.former]
    if opt.argument:
        shown, names = typer.Argument, []
    elif kind is bool and default:
        names = []  # Typer adds the flag that says no
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[
            hint,
            shown(
                *names,
                help=opt.help or None,
                min=opt.ge,
                max=opt.le,
                envvar=opt.envvar,
                rich_help_panel=option.panel,
                **more,
            ),
        ],
    )


def _text(default: Any) -> str | None:
    """Return what a command line would say for a default; None for nothing."""
    if isinstance(default, str) or not default:
        return None
    return ",".join(map(str, default))


def _kind(option: Declared) -> tuple[Any, Mapping[str, Any]]:
    """Return the type that Typer is told, and more that it is told of it."""
    more: Mapping[str, Any] = {"metavar": option.opt.metavar}
    each = option.each
    if each is None:
        return (str if option.opt.parse else _plain(option.kinds)), more
    if get_origin(each) is Literal:  # of which Typer takes no list
        names = get_args(each)
        return list[str], {"metavar": f"[{'|'.join(names)}]", "parser": _one_of(names)}
    return list[_plain((each,))], more  # type: ignore[misc]


def _plain(kinds: Sequence[Any]) -> Any:
    """Return what a command line takes: a path for what may be one, text for what may be text."""
    if object in kinds or Path in kinds:
        return Path
    if str in kinds:
        return str
    (kind,) = kinds
    return kind


def _one_of(names: Sequence[str]) -> Callable[[str], str]:
    def parse(given: str) -> str:
        if given not in names:
            raise typer.BadParameter(f"{given!r} is not one of {', '.join(map(repr, names))}.")
        return given

    return parse
