"""No sentence without its figure: what is said is compared with the tables beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fairjudge.reports.tables import TextTable

NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?![\w])")
CONVENTIONS = ("95 %", "p < 0.05", "margin 0.2", "5 summaries", "--max-unscored 0.05")
"""Numbers that say how something is tested, and are no figure."""
ADVICE = "Next: "


def numbers(text: str) -> set[str]:
    """Return the numbers of a text without their signs, but those that are part of a name."""
    return {item.lstrip("+-").replace(",", "") for item in NUMBER.findall(text.replace("%", " "))}


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


def without_figure(sentences: Iterable[str], tables: Iterable[str]) -> list[str]:
    """Return the sentences that have a number which nothing shown has, rounded or not."""
    figures = _figures(tables)
    return [
        f"{sentence!r} has {lacking}"
        for sentence in sentences
        if (lacking := sorted(numbers(_claim(sentence)) - figures))
    ]


def altered(sentences: Iterable[str], tables: Iterable[str]) -> Iterator[str]:
    """Yield each sentence once for each of its numbers, with a digit changed to what is nowhere."""
    figures = _figures(tables)
    for sentence in map(_claim, sentences):
        for match in NUMBER.finditer(sentence):
            for digit in "0123456789":
                other = match[0][:-1] + digit
                if other.lstrip("+-").replace(",", "") not in figures:
                    yield sentence[: match.start()] + other + sentence[match.end() :]
                    break


def _figures(tables: Iterable[str]) -> set[str]:
    """Return every number that is shown, and those with decimals as whole numbers too."""
    figures = {number for text in tables for number in numbers(text.replace("-", " -"))}
    return figures | {str(round(float(item))) for item in figures if "." in item}


def _claim(sentence: str) -> str:
    """Return a sentence without what is no figure; nothing of advice."""
    if sentence.startswith(ADVICE):
        return ""
    for convention in CONVENTIONS:
        sentence = sentence.replace(convention, "")
    return sentence
