"""HTML and SVG elements. Text is escaped unless it is `Markup`, which only `element` makes."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from fairjudge.reports.tables import TextTable

_VOID = frozenset({"meta", "br"})
_LONG = 24
"""Characters from which on a cell's text needs room to wrap into."""


@dataclass(frozen=True, slots=True)
class Markup:
    """Finished HTML."""

    text: str


def element(name: str, /, *children: str | Markup, **attributes: str | float | None) -> Markup:
    """Return an element; text children and attribute values are escaped.

    ``class_`` stands for ``class`` and ``stroke_width`` for ``stroke-width``; an attribute that is
    None is left out.
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{shown}>")
    return Markup(f"<{name}{shown}>{join(*children).text}</{name}>")


def join(*parts: str | Markup) -> Markup:
    """Return the parts one after the other, text escaped."""
    return Markup("".join(part.text if isinstance(part, Markup) else _text(part) for part in parts))


def html_table(table: TextTable, *, sortable: bool = False) -> Markup:
    """Return a table in a box that the keyboard can scroll, its notes below it.

    The page's script lets readers sort a `sortable` one by its headings.
    """
    aligned = [column.align for column in table.columns]
    head = element(
        "tr",
        *(
            element("th", column.heading, scope="col", class_=column.align)
            for column in table.columns
        ),
    )
    body = [
        element(
            "tr",
            *(
                element(
                    "td" if place else "th",
                    cell,
                    class_=f"{align} long" if align == "left" and len(cell) > _LONG else align,
                    scope=None if place else "row",
                )
                for place, (cell, align) in enumerate(zip(row, aligned, strict=True))
            ),
        )
        for row in table.rows
    ]
    shown = element(
        "table",
        element("caption", table.title),
        element("thead", head),
        element("tbody", *body),
        class_="sortable" if sortable else None,
    )
    box = element("div", shown, class_="wide", tabindex=0, role="group", aria_label=table.title)
    return join(box, *(element("p", note, class_="note") for note in table.notes))


def _value(value: str | float) -> str:
    return escape(_shown(value) if isinstance(value, str) else f"{value:.6g}", quote=True)


def _text(text: str) -> str:
    return escape(_shown(text), quote=False)


def _shown(text: str) -> str:
    """Put spaces for control characters, which HTML does not allow."""
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in text)
