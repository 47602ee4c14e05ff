"""The parameters of commands, made of the options of dataclasses and calls."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import GenericAlias, MappingProxyType
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer

from fairjudge.options.declaring import REQUIRED, OptionSpec, declared_options

R = TypeVar("R")
T = TypeVar("T")


def with_options(**bundles: Callable[..., Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return a decorator that adds the options of bundles to a command.

    ``@with_options(model=one_model)`` puts the parameters of `one_model` in place of the parameter
    ``model``, and calls the command with its result. A bundle may have bundles itself; `call_of`
    makes one of a call, `options_of` of a dataclass. Parameters of the command that are
    ``Annotated[..., Opt(...)]`` are options too.
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
            for name, parameter_of_command in _signature(own).items()
            for parameter in (
                _signature(ready[name]).values() if name in ready else [parameter_of_command]
            )
        ]
        return _signed(called, parameters)

    return decorate


def _taking_text(function: Callable[..., R]) -> Callable[..., R]:
    """Return `function` with Typer's parameters in place of those with an `Opt`."""
    hints = get_type_hints(function, include_extras=True)
    options = {option.name: option for option in declared_options(function)}

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
    """A call with the options of a command line, which the command completes."""

    def __init__(self, call: Callable[..., T], options: Sequence[OptionSpec], given: Any) -> None:
        self._call = call
        self._options = options
        self.values = {option.name: _value(option, given[option.name]) for option in options}
        """The options by name; once read, with the contents of files in place of their paths."""

    def read(self, *, skip_bad: bool) -> Mapping[str, Any]:
        """Read the files, and return the values."""
        for option in self._options:
            self.values[option.name] = _read_contents(
                option, self.values[option.name], skip_bad=skip_bad
            )
        return self.values

    def __call__(self, *, skip_bad: bool = False, **more: Any) -> T:
        """Read the files, and call with `more` beside the options, such as ``progress``."""
        self.read(skip_bad=skip_bad)
        values = self.values | more
        by_place: list[Any] = []
        if any(option.variadic for option in self._options):
            for option in self._options:  # those before the variadic one are given by place too
                value = values.pop(option.name)
                by_place += value if option.variadic else [value]
                if option.variadic:
                    break
        return self._call(*by_place, **values)


def call_of(call: Callable[..., T], **choice: Any) -> Callable[..., Call[T]]:
    """Return the bundle of the options of a call; `choice` is as in `options_in`."""
    options = options_in(call, **choice)
    return _signed(
        lambda **given: Call(call, options, given), [_parameter(option) for option in options]
    )


def options_of(kind: Callable[..., T], **choice: Any) -> Callable[..., T]:
    """Return the bundle of a dataclass whose fields are options; it makes an instance."""
    fields = fields_of(kind, **choice)
    return _signed(lambda **given: kind(**fields(**given)), list(_signature(fields).values()))


def fields_of(
    kind: Callable[..., Any],
    *,
    rename: Mapping[str, str] = MappingProxyType({}),
    **choice: Any,
) -> Callable[..., dict[str, Any]]:
    """Return the bundle of the options of a dataclass or a call; it makes a dict of them by name.

    `rename` has other names of parameters, where the command has another one of such a name;
    `choice` is as in `options_in`.
    """
    options = options_in(kind, **choice)
    several = choice.get("several", ())
    called = {option.name: rename.get(option.name, option.name) for option in options}

    def by_name(**given: Any) -> dict[str, Any]:
        values = {option.name: _value(option, given[called[option.name]]) for option in options}
        return {
            name: value
            if name in several or not isinstance(value, tuple)
            else tuple(dict.fromkeys(value))
            for name, value in values.items()
        }

    parameters = [_parameter(option).replace(name=called[option.name]) for option in options]
    return _signed(by_name, parameters)


def options_in(
    kind: Callable[..., Any],
    *,
    only: Collection[str] = (),
    without: Collection[str] = (),
    optional: Collection[str] = (),
    several: Mapping[str, str] = MappingProxyType({}),
) -> list[OptionSpec]:
    """Return the options of a dataclass or a call that a command has.

    Parameters
    ----------
    only, without
        The options that the command has, by default all; those that it has not.
    optional
        Required options that the command can do without; they are None.
    several
        Options of one value that the command takes any number of times, each with what its help
        says of that; they make a tuple.
    """
    options = [
        replace(option, default=None) if option.name in optional else option
        for option in declared_options(kind)
        if option.name in (only or {option.name}) and option.name not in without
    ]
    return [
        _repeatable(option, several[option.name]) if option.name in several else option
        for option in options
    ]


