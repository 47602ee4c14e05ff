"""Long ids shortened in the middle, ``start…end``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

_ID = re.compile(r"[!-~]+")
"""A word of ASCII characters; text in scripts without spaces is never shortened."""
_WORD = re.compile(r"\S+")
_MORE = 4
"""Characters more that ids keep at one end where they would be equal."""


def shorten_ids(texts: Iterable[str], *, limit: int) -> dict[str, str]:
    """Return `texts` by their whole form, ids in them of more than `limit` characters shortened.

    Different ids stay different: those that would be equal keep a longer start or end.
    """
    every = list(dict.fromkeys(texts))
    start, end = limit // 2, (limit - 1) // 2
    groups: dict[str, set[str]] = defaultdict(set)
    for word in _WORD.findall("\n".join(every)):
        if _ID.fullmatch(word):
            groups[_shortened(word, start, end)].add(word)
    short: dict[str, str] = {}
    for group in groups.values():
        short |= _distinct(group, start, end)
    return {text: _WORD.sub(lambda word: short.get(word[0], word[0]), text) for text in every}


def _distinct(words: set[str], start: int, end: int) -> dict[str, str]:
    """Return forms of `words` that differ, with longer starts or else longer ends."""
    more = 0
    while True:
        for ends in ((start + more, end), (start, end + more)):
            short = {word: _shortened(word, *ends) for word in words}
            if len(set(short.values())) == len(words):
                return short
        more += _MORE


def _shortened(word: str, start: int, end: int) -> str:
    return word if len(word) <= start + 1 + end else f"{word[:start]}…{word[-end:]}"
