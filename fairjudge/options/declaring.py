"""Declarations of options, at the field or the parameter that holds the value.

A field of a dataclass of options, or a parameter of a call (`fairjudge.api`), is an option where
its type is ``Annotated[..., Opt(...)]``: help, bounds, and what it is called on a command line.
Commands are made of these declarations (`fairjudge.cli.parameters`); calls from Python and study
files are checked by them (`fairjudge.options.checking`). ``--help`` reads them, so that modules
which declare options import nothing heavy.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

Panel: TypeAlias = Literal[
    "Input", "Options", "Building", "Judging", "Writing", "Model", "Limits", "Storage", "Output"
]
"""The sections of ``--help``, in their order."""
REQUIRED = inspect.Parameter.empty
"""The default of an option that has none."""


@dataclass(frozen=True, slots=True)
class Opt:
    """The metadata of an option, in the ``Annotated`` type of its field or parameter.

    Parameters
    ----------
    help : str
        A sentence or two, as ``--help`` shows them.
    flag : str, optional
        Its name on a command line; by default its name with dashes, without the ``n_`` of counts.
    former : tuple of str
        Earlier names, which are still accepted.
    ge, le : float, optional
        The smallest and the largest valid value; pydantic checks them, as it reads this object as
        a group of metadata.
    short : str, optional
        A name of one letter, such as ``"-o"``.
    metavar : str, optional
        The placeholder of its value in ``--help``.
    envvar : str, optional
        The environment variable with its default.
    argument : bool
        Whether it is a positional argument on a command line.
    parse : callable, optional
        Converts the text on a command line to the value, each text where it is `repeatable`;
        raises ValueError for another format.
    repeatable : bool
        Whether an option with `parse` takes several values, one each time that it is used;
        sequences without `parse` always do.
    merge : callable, optional
        Makes one value of those of a `repeatable` option.
    reads : callable, optional
        Reads the value from the file of a command line; takes its path and ``skip_bad``.
    panel : str, optional
        Its section in ``--help``; by default the `PANEL` of its dataclass, else "Output" for
        ``-o``, "Input" for files and arguments, and "Options" for the rest.
    """

    help: str = ""
    flag: str | None = None
    former: tuple[str, ...] = ()
    ge: float | None = None
    le: float | None = None
    short: str | None = None
    metavar: str | None = None
    envvar: str | None = None
    argument: bool = False
    parse: Callable[[str], Any] | None = None
    repeatable: bool = False
    merge: Callable[[Sequence[Any]], Any] | None = None
    reads: Callable[..., Any] | None = None
    panel: Panel | None = None

    @property
    def __is_annotated_types_grouped_metadata__(self) -> Literal[True]:
        return True

    def __iter__(self) -> Iterator[object]:
        from annotated_types import Ge, Le

        if self.ge is not None:
            yield Ge(self.ge)
        if self.le is not None:
            yield Le(self.le)


Seed: TypeAlias = Annotated[int, Opt("Seed of all resampling.", ge=0)]
Resamples: TypeAlias = Annotated[int, Opt("Bootstrap resamples.", ge=100)]
Level: TypeAlias = Annotated[float, Opt("Confidence of intervals.", ge=0.5, le=0.999)]
MaxUnscored: TypeAlias = Annotated[
    float,
    Opt("Exit with 3 if a larger share than this is unscored.", ge=0.0, le=1.0, panel="Limits"),
]
Annotators: TypeAlias = Annotated[
    str | Sequence[str],
    Opt("Only use labels by annotators whose names match, e.g. 'expert*'.", panel="Input"),
]


def label_scale(text: str) -> tuple[float, float]:
    """Return the lowest and the highest label of ``LOW-HIGH``.

    Raises
    ------
    ValueError
        `text` is not such a range.
    """
    match = re.fullmatch(r"(-?\d{1,6}(?:\.\d{1,6})?)-(\d{1,6}(?:\.\d{1,6})?)", text, re.ASCII)
    low, high = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if not low < high:
        raise ValueError(f"expected LOW-HIGH such as 1-5, got {text!r}")
    return low, high


def column_map(text: str) -> dict[str, tuple[str, ...]]:
    """Return field to columns of ``field=column,field=column``; a field may stand several times.

    Raises
    ------
    ValueError
        `text` is not such a list.
    """
    return merged_columns({name: (column,)} for name, column in pairs_of(text, "field=column"))


def merged_columns(maps: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """Return the columns of each field in all of `maps`."""
    merged: dict[str, tuple[str, ...]] = {}
    for columns_by_field in maps:
        for name, columns in columns_by_field.items():
            merged[name] = (*merged.get(name, ()), *columns)
    return merged


def word_values(text: str) -> dict[str, float]:
    """Return the number of each word of ``word=number,word=number``.

    Raises
    ------
    ValueError
        `text` is not such a list.
    """
    values: dict[str, float] = {}
    for word, number in pairs_of(text, "word=number", last=True):
        try:
            values[word] = float(number)
        except ValueError:
            raise ValueError(f"expected a number for {word!r}, not {number!r}") from None
    return values


def merged_values(maps: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the numbers of the words in all of `maps`."""
    return {word: number for values in maps for word, number in values.items()}


