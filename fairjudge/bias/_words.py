"""Words as the bias measures count them."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_NAME_TOKEN = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?=\s|$)", re.IGNORECASE)


def words(text: str) -> list[str]:
    """Split `text` into lower-case runs of letters and digits: ``"She's"`` is ``she``, ``s``."""
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def name_tokens(text: str) -> list[str]:
    """Split a name into lower-case tokens; full stops, numbers and the possessive are dropped.

    ``"Mr. O'Brien-Smith's"`` is ``mr``, ``o'brien-smith``.
    """
    plain = _POSSESSIVE.sub("", unicodedata.normalize("NFC", text)).replace("’", "'")
    return [token.lower() for token in _NAME_TOKEN.findall(plain)]