def _repeatable(option: OptionSpec, text: str) -> OptionSpec:
    opt = replace(option.opt, help=f"{option.opt.help} {text}".strip())
    default = REQUIRED if option.default is REQUIRED and opt.argument else ()
    return replace(option, hint=GenericAlias(tuple, (option.hint, ...)), default=default, opt=opt)


def _value(option: OptionSpec, value: Any) -> Any:
    """Return the value of an option from that of the command line."""
    opt, several = option.opt, option.element_type is not None
    if several:
        value = tuple(value or ())
    if opt.reader is None and opt.parse is None:
        return value or (() if option.default is REQUIRED else option.default) if several else value
    if not value:
        return option.default
    if opt.parse is None:
        return value
    try:
        if not several:
            return opt.parse(value)
        values = tuple(map(opt.parse, value))
        return values if opt.merge is None else opt.merge(values)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option.flag) from None


def _read_contents(option: OptionSpec, value: Any, *, skip_bad: bool) -> Any:
    """Return the contents of the file of an option that reads files; else the value itself."""
    if option.opt.reader is None or not isinstance(value, str | Path):
        return value
    from fairjudge.cli.display import say_bad_lines
    from fairjudge.datasets import Loaded

    records = option.opt.reader(value, skip_bad=skip_bad)
    if isinstance(records, Loaded):
        say_bad_lines(records)
    return records


def _signature(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


def _signed(
    function: Callable[..., R], parameters: Sequence[inspect.Parameter]
) -> Callable[..., R]:
    function.__dict__["__signature__"] = inspect.Signature(parameters)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return function


def _parameter(option: OptionSpec) -> inspect.Parameter:
    """Return the Typer parameter for an option."""
    opt, default = option.opt, option.default
    several = option.element_type is not None
    kind, more = _kind(option)
    if get_origin(kind) is list and not opt.argument and more["metavar"] is None:
        # Typer would show list[Path].
        more = {**more, "metavar": f"<{get_args(kind)[0].__name__.lower()}>"}
    if several or opt.parse is not None:
        default = _text(default) if default is not REQUIRED and not option.variadic else REQUIRED
    hint = kind if default is REQUIRED else kind | None
    declare: Any = typer.Option
    names = [*([opt.short] if opt.short else []), option.flag, *opt.former]
    if opt.argument:
        declare, names = typer.Argument, []
    elif kind is bool and default:
        names = []  # Typer adds the flag that says no
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[
            hint,
            declare(
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
    """Return a default as text of a command line; None for none."""
    return None if isinstance(default, str) or not default else ",".join(map(str, default))


def _kind(option: OptionSpec) -> tuple[Any, Mapping[str, Any]]:
    """Return the type of Typer's parameter, and more of its settings."""
    extra: Mapping[str, Any] = {"metavar": option.opt.metavar}
    element = option.element_type
    if (choices := option.opt.choices) is not None:  # the command resolves the placeholder
        return str, {"metavar": lambda: f"<{'|'.join(choices())}>", "parser": _one_of(choices)}
    if element is None:
        return (str if option.opt.parse else _plain_type(option.kinds)), extra
    if get_origin(element) is Literal:  # of which Typer takes no list
        names = get_args(element)
        return list[str], {"metavar": f"[{'|'.join(names)}]", "parser": _one_of(lambda: names)}
    return list[_plain_type((element,))], extra  # type: ignore[misc]


def _plain_type(kinds: Sequence[Any]) -> Any:
    """Return the type on a command line: a path where one is possible, else text where it is."""
    if object in kinds or Path in kinds:
        return Path
    if str in kinds:
        return str
    (kind,) = kinds
    return kind


def _one_of(choices: Callable[[], Collection[str]]) -> Callable[[str], str]:
    def parse(name: str) -> str:
        if name not in (names := choices()):
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, names))}.")
        return name

    return parse
