"""A table as a value: prints as text, shows in notebooks, turns into a data frame."""

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
    """Rows with named, unrounded values, and how they are shown.

    ``rows`` has one mapping a row; ``shown`` is the same for readers, with its notes. A leaderboard
    has ``figures`` too, which ``plot`` draws.
    """

    rows: tuple[Row, ...]
    shown: TextTable
    figures: Sequence[Drawing] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Row:
        return self.rows[place]

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
        """Return the table as CSV, as it is shown; ``to_pandas`` has its numbers."""
        return to_csv(self.shown)

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``, one row a row; it takes the extra [pandas].

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
    """Return a table of `rows` that shows the columns `names`, of which `numbers` stand right."""
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
