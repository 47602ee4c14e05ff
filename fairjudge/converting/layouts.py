"""A layout: its name, its kinds of records, and its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairjudge.converting.columns import column_names
from fairjudge.converting.records import Entry, Kind

if TYPE_CHECKING:
    from fairjudge.converting.roles import Roles


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The user's settings for a file: see `fairjudge.convert`.

    ``keys`` are keys of columns with the cluster ids of another file.
    """

    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    group: str | None = None
    split: str | None = None
    attributes: tuple[str, ...] = ()
    system: str | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    keys: tuple[str, ...] = ()

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns in the user's settings."""
        mapped_columns = (column for spec in self.columns.values() for column in column_names(spec))
        return (*mapped_columns, *((self.group, *self.attributes) if self.group else ()))

    @property
    def is_explicit(self) -> bool:
        """Whether the user specifies columns, so that no data set is guessed."""
        return bool(self.columns or self.group or self.split)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a file is read.

    ``kinds`` are the kinds of its records. ``unused`` returns the unused columns, once ``entries``
    are exhausted. ``group`` is the column that groups rows. ``n_numbered`` is the number of rows,
    if row numbers are the ids of clusters. ``roles`` are the roles of the columns.
    """

    name: str
    kinds: frozenset[Kind]
    entries: Callable[[], Iterable[Entry]]
    unused: Callable[[], tuple[str, ...]] = tuple
    group: str | None = None
    n_numbered: int | None = None
    roles: Roles | None = None
