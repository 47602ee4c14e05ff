"""Small helpers that the sections share: figures of JSON as text, rows and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from fairjudge.reports.markup import Markup, element
from fairjudge.reports.plots import ForestRow, Mark, forest_plot
from fairjudge.reports.tables import number

Json: TypeAlias = Mapping[str, Any]

PLAIN = Mark(shape="square", filled=True)
OTHER = Mark(shape="circle", filled=False)


def drawn(plot: Markup, caption: str = "") -> Markup:
    """Return a plot as a figure; nothing where there is no plot."""
    if not plot.text:
        return plot
    return element("figure", plot, *([element("figcaption", caption)] if caption else []))


def interval(found: Json | None, *, digits: int = 2) -> str:
    """Return ``value [low, high]``; a dash where there is no value."""
    if found is None or found.get("value") is None:
        return "-"
    value = number(found["value"], digits=digits)
    if found.get("low") is None or found.get("high") is None:
        return value
    return f"{value} [{found['low']:.{digits}f}, {found['high']:.{digits}f}]"


def why(found: Json | None) -> str | None:
    """Return why a figure has no value, None where it has one or gives no reason."""
    if found is None or found.get("value") is not None:
        return None
    reason = found.get("why") or found.get("undefined")
    return None if reason is None else str(reason)


def p_value(p: float | None) -> str:
    """Return a p-value as text, a dash where there is none."""
    if p is None:
        return "-"
    return "< 0.001" if p < 0.001 else number(p, digits=3)


def row(label: str, found: Json | None, *, mark: Mark = PLAIN, digits: int = 2) -> ForestRow:
    """Return a figure as a row of a forest plot."""
    known = found if found is not None and found.get("value") is not None else {}
    return ForestRow(
        label=label,
        value=known.get("value"),
        low=known.get("low"),
        high=known.get("high"),
        text=interval(found, digits=digits) if known else "undefined",
        mark=mark,
    )


def forest(
    rows: Sequence[ForestRow],
    *,
    title: str,
    across: str,
    span: tuple[float, float] | None = None,
    caption: str = "",
) -> Markup:
    """Return a forest plot as a figure, named by its title and all its rows.

    Nothing where no row has a value: the table beside it says why.
    """
    if all(one.value is None for one in rows):
        return Markup("")
    said = "; ".join(f"{one.label} {one.text}" for one in rows)
    return drawn(forest_plot(rows, name=f"{title}: {said}", across=across, span=span), caption)
