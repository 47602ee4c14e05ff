"""Base classes of results: Matplotlib plots, tables of a command's JSON, records."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from fairjudge.domain import Record
from fairjudge.errors import ConfigurationError, needs_extra
from fairjudge.reports.pages import table_html
from fairjudge.reports.tables import TextTable, to_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairjudge.reports.drawing import Drawing

R = TypeVar("R", bound=Record)


class HasFigures:
    """A result with the plots of its command's HTML page."""

    __slots__ = ()

    @abstractmethod
    def _figures(self) -> Sequence[Drawing]: ...

    @property
    def plots(self) -> tuple[str, ...]:
        """The titles of the plots that `plot` can draw."""
        return _titles(self._figures())

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Axes:
        """Draw a plot on `ax`, or on new axes, and return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on.
        name : str, optional
            Part of a title in ``plots``, ignoring case; by default the first plot.

        Raises
        ------
        ConfigurationError
            If there is no such plot, or Matplotlib (the extra ``[plots]``) is not installed.
        """
        from fairjudge.reports.svg import on_axes

        drawings = self._figures()
        titles = _titles(drawings)
        for title, drawing in zip(titles, drawings, strict=True):
            if (name or "").casefold() in title.casefold():
                return on_axes(drawing, ax)
        if not titles:
            raise ConfigurationError("plot: this result has no figures")
        raise ConfigurationError(f"name: no figure {name!r}; there are: {'; '.join(titles)}")


def _titles(drawings: Sequence[Drawing]) -> tuple[str, ...]:
    return tuple(drawing.name.partition(": ")[0] for drawing in drawings)


class CommandResult(HasFigures):
    """The result of the command ``kind``, with the tables and plots of its JSON."""

    __slots__ = ()
    kind: str

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return findings and results as plain values, as in the command's ``--json``."""

    def _json(self) -> Mapping[str, Any]:
        return self.to_dict()

    def tables(self) -> tuple[TextTable, ...]:
        """Return the tables that the command prints."""
        from fairjudge.reports.kinds import make_tables

        return make_tables(self.kind, self._json())

    def _figures(self) -> Sequence[Drawing]:
        from fairjudge.reports.report_page import make_figures

        return make_figures(self.kind, self._json())

    def __repr__(self) -> str:
        return "\n".join(map(to_text, self.tables()))

    def _repr_html_(self) -> str:
        return table_html(*self.tables())


class Records(Sequence[R]):
    """A sequence of records of one kind, with `save` and `to_pandas`."""

    __slots__ = ()

    @property
    @abstractmethod
    def _records(self) -> Sequence[R]: ...

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[R]: ...
    def __getitem__(self, index: int | slice) -> R | Sequence[R]:
        return self._records[index]

    def __iter__(self) -> Iterator[R]:
        return iter(self._records)

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``, one row per record; requires the extra ``[pandas]``.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return to_pandas([record.to_json() for record in self])

    def save(self, path: str | Path) -> None:
        """Write the records to a .json or .jsonl file.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        from fairjudge.datasets import write_records

        write_records(path, self._records)


def to_pandas(rows: Any) -> Any:
    """Return mappings as a ``pandas.DataFrame``; raise MissingExtraError without pandas."""
    with needs_extra("to_pandas()", extra="pandas"):
        import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    return pd.DataFrame.from_records([dict(row) for row in rows])
