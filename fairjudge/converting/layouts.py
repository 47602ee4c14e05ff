"""A layout: its name, the records that it gives, and its reader."""

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

    ``keys`` are columns, folded, that name the clusters of another file.
    """

    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    group: str | None = None
    split: str | None = None
    attributes: tuple[str, ...] = ()
    system: str | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    keys: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that the user names."""
        mapped = (column for spec in self.columns.values() for column in column_names(spec))
        return (*mapped, *((self.group, *self.attributes) if self.group else ()))

    @property
    def is_explicit(self) -> bool:
        """Whether the user says where things stand, so that no data set is to be guessed."""
        return bool(self.columns or self.group or self.split)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a file is read.

    ``gives`` are the kinds of records that come of it; ``unused`` says, after ``entries`` was gone
    through, of which columns nothing was made. ``group`` is the column that groups rows, and
    ``numbered`` counts the rows where their numbers are the ids of clusters; ``roles`` say what
    the columns of rows hold.
    """

    name: str
    gives: frozenset[Kind]
    entries: Callable[[], Iterable[Entry]]
    unused: Callable[[], tuple[str, ...]] = tuple
    group: str | None = None
    numbered: int | None = None
    roles: Roles | None = None
