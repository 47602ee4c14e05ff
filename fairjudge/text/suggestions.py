"""Suggest the most similar name in errors about unknown names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return ``"; did you mean 'NAME'?"`` for the closest of `names`, case aside; else ``""``."""
    folded = {other.casefold(): other for other in names}
    close = get_close_matches(name.casefold(), folded, n=1)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""
