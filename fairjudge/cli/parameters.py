"""Parameters of commands, generated from the options of dataclasses and calls."""

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
    """Return a decorator that replaces parameters of a command by groups of options.

    A bundle is a function whose parameters are options. ``@with_options(model=one_model)`` replaces
    the parameter ``model`` by the parameters of the bundle `one_model`, and calls the command with
    the bundle's result. Bundles can be nested; `call_of` returns one for a call, `options_of` one
    for a dataclass. Parameters annotated with ``Annotated[..., Opt(...)]`` are options too.
    """

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        typer_bundles = {name: _with_typer_parameters(bundle) for name, bundle in bundles.items()}
        typer_command = _with_typer_parameters(command)

        @functools.wraps(command)
        def wrapper(**arguments: Any) -> R:
            for name, bundle in typer_bundles.items():
                arguments[name] = bundle(
                    **{part: arguments.pop(part) for part in _signature(bundle)}
                )
            return typer_command(**arguments)

        parameters = [
            parameter
            for name, command_parameter in _signature(typer_command).items()
            for parameter in (
                _signature(typer_bundles[name]).values()
                if name in typer_bundles
                else [command_parameter]
            )
        ]
        return _set_signature(wrapper, parameters)

    return decorate


def _with_typer_parameters(function: Callable[..., R]) -> Callable[..., R]:
    """Return `function` with Typer parameters instead of those with an `Opt`."""
    hints = get_type_hints(function, include_extras=True)
    options = {option.name: option for option in declared_options(function)}

    def wrapper(**arguments: Any) -> R:
        return function(
            **{
                name: _value(options[name], value) if name in options else value
                for name, value in arguments.items()
            }
        )

    return _set_signature(
        wrapper,
        [
            _parameter(options[name])
            if name in options
            else parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in inspect.signature(function).parameters.items()
        ],
    )


class Call(Generic[T]):
    """A call with option values from a command line; the command may add arguments."""

    def __init__(
        self, call: Callable[..., T], options: Sequence[OptionSpec], arguments: Mapping[str, Any]
    ) -> None:
        self._call = call
        self._options = options
        self.values = {option.name: _value(option, arguments[option.name]) for option in options}
        """The option values by name; `read` replaces paths by the contents of the files."""

    def read(self, *, skip_bad: bool) -> Mapping[str, Any]:
        """Read the files, and return the values with their contents."""
        for option in self._options:
            self.values[option.name] = _read_contents(
                option, self.values[option.name], skip_bad=skip_bad
            )
        return self.values

    def __call__(self, *, skip_bad: bool = False, **arguments: Any) -> T:
        """Read the files, and run the call with further `arguments`, such as ``progress``."""
        self.read(skip_bad=skip_bad)
        values = self.values | arguments
        positional: list[Any] = []
        if any(option.variadic for option in self._options):
            for option in self._options:  # parameters before the variadic one are positional too
                value = values.pop(option.name)
                positional += value if option.variadic else [value]
                if option.variadic:
                    break
        return self._call(*positional, **values)


def call_of(call: Callable[..., T], **selection: Any) -> Callable[..., Call[T]]:
    """Return a bundle with the options of a call; for `selection` see `select_options`."""
    options = select_options(call, **selection)
    return _set_signature(
        lambda **arguments: Call(call, options, arguments),
        [_parameter(option) for option in options],
    )


def options_of(kind: Callable[..., T], **selection: Any) -> Callable[..., T]:
    """Return a bundle that creates an instance of a dataclass whose fields are options."""
    fields = fields_of(kind, **selection)
    return _set_signature(
        lambda **arguments: kind(**fields(**arguments)), list(_signature(fields).values())
    )


def fields_of(
    kind: Callable[..., Any],
    *,
    rename: Mapping[str, str] = MappingProxyType({}),
    **selection: Any,
) -> Callable[..., dict[str, Any]]:
    """Return a bundle that creates a dict of the options of a dataclass or a call, by name.

    `rename` has parameter names for options whose names the command uses otherwise; for `selection`
    see `select_options`.
    """
    options = select_options(kind, **selection)
    repeatable = selection.get("repeatable", ())
    parameter_names = {option.name: rename.get(option.name, option.name) for option in options}

    def values_by_name(**arguments: Any) -> dict[str, Any]:
        values = {
            option.name: _value(option, arguments[parameter_names[option.name]])
            for option in options
        }
        return {
            name: value
            if name in repeatable or not isinstance(value, tuple)
            else tuple(dict.fromkeys(value))
            for name, value in values.items()
        }

    parameters = [
        _parameter(option).replace(name=parameter_names[option.name]) for option in options
    ]
    return _set_signature(values_by_name, parameters)


