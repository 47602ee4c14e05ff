"""The frame of a self-contained page: its policy, style, script and data.

The page loads nothing. Its own Content-Security-Policy lets exactly this style sheet and this
script through, by hash; a script or style that came in with a text would not run even if it were
not escaped.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.reports.drawing import can_draw
from fairjudge.reports.markup import Markup, element, join

_FOLDER = Path(__file__).parent
_TABLES = ("dom.js", "tables.js", "page.js")
_BROWSING = ("dom.js", "tables.js", "judgements.js", "stories.js", "page.js")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a page with its heading; ``id`` is what the contents link to."""

    id: str
    title: str
    parts: tuple[Markup, ...]


def document(
    sections: Sequence[Section],
    *,
    title: str,
    lead: Markup | None = None,
    data: Mapping[str, Any] | None = None,
) -> str:
    """Return a whole page.

    Parameters
    ----------
    lead
        Stands under the title.
    data
        What the script looks through, as JSON.
    """
    style, script = page_style(), page_script(_TABLES if data is None else _BROWSING)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(style)),
    )
    contents = [
        element("li", element("a", section.title, href=f"#{section.id}")) for section in sections
    ]
    body = element(
        "body",
        element("a", "Skip to the content", href="#main", class_="skip"),
        element("header", element("h1", title), *([lead] if lead else []), *_without_plots()),
        element(
            "div",
            element("nav", element("ul", *contents), aria_label="Contents"),
            element("main", *map(_section, sections), id="main", tabindex=-1),
            class_="columns",
        ),
        *(
            [element("script", _json(data), type="application/json", id="data")]
            if data is not None
            else []
        ),
        element("script", Markup(script)),
    )
    page = "<!DOCTYPE html>\n" + element("html", head, body, lang="en").text + "\n"
    return page.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def needs_script(what: str) -> Markup:
    """Return what stands where the script will put `what`, for readers who run none."""
    return element(
        "noscript", element("p", f"{what} needs JavaScript, which is off.", class_="note")
    )


def _without_plots() -> Iterator[Markup]:
    """Yield what a page says that carries its tables alone."""
    if not can_draw():
        install = element("code", "pip install 'fairjudge[plots]'")
        yield element("p", "Without its plots, which need ", install, ".", class_="note")


def page_style() -> str:
    """Return the style sheet of all pages."""
    return _FOLDER.joinpath("page.css").read_text("utf-8")


def page_script(names: Sequence[str]) -> str:
    """Return one script of the files `names`, which share one scope."""
    parts = "\n".join(_FOLDER.joinpath(name).read_text("utf-8") for name in names)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _section(section: Section) -> Markup:
    heading = element("h2", section.title, id=section.id)
    return element("section", heading, join(*section.parts), aria_labelledby=section.id)


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _json(data: Mapping[str, Any]) -> Markup:
    """Return JSON that no text in it can break out of: it holds no ``<``, ``>`` or ``&``."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