def pairs_of(text: str, form: str, *, last: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the two sides of each ``=``; a part without one belongs to the text before its comma.

    With `last`, it belongs to the text after the comma.
    """
    parts: list[str] = []
    for part in text.split(","):
        if parts and "=" not in (parts[-1] if last else part):
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    for part in filter(str.strip, parts):
        left, equals, right = part.rpartition("=") if last else part.partition("=")
        if not (left.strip() and equals and right.strip()):
            raise ValueError(f"expected {form}, not {part.strip()!r}")
        yield left.strip(), right.strip()


LabelScale: TypeAlias = Annotated[
    tuple[float, float] | None,
    Opt(
        "The labels' scale, such as 0-100; by default the common scale that most of them fit. A "
        "label outside it is an error.",
        metavar="LOW-HIGH",
        parse=label_scale,
        panel="Input",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionSpec:
    """An option: name, type, default and metadata of a field or a parameter."""

    name: str
    hint: Any
    default: Any
    opt: Opt
    variadic: bool = False
    owner: Any = None
    """The dataclass that declares it."""

    @property
    def panel(self) -> Panel:
        """Its section in ``--help``."""
        owners: Panel | None = getattr(self.owner, "PANEL", None)
        if panel := self.opt.panel or owners:
            return panel
        if self.opt.short == "-o":
            return "Output"
        if self.opt.argument or self.opt.reads is not None:
            return "Input"
        parts = {*self.kinds, *(part for kind in self.kinds for part in get_args(kind))}
        return "Input" if parts & {Path, object} else "Options"

    @property
    def flag(self) -> str:
        """Its name on a command line."""
        return self.opt.flag or f"--{self.name.removeprefix('n_').replace('_', '-')}"

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types of its value, without None."""
        parts = get_args(self.hint) if get_origin(self.hint) in {Union, UnionType} else (self.hint,)
        return tuple(part for part in parts if part is not NoneType)

    @property
    def each(self) -> Any:
        """The type of one of its values where it takes several, else None."""
        if self.variadic:
            return self.hint
        if self.opt.parse is not None or self.opt.reads is not None:
            return str if self.opt.repeatable else None
        several = [kind for kind in self.kinds if get_origin(kind) in {tuple, Sequence}]
        return get_args(several[0])[0] if several else None


def declared(kind: Any) -> tuple[OptionSpec, ...]:
    """Return the options among the fields of a dataclass, or the parameters of a call, in order."""
    if inspect.isclass(kind):
        return tuple(
            OptionSpec(
                name=field.name,
                hint=hint,
                default=REQUIRED if field.default is MISSING else field.default,
                opt=opt,
                owner=kind,
            )
            for field in fields(cast("Any", kind))
            for hint, opt in _declaration(kind, field.name)
        )
    return tuple(
        option
        for parameter in inspect.signature(kind).parameters.values()
        if (option := declared_parameter(kind, parameter)) is not None
    )


def declared_parameter(call: Any, parameter: inspect.Parameter) -> OptionSpec | None:
    """Return a parameter of `call` as an option, None where it is not declared as one."""
    for hint, opt in _declaration(call, parameter.name):
        return OptionSpec(
            name=parameter.name,
            hint=hint,
            default=parameter.default,
            opt=opt,
            variadic=parameter.kind is inspect.Parameter.VAR_POSITIONAL,
        )
    return None


def identity_of(options: Any, *, later: Collection[str]) -> dict[str, Any]:
    """Return a dataclass of options by name, as runs are identified.

    The options `later` are there only where they are set: runs of versions without them go on.
    """
    defaults = {field.name: field.default for field in fields(options)}
    return {
        name: value
        for name, value in asdict(options).items()
        if name not in later or value != defaults[name]
    }


def _declaration(kind: Any, name: str) -> Iterator[tuple[Any, Opt]]:
    """Yield the type and the metadata of a field or a parameter that is an option."""
    try:
        hint = hint_of(kind, name)
    except (KeyError, NameError):
        if "Opt(" in str(kind.__annotations__.get(name)):
            raise
        return
    if get_origin(hint) is Annotated:
        bare, *declarations = get_args(hint)
        for opt in declarations:
            if isinstance(opt, Opt):
                yield bare, opt


def hint_of(kind: Any, name: str) -> Any:
    """Return the type of one field or parameter, without resolving the types of the others.

    Raises
    ------
    KeyError
        If it is not annotated.
    NameError
        If its type names what is not imported.
    """
    alone = type("", (), {"__annotations__": {name: kind.__annotations__[name]}})
    module = vars(sys.modules[kind.__module__])
    return get_type_hints(alone, globalns=module, include_extras=True)[name]
