"""Tables that print as text, display in notebooks, and convert to data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairjudge.api.results import HasFigures, to_pandas
from fairjudge.reports.pages import table_html
from fairjudge.reports.tables import TextTable, columns, to_csv, to_latex, to_markdown, to_text

if TYPE_CHECKING:
    from fairjudge.reports.drawing import Drawing

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Table(HasFigures):
    """A table with unrounded values and their formatted display.

    ``rows`` has one mapping per row; ``shown`` is the formatted table with notes. Leaderboards
    also have ``figures``, which ``plot`` draws.
    """

    rows: tuple[Row, ...]
    shown: TextTable
    figures: Sequence[Drawing] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def __str__(self) -> str:
        return to_text(self.shown)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return table_html(self.shown)

    def _figures(self) -> Sequence[Drawing]:
        return self.figures

    def to_markdown(self) -> str:
        """Return the table as GitHub Markdown."""
        return to_markdown(self.shown)

    def to_latex(self) -> str:
        """Return the table as a LaTeX float with the rules of the package booktabs."""
        return to_latex(self.shown)

    def to_csv(self) -> str:
        """Return the formatted table as CSV; ``to_pandas`` has unrounded numbers."""
        return to_csv(self.shown)

    def to_pandas(self) -> Any:
        """Return the rows as a ``pandas.DataFrame``; requires the extra ``[pandas]``.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return to_pandas(self.rows)


def table_of(
    title: str,
    rows: Sequence[Row],
    names: Sequence[str],
    *,
    numbers: Sequence[str] = ("value",),
    notes: Sequence[str] = (),
) -> Table:
    """Return a table of `rows` with the columns `names`; `numbers` are right-aligned."""
    text_table = TextTable(
        title=title,
        columns=columns(*names, numbers=numbers),
        rows=tuple(tuple(_cell(row[name]) for name in names) for row in rows),
        notes=tuple(notes),
    )
    return Table(tuple(rows), text_table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "" if value is None else str(value)