def select_options(
    kind: Callable[..., Any],
    *,
    only: Collection[str] = (),
    without: Collection[str] = (),
    optional: Collection[str] = (),
    repeatable: Mapping[str, str] = MappingProxyType({}),
) -> list[OptionSpec]:
    """Return the options of a dataclass or a call that a command has.

    Parameters
    ----------
    only, without
        Names of the options to include (default: all) and to exclude.
    optional
        Names of required options that are optional for the command (None if missing).
    repeatable
        Single-valued options that are repeatable for the command, with a sentence to append to
        their help; their values are tuples.
    """
    options = [
        replace(option, default=None) if option.name in optional else option
        for option in declared_options(kind)
        if option.name in (only or {option.name}) and option.name not in without
    ]
    return [
        _repeatable(option, repeatable[option.name]) if option.name in repeatable else option
        for option in options
    ]


def _repeatable(option: OptionSpec, text: str) -> OptionSpec:
    opt = replace(option.opt, help=f"{option.opt.help} {text}".strip())
    default = REQUIRED if option.default is REQUIRED and opt.argument else ()
    return replace(option, hint=GenericAlias(tuple, (option.hint, ...)), default=default, opt=opt)


def _value(option: OptionSpec, value: Any) -> Any:
    """Convert a value from the command line to the value of an option."""
    opt, is_sequence = option.opt, option.element_type is not None
    if is_sequence:
        value = tuple(value or ())
    if opt.reader is None and opt.parse is None:
        return (
            value or (() if option.default is REQUIRED else option.default)
            if is_sequence
            else value
        )
    if not value:
        return option.default
    if opt.parse is None:
        return value
    try:
        if not is_sequence:
            return opt.parse(value)
        values = tuple(map(opt.parse, value))
        return values if opt.merge is None else opt.merge(values)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option.flag) from None


def _read_contents(option: OptionSpec, value: Any, *, skip_bad: bool) -> Any:
    """Return the contents of the file if the option has a reader, else the value itself."""
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


def _set_signature(
    function: Callable[..., R], parameters: Sequence[inspect.Parameter]
) -> Callable[..., R]:
    function.__dict__["__signature__"] = inspect.Signature(parameters)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return function


def _parameter(option: OptionSpec) -> inspect.Parameter:
    """Return the Typer parameter of an option."""
    opt, default = option.opt, option.default
    kind, settings = _kind(option)
    if get_origin(kind) is list and not opt.argument and settings["metavar"] is None:
        # The metavar of Typer would be list[Path].
        settings = {**settings, "metavar": f"<{get_args(kind)[0].__name__.lower()}>"}
    if option.element_type is not None or opt.parse is not None:
        default = _text(default) if default is not REQUIRED and not option.variadic else REQUIRED
    hint = kind if default is REQUIRED else kind | None
    typer_info: Any = typer.Option
    names = [*([opt.short] if opt.short else []), option.flag, *opt.former]
    if opt.argument:
        typer_info, names = typer.Argument, []
    elif kind is bool and default:
        names = []  # Typer adds the negative flag (--no-x)
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[
            hint,
            typer_info(
                *names,
                help=opt.help or None,
                min=opt.ge,
                max=opt.le,
                envvar=opt.envvar,
                rich_help_panel=option.panel,
                **settings,
            ),
        ],
    )


def _text(default: Any) -> str | None:
    """Return a default as text for the command line, or None."""
    return None if isinstance(default, str) or not default else ",".join(map(str, default))


def _kind(option: OptionSpec) -> tuple[Any, Mapping[str, Any]]:
    """Return the type and further settings of the Typer parameter of an option."""
    settings: Mapping[str, Any] = {"metavar": option.opt.metavar}
    element = option.element_type
    if (choices := option.opt.choices) is not None:  # the command resolves the placeholder
        return str, {"metavar": lambda: f"<{'|'.join(choices())}>", "parser": _one_of(choices)}
    if element is None:
        return (str if option.opt.parse else _plain_type(option.kinds)), settings
    if get_origin(element) is Literal:  # Typer does not support lists of literals
        names = get_args(element)
        return list[str], {"metavar": f"[{'|'.join(names)}]", "parser": _one_of(lambda: names)}
    return list[_plain_type((element,))], settings  # type: ignore[misc]


def _plain_type(kinds: Sequence[Any]) -> Any:
    """Return the type on a command line: Path if possible, else str if possible."""
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
