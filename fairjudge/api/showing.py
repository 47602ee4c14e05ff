"""Several tables as one text, and as one piece of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from fairjudge.reports.pages import table_html
from fairjudge.reports.tables import TextTable, to_text


def texts(tables: Sequence[TextTable]) -> str:
    """Return the tables as text, one under the other."""
    return "\n".join(map(to_text, tables))


def pages(tables: Sequence[TextTable]) -> str:
    """Return the tables as HTML, one under the other."""
    return table_html(*tables)
