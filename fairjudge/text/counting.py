"""Numbers with their nouns, in messages and tables."""

from __future__ import annotations


def pluralize(n: int, one: str, several: str | None = None) -> str:
    """Return `n` with its noun: ``"1 document"``, ``"2 documents"``."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"
