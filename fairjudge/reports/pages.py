"""Self-contained HTML pages of parts, by Jinja2; all text is escaped there.

A page loads nothing. Its Content-Security-Policy allows exactly this style sheet and this script,
by hash; a script or style injected through a text would not run even if it were not escaped. The
only images are those that the script draws (``blob:``), to save a figure as PNG.
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
_TABLE_SCRIPTS = ("dom.js", "save.js", "tables.js", "page.js")
_EXPLORER_SCRIPTS = (
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
    """Return a whole page, with `counts` under the title and `data` for the explorer."""
    style = _FOLDER.joinpath("page.css").read_text("utf-8")
    names = _TABLE_SCRIPTS if data is None else _EXPLORER_SCRIPTS
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
    """Return tables as HTML for notebooks, each in a box that is scrollable by keyboard."""
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
    environment.filters["part_title"] = part_title
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment


def _without_control_characters(value: Any) -> Any:
    """Replace control characters, which HTML forbids, by spaces."""
    if type(value) is not str:
        return value
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in value)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _json(data: Mapping[str, Any]) -> str:
    """Return JSON that is safe within HTML: without ``<``, ``>`` and ``&``."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


_NON_WORD = re.compile(r"[\W_]+")


def anchors(sections: Iterable[Section]) -> Iterator[str]:
    """Yield an id for each figure and table, in the page's order.

    It consists of the section, the headings above and the title, so that it does not depend on
    other parts of the page: ``table-trust-quality-by-gpt-bias``. Duplicates are numbered.
    """
    ids: set[str] = set()
    for section in sections:
        for words in _anchor_words(section.parts, (section.id,)):
            name, n = "-".join(words), 1
            while (numbered_name := name if n == 1 else f"{name}-{n}") in ids:
                n += 1
            ids.add(numbered_name)
            yield numbered_name


def part_title(part: Plot | TextTable) -> str:
    """Return the title of a table, or of a figure (the part of its name before the colon)."""
    return part.title if isinstance(part, TextTable) else part.figure.name.split(": ")[0]


def _anchor_words(parts: Iterable[Part], outer_words: tuple[str, ...]) -> Iterator[list[str]]:
    headings: list[Heading] = []
    for part in parts:
        words = (*outer_words, *(heading.text for heading in headings))
        if isinstance(part, Heading):
            headings = [heading for heading in headings if heading.level < part.level] + [part]
        elif isinstance(part, Group):
            yield from _anchor_words(part.parts, words)
        elif isinstance(part, Fold):
            # The text after the colon of a summary is a result, such as a count.
            yield from _anchor_words(part.parts, (*words, part.summary.split(": ")[0]))
        elif isinstance(part, Plot | TextTable):
            kind = "table" if isinstance(part, TextTable) else "figure"
            slugs = (
                _NON_WORD.sub("-", text.lower()).strip("-") for text in (*words, part_title(part))
            )
            yield [kind, *dict.fromkeys(filter(None, slugs))]


_HEIGHT = 720
"""Height in pixels of the scrollable page in a notebook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A self-contained HTML page, which notebooks show in a frame."""

    html: str = field(repr=False)
    title: str

    def save(self, path: str | Path) -> None:
        """Write the page to `path` atomically.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        write_output(Path(path), self.html)

    def _repr_html_(self) -> str:
        """Return the page in a sandboxed frame, isolated from the notebook.

        The result is ASCII: if a saved notebook were read in another encoding, the script's hash
        would no longer match the page's policy.
        """
        page = escape(self.html).encode("ascii", "xmlcharrefreplace").decode()
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts allow-modals" '
            f'width="100%" height="{_HEIGHT}" srcdoc="{page}"></iframe>'
        )
