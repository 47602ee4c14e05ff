"""Ids of a page's figures and tables, so that each can be linked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fairjudge.reports.parts import Fold, Group, Heading, Part, Plot, Section
from fairjudge.reports.tables import TextTable

_OTHER = re.compile(r"[\W_]+")


def anchors(sections: Iterable[Section]) -> Iterator[str]:
    """Yield an id for each figure and table, in the page's order.

    It is made of the section, the headings above and the title, none of which other parts of the
    page change: ``table-trust-quality-by-gpt-bias``. Those alike in all of it are numbered.
    """
    ids: set[str] = set()
    for section in sections:
        for words in _words(section.parts, (section.id,)):
            name, n = "-".join(words), 1
            while (numbered := name if n == 1 else f"{name}-{n}") in ids:
                n += 1
            ids.add(numbered)
            yield numbered


def title_of(part: Plot | TextTable) -> str:
    """Return a table's title, or a figure's, which ends at the colon of its name."""
    return part.title if isinstance(part, TextTable) else part.figure.name.split(": ")[0]


def _words(parts: Iterable[Part], above: tuple[str, ...]) -> Iterator[list[str]]:
    headings: list[Heading] = []
    for part in parts:
        under = (*above, *(heading.text for heading in headings))
        if isinstance(part, Heading):
            headings = [heading for heading in headings if heading.level < part.level] + [part]
        elif isinstance(part, Group):
            yield from _words(part.parts, under)
        elif isinstance(part, Fold):
            # what a summary says after its colon are results, such as a count
            yield from _words(part.parts, (*under, part.summary.split(": ")[0]))
        elif isinstance(part, Plot | TextTable):
            kind = "table" if isinstance(part, TextTable) else "figure"
            slugs = (_OTHER.sub("-", text.lower()).strip("-") for text in (*under, title_of(part)))
            yield [kind, *dict.fromkeys(filter(None, slugs))]
