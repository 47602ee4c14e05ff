"""Self-contained HTML pages of parts, by Jinja2; all text is escaped there.

A page loads nothing. Its own Content-Security-Policy lets exactly this style sheet and this script
through, by hash; a script or style that came in with a text would not run even if it were not
escaped. Images are only what the script itself draws (``blob:``), to save a figure as PNG.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairjudge.records.folder import write_output
from fairjudge.reports.parts import Fold, Group, Heading, Part, Plot, Section
from fairjudge.reports.svg import can_draw, to_svg
from fairjudge.reports.tables import TextTable

if TYPE_CHECKING:
    from jinja2 import Environment


_FOLDER = Path(__file__).parent
_TABLES = ("dom.js", "save.js", "tables.js", "page.js")
_BROWSING = (
    "dom.js", "save.js", "tables.js", "judgements.js", "judgement_view.js", "explorer.js",
    "evidence.js", "stories.js", "page.js",
)  # fmt: skip


def page_html(
    sections: Sequence[Section],
    *,
    title: str,
    counts: Mapping[str, int] | None = None,
    data: Mapping[str, Any] | None = None,
) -> str:
    """Return a whole page: `counts` stand under the title, the script looks through `data`."""
    style = _FOLDER.joinpath("page.css").read_text("utf-8")
    names = _TABLES if data is None else _BROWSING
    parts = "\n".join(_FOLDER.joinpath(name).read_text("utf-8") for name in names)
    script = f'"use strict";\n(() => {{\n{parts}}})();\n'
    page = (
        _environment()
        .get_template("page.html")
        .render(
            sections=sections,
            title=title,
            counts=counts or {},
            data=None if data is None else _json(data),
            style=style,
            script=script,
            hashes={"style": _digest(style), "script": _digest(script)},
            has_plots=can_draw(),
            next_anchor=partial(next, anchors(sections)),
        )
    )
    return page.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def table_html(*tables: TextTable) -> str:
    """Return tables as HTML for notebooks, each in a box that the keyboard can scroll."""
    module: Any = _environment().get_template("parts.html").module
    return "".join(module.table(table) for table in tables)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("fairjudge.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_without_control_characters,
    )
    environment.filters["svg"] = to_svg
    environment.filters["title_of"] = title_of
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment


def _without_control_characters(value: Any) -> Any:
    """Put spaces for control characters, which HTML does not allow."""
    if type(value) is not str:
        return value
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in value)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _json(data: Mapping[str, Any]) -> str:
    """Return JSON that no text in it can break out of: it holds no ``<``, ``>`` or ``&``."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


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


_HEIGHT = 720
"""Pixels that a notebook gives to the page; it scrolls within."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A self-contained HTML page. Shown by notebooks in a frame of its own."""

    html: str = field(repr=False)
    title: str

    def save(self, path: str | Path) -> None:
        """Write the page to `path`, whole or not at all.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        write_output(Path(path), self.html)

    def _repr_html_(self) -> str:
        """Return the page in a frame: its script sees nothing of the notebook, nor the reverse.

        All in ASCII: read in another encoding than ours the script would not be the one that the
        page's policy allows, and a notebook that is saved need not say which it is in.
        """
        page = escape(self.html).encode("ascii", "xmlcharrefreplace").decode()
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts allow-modals" '
            f'width="100%" height="{_HEIGHT}" srcdoc="{page}"></iframe>'
        )
