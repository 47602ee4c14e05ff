"""Names of annotators: which spellings are one person, and which may be a slip."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher

_NEAR = 0.8
"""Part of two names, in [0, 1], that must be alike for one to be taken for the other by mistake."""


def folded(name: str) -> str:
    """Return a name without case and width, such as of full-width letters."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def known_as(name: str, known: Iterable[str]) -> str | None:
    """Return the name that a person is known by already, whatever its case or width."""
    every = tuple(known)
    if name in every:
        return name
    return next((other for other in every if folded(other) == folded(name)), None)


def similar(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like `name`, None where none is near."""
    near = {other: SequenceMatcher(None, folded(other), folded(name)).ratio() for other in known}
    best = max(near, key=lambda one: near[one], default=None)
    return best if best is not None and near[best] >= _NEAR else None
