"""Declarations of options, in the type of the field or parameter that contains the value.

A field of a dataclass of options, or a parameter of a call (`fairjudge.api`), is an option if its
type is ``Annotated[..., Opt(...)]``: help, bounds, and the name on a command line. Commands are
generated from these declarations (`fairjudge.cli.parameters`), which also validate calls from
Python and study files (`fairjudge.options.checking`). ``--help`` imports them, so modules that
declare options import nothing slow.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from functools import partial
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
"""The default of a required option."""


@dataclass(frozen=True, slots=True)
class Opt:
    """The metadata of an option, part of the ``Annotated`` type of its field or parameter.

    Parameters
    ----------
    help : str
        A sentence or two, as ``--help`` shows them.
    flag : str, optional
        Its name on a command line; by default its name with dashes, without the ``n_`` of counts.
    former : tuple of str
        Earlier names, which are still accepted.
    ge, le : float, optional
        The smallest and the largest valid value. Pydantic checks them, since this object is
        grouped metadata (annotated-types).
    short : str, optional
        A one-letter name, such as ``"-o"``.
    metavar : str, optional
        The placeholder of its value in ``--help``.
    envvar : str, optional
        The environment variable that sets its default.
    argument : bool
        Whether it is a positional argument on a command line.
    parse : callable, optional
        Converts the text on a command line (each text of a `repeatable` option) to the value;
        raises ValueError for an invalid text.
    repeatable : bool
        Whether an option with `parse` may be repeated; sequences without `parse` always may.
    merge : callable, optional
        Merges the values of a `repeatable` option into one.
    reader : callable, optional
        Reads the value from a file of the command line; called with its path and ``skip_bad``.
    choices : callable, optional
        Returns the valid texts, where a registry has them. It is called late, for help and checks,
        since it may import heavy modules.
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
    reader: Callable[..., Any] | None = None
    choices: Callable[[], Collection[str]] | None = None
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
        if self.choices is not None:
            from pydantic import AfterValidator

            yield AfterValidator(partial(_check_choice, self.choices))


def _check_choice(choices: Callable[[], Collection[str]], text: str) -> str:
    from pydantic_core import PydanticKnownError

    if text not in (names := tuple(choices())):
        first = ", ".join(map(repr, names[:-1]))
        raise PydanticKnownError("literal_error", {"expected": f"{first} or {names[-1]!r}"})
    return text


Seed: TypeAlias = Annotated[int, Opt("Random seed of all resampling.", ge=0)]
Resamples: TypeAlias = Annotated[int, Opt("Number of bootstrap resamples.", ge=100)]
Level: TypeAlias = Annotated[float, Opt("Confidence level of intervals.", ge=0.5, le=0.999)]
MaxUnscored: TypeAlias = Annotated[
    float,
    Opt("Exit with code 3 if a larger share is unscored.", ge=0.0, le=1.0, panel="Limits"),
]
Annotators: TypeAlias = Annotated[
    str | Sequence[str],
    Opt("Only use labels of annotators whose name matches, e.g. 'expert*'.", panel="Input"),
]


def label_scale(text: str) -> tuple[float, float]:
    """Parse the lowest and the highest label of ``LOW-HIGH``.

    Raises
    ------
    ValueError
        If `text` is no such range.
    """
    match = re.fullmatch(r"(-?\d{1,6}(?:\.\d{1,6})?)-(\d{1,6}(?:\.\d{1,6})?)", text, re.ASCII)
    low, high = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if not low < high:
        raise ValueError(f"expected LOW-HIGH such as 1-5, got {text!r}")
    return low, high


def column_map(text: str) -> dict[str, tuple[str, ...]]:
    """Parse ``field=column,field=column`` to columns by field; a field may be repeated.

    Raises
    ------
    ValueError
        If `text` is no such list.
    """
    return merge_columns({name: (column,)} for name, column in parse_pairs(text, "field=column"))


