"""Checks that every number in a sentence appears in the tables next to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fairjudge.reports.tables import TextTable

NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?![\w])")
CONVENTIONS = ("95 %", "p < 0.05", "margin 0.2", "5 summaries", "--max-unscored 0.05")
"""Numbers that say how something is tested, and are no figure."""
ADVICE = "Next: "


def numbers(text: str) -> set[str]:
    """Return the unsigned numbers in a text, except those in names."""
    return {item.lstrip("+-").replace(",", "") for item in NUMBER.findall(text.replace("%", " "))}


def texts_of(tables: Iterable[TextTable]) -> list[str]:
    """Return the texts of tables: titles, headings, cells and notes."""
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


def without_figure(sentences: Iterable[str], tables: Iterable[str]) -> list[str]:
    """Return the sentences with a number that no table contains, exact or rounded."""
    figures = _figures(tables)
    return [
        f"{sentence!r} has {lacking}"
        for sentence in sentences
        if (lacking := sorted(numbers(_claim(sentence)) - figures))
    ]


def altered(sentences: Iterable[str], tables: Iterable[str]) -> Iterator[str]:
    """Yield each sentence once per number, with a changed digit that appears in no table."""
    figures = _figures(tables)
    for sentence in map(_claim, sentences):
        for match in NUMBER.finditer(sentence):
            for digit in "0123456789":
                other = match[0][:-1] + digit
                if other.lstrip("+-").replace(",", "") not in figures:
                    yield sentence[: match.start()] + other + sentence[match.end() :]
                    break


def _figures(tables: Iterable[str]) -> set[str]:
    """Return all numbers in the tables, and those with decimals also without the decimal point."""
    figures = {number for text in tables for number in numbers(text.replace("-", " -"))}
    return figures | {str(round(float(item))) for item in figures if "." in item}


def _claim(sentence: str) -> str:
    """Return a sentence without parts that are not results; empty for advice."""
    if sentence.startswith(ADVICE):
        return ""
    for convention in CONVENTIONS:
        sentence = sentence.replace(convention, "")
    return sentence
