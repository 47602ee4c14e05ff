"""A finished report: a page to save, or to show in a notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from fairjudge.records.folder import write_output

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
