"""Columns of the calls to language models and their costs."""

from __future__ import annotations

from typing import Final

from fairjudge.reports.figures import Json

SPENT_COLUMNS: Final = (
    "calls> {n_calls} | from the cache> {n_cached} | tokens in> {tokens_in}"
    " | tokens out> {tokens_out} | US dollars> {cost_usd:dollars}"
)
"""Columns of a table whose rows `spent_row` completes."""


def spent_row(spent: Json, **more: str | float | None) -> Json:
    """Return the fields of `SPENT_COLUMNS` from ``spent`` of a command's JSON, and `more`."""
    tokens = spent.get("tokens") or {}
    return {
        **{name: spent[name] for name in ("n_calls", "n_cached", "cost_usd")},
        **{f"tokens_{name[:-3]}": tokens.get(name, "-") for name in ("input", "output")},
        **more,
    }
