"""Names as the bias measures compare them."""

from __future__ import annotations

import re
import unicodedata

_NAME_TOKEN = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
TITLES = frozenset({"mr", "mrs", "ms", "miss", "mx", "sir", "lady", "lord", "dame", "dr", "prof"})
"""Tokens that a text may put before a name without making it another one."""
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
"""Tokens that may follow a last name and are none."""

_POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?=\s|$)", re.IGNORECASE)


def name_tokens(text: str) -> list[str]:
    """Split a name into lower-case tokens; full stops, numbers and the possessive are dropped.

    ``"Mr. O'Brien-Smith's"`` is ``mr``, ``o'brien-smith``.
    """
    plain = _POSSESSIVE.sub("", unicodedata.normalize("NFC", text)).replace("’", "'")
    return [token.lower() for token in _NAME_TOKEN.findall(plain)]


def bare_name(text: str) -> list[str]:
    """Return the tokens of a name without the titles before it and the suffixes after it.

    ``"Mr. Tom Orme Jr."`` is ``tom``, ``orme``.
    """
    tokens = name_tokens(text)
    while tokens and tokens[0] in TITLES:
        tokens.pop(0)
    while tokens and tokens[-1] in SUFFIXES:
        tokens.pop()
    return tokens
