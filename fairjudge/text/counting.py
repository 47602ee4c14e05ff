"""Numbers with nouns, for messages and tables."""

from __future__ import annotations


def pluralize(n: int, singular: str, plural: str | None = None) -> str:
    """Return `n` with its noun: ``"1 document"``, ``"2 documents"``; `plural` if irregular."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def percentage(share: float, *, digits: int = 0) -> str:
    """Return a share as a percentage in text: ``"33 %"`` for ``0.33``."""
    return f"{100.0 * share:.{digits}f} %"
