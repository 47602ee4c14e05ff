"""No sentence without its figure: what is said is compared with the tables beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fairjudge.reports.tables import TextTable

NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?![\w])")
CONVENTIONS = ("95 %", "p < 0.05", "(95%", "margin 0.2", "5 summaries", "--max-unscored 5%")
"""Numbers that say how something is tested, and are no figure."""
ADVICE = "Next: "


def numbers(text: str) -> set[str]:
    """Return the numbers of a text without their signs, but those that are part of a name."""
    return {one.lstrip("+-").replace(",", "") for one in NUMBER.findall(text.replace("%", " "))}


def texts_of(tables: Iterable[TextTable]) -> list[str]:
    """Return all that tables show: titles, headings, cells and notes."""
    return [
        text
        for table in tables
        for text in (
            table.title,
            *table.notes,
            *(column.heading for column in table.columns),
            *(cell for row in table.rows for cell in row),
        )
    ]


def without_figure(said: Iterable[str], shown: Iterable[str]) -> list[str]:
    """Return the sentences that have a number which nothing shown has, rounded or not."""
    known = {number for text in shown for number in numbers(text.replace("-", " -"))}
    known |= {str(round(float(one))) for one in known if "." in one}
    out = []
    for sentence in said:
        if sentence.startswith(ADVICE):
            continue
        text = sentence
        for convention in CONVENTIONS:
            text = text.replace(convention, "")
        if lacking := sorted(numbers(text) - known):
            out.append(f"{sentence!r} has {lacking}")
    return out
