"""Suggest the most similar name in errors about unknown names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return ``"; did you mean 'NAME'?"`` for the closest name (ignoring case), or ``""``."""
    names_by_key = {candidate.casefold(): candidate for candidate in names}
    matches = get_close_matches(name.casefold(), names_by_key, n=1)
    return f"; did you mean {names_by_key[matches[0]]!r}?" if matches else ""
