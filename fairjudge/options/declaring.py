"""How an option is declared: beside the field that holds it, with its help and its bounds.

Commands make their options of these fields (`fairjudge.cli.options`), and calls from Python and
study files check what they are given by them (`fairjudge.options.checking`). ``fairjudge --help``
reads all of them, so that modules which declare options import nothing heavy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints


@dataclass(frozen=True, slots=True)
class Opt:
    """What a field's ``Annotated`` type says of it.

    Parameters
    ----------
    help : str
        A sentence or two, as ``--help`` shows them.
    flag : str, optional
        What it is called on a command line; by default its name, with dashes.
    ge, le : float, optional
        The least and the largest value that it may have; pydantic checks them, where it reads this
        as a group of metadata.
    metavar : str, optional
        What stands for its value in ``--help``.
    """

    help: str = ""
    flag: str | None = None
    ge: float | None = None
    le: float | None = None
    metavar: str | None = None

    @property
    def __is_annotated_types_grouped_metadata__(self) -> Literal[True]:
        return True

    def __iter__(self) -> Iterator[object]:
        from annotated_types import Ge, Le

        if self.ge is not None:
            yield Ge(self.ge)
        if self.le is not None:
            yield Le(self.le)


Seed: TypeAlias = Annotated[int, Opt("Of all resampling.", ge=0)]
Resamples: TypeAlias = Annotated[int, Opt("Of the bootstrap.", ge=100)]
Level: TypeAlias = Annotated[float, Opt("Confidence of intervals.", ge=0.5, le=0.999)]
Positive: TypeAlias = Annotated[int, Opt(ge=1)]
Count: TypeAlias = Annotated[int, Opt(ge=0)]
Share: TypeAlias = Annotated[float, Opt(ge=0, le=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A field that is an option: its name, its type, its default and what is said of it."""

    name: str
    hint: Any
    default: Any
    opt: Opt

    @property
    def flag(self) -> str:
        """What it is called on a command line."""
        return self.opt.flag or f"--{self.name.replace('_', '-')}"

    @property
    def several(self) -> bool:
        """Whether it takes any number of values."""
        return get_origin(self.hint) is tuple


def declared(kind: Any) -> tuple[Declared, ...]:
    """Return the fields of `kind`, a dataclass, that are options, in their order."""
    return tuple(
        Declared(name=field.name, hint=hint, default=field.default, opt=opt)
        for field in fields(kind)
        if str(field.type).startswith("Annotated[")
        for hint, opt in [get_args(hint_of(kind, field.name))]
    )


def hint_of(kind: Any, name: str) -> Any:
    """Return the type of a field or a parameter; of others, it may be that names are not imported.

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
