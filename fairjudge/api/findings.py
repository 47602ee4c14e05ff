"""Results of audits and bias measures, as a mapping, a table and a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeGuard

from fairjudge.api.results import CommandResult
from fairjudge.api.tables import Table
from fairjudge.reports.tables import TextTable, columns, number

_LABELS = ("judge", "aspect", "protocol", "system", "system_a", "system_b", "probe", "name")


@dataclass(frozen=True, slots=True, repr=False)
class Findings(Mapping[str, Any], CommandResult):
    """Results by name, as in the command's ``--json``; printed as tables.

    ``kind`` is the command, such as ``"audit position"``. `fairjudge.report` accepts findings too.
    """

    kind: str
    figures: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.figures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.figures)

    def __len__(self) -> int:
        return len(self.figures)

    @property
    def findings(self) -> tuple[str, ...]:
        """The main results in a few sentences."""
        from fairjudge.reports.kinds import make_findings

        return make_findings(self.kind, self.figures)

    def to_dict(self) -> dict[str, Any]:
        """Return findings and results as plain values, ready for JSON."""
        from fairjudge.reports.kinds import with_findings

        return with_findings(self.kind, self.figures)

    def table(self) -> Table:
        """Return one row per number: its group ``of``, ``figure``, ``value``, ``low`` and ``high``.

        ``why`` is the reason for a missing value.
        """
        rows = tuple(_rows(self.figures, of=(), figure=()))
        text_table = TextTable(
            title=self.kind.capitalize(),
            columns=columns("of", "figure", "value", numbers=("value",)),
            rows=tuple((row["of"], row["figure"], _text(row)) for row in rows),
        )
        return Table(rows, text_table)

    def _json(self) -> Mapping[str, Any]:
        return self.figures

    def to_pandas(self) -> Any:
        """Return the table as a ``pandas.DataFrame``."""
        return self.table().to_pandas()

    def __repr__(self) -> str:
        return "\n".join([*self.findings, CommandResult.__repr__(self)])

    def _repr_html_(self) -> str:
        paragraphs = "".join(f"<p>{escape(finding)}</p>" for finding in self.findings)
        return paragraphs + CommandResult._repr_html_(self)


def _rows(
    figures: Mapping[str, Any], *, of: tuple[str, ...], figure: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield a row per number in nested results, with the labels of its group and its name."""
    labels = (figures[label] for label in _LABELS if label in figures)
    of = (*of, *(name for name in labels if isinstance(name, str)))
    for name, value in figures.items():
        path = (*figure, name)
        if isinstance(value, Mapping) and "value" in value and "eid" not in value:
            yield _row(of, path, value)
            yield from _rows(_parts(value), of=of, figure=path)
        elif isinstance(value, Mapping):
            yield from _rows(value, of=of, figure=path)
        elif _are_mappings(value):
            for entry in value:
                if "eid" not in entry:  # skip single items
                    yield from _rows(entry, of=of, figure=figure)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield _row(of, path, {"value": value})


def _parts(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results nested in a result, such as those of its groups."""
    return {
        name: part
        for name, part in figure.items()
        if isinstance(part, Mapping)
        and (
            "value" in part or (part and all(isinstance(entry, Mapping) for entry in part.values()))
        )
    }


def _are_mappings(value: object) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    return all(isinstance(entry, Mapping) for entry in value)


def _row(of: tuple[str, ...], figure: tuple[str, ...], value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "of": ", ".join(of),
        "figure": ", ".join(figure).replace("_", " "),
        **{name: value.get(name) for name in ("value", "low", "high")},
        "why": value.get("why"),
    }


def _text(row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return "-"
    numbers = (row["value"], row["low"], row["high"])
    value, *bounds = (str(n) if isinstance(n, int) else number(n) for n in numbers if n is not None)
    return f"{value} [{', '.join(bounds)}]" if bounds else value