def merge_columns(maps: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """Return the columns of each field in all of `maps`."""
    all_columns: dict[str, tuple[str, ...]] = {}
    for columns_by_field in maps:
        for name, columns in columns_by_field.items():
            all_columns[name] = (*all_columns.get(name, ()), *columns)
    return all_columns


def word_values(text: str) -> dict[str, float]:
    """Parse ``word=number,word=number`` to numbers by word.

    Raises
    ------
    ValueError
        If `text` is no such list.
    """
    values: dict[str, float] = {}
    for word, number in parse_pairs(text, "word=number", last=True):
        try:
            values[word] = float(number)
        except ValueError:
            raise ValueError(f"expected a number for {word!r}, not {number!r}") from None
    return values


def merge_values(maps: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the numbers of the words in all of `maps`."""
    return {word: number for values in maps for word, number in values.items()}


def parse_pairs(text: str, form: str, *, last: bool = False) -> Iterator[tuple[str, str]]:
    """Yield (key, value) of each ``key=value`` in a comma-separated list.

    A part without ``=`` continues the value before its comma, or with `last`, where pairs are
    split at the last ``=``, begins the key after the comma.

    Raises
    ------
    ValueError
        If a pair does not have the format `form`.
    """
    parts: list[str] = []
    for part in text.split(","):
        if parts and "=" not in (parts[-1] if last else part):
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    for part in filter(str.strip, parts):
        key, equals, value = part.rpartition("=") if last else part.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise ValueError(f"expected {form}, not {part.strip()!r}")
        yield key.strip(), value.strip()


LabelScale: TypeAlias = Annotated[
    tuple[float, float] | None,
    Opt(
        "Scale of the labels, such as 0-100. Default: the common scale that most of them fit. "
        "Labels outside it are an error.",
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
        """The section in ``--help``."""
        panel_of_owner: Panel | None = getattr(self.owner, "PANEL", None)
        if panel := self.opt.panel or panel_of_owner:
            return panel
        if self.opt.short == "-o":
            return "Output"
        if self.opt.argument or self.opt.reader is not None:
            return "Input"
        parts = {*self.kinds, *(part for kind in self.kinds for part in get_args(kind))}
        return "Input" if parts & {Path, object} else "Options"

    @property
    def flag(self) -> str:
        """The name on a command line."""
        return self.opt.flag or f"--{self.name.removeprefix('n_').replace('_', '-')}"

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types of the value, without None."""
        parts = get_args(self.hint) if get_origin(self.hint) in {Union, UnionType} else (self.hint,)
        return tuple(part for part in parts if part is not NoneType)

    @property
    def element_type(self) -> Any:
        """The type of one value if the option takes several, else None."""
        if self.variadic:
            return self.hint
        if self.opt.parse is not None or self.opt.reader is not None:
            return str if self.opt.repeatable else None
        sequences = [kind for kind in self.kinds if get_origin(kind) in {tuple, Sequence}]
        return get_args(sequences[0])[0] if sequences else None


def declared_options(kind: Any) -> tuple[OptionSpec, ...]:
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
        if (option := parameter_option(kind, parameter)) is not None
    )


def parameter_option(call: Any, parameter: inspect.Parameter) -> OptionSpec | None:
    """Return the option that a parameter of `call` declares, or None."""
    for hint, opt in _declaration(call, parameter.name):
        return OptionSpec(
            name=parameter.name,
            hint=hint,
            default=parameter.default,
            opt=opt,
            variadic=parameter.kind is inspect.Parameter.VAR_POSITIONAL,
        )
    return None


def identity_of(options: Any, *, omit_if_default: Collection[str]) -> dict[str, Any]:
    """Return a dataclass of options by name, as part of a run's identity.

    Options in `omit_if_default`, which were added in later versions, are omitted if they have their
    default, so that runs of earlier versions can be resumed.
    """
    defaults = {field.name: field.default for field in fields(options)}
    return {
        name: value
        for name, value in asdict(options).items()
        if name not in omit_if_default or value != defaults[name]
    }


def _declaration(kind: Any, name: str) -> Iterator[tuple[Any, Opt]]:
    """Yield the type and the metadata of a field or parameter if it is an option."""
    try:
        hint = type_hint(kind, name)
    except (KeyError, NameError):
        if "Opt(" in str(kind.__annotations__.get(name)):
            raise
        return
    if get_origin(hint) is Annotated:
        bare, *declarations = get_args(hint)
        for opt in declarations:
            if isinstance(opt, Opt):
                yield bare, opt


def type_hint(kind: Any, name: str) -> Any:
    """Return the type of a field or parameter without resolving the types of others.

    Raises
    ------
    KeyError
        If it has no annotation.
    NameError
        If its type contains a name that is not imported.
    """
    owner = type("", (), {"__annotations__": {name: kind.__annotations__[name]}})
    module = vars(sys.modules[kind.__module__])
    return get_type_hints(owner, globalns=module, include_extras=True)[name]
