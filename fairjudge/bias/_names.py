"""Names as the bias measures compare them."""

from __future__ import annotations

import re
import unicodedata

_NAME_TOKEN = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?=\s|$)", re.IGNORECASE)


def name_tokens(text: str) -> list[str]:
    """Split a name into lower-case tokens; full stops, numbers and the possessive are dropped.

    ``"Mr. O'Brien-Smith's"`` is ``mr``, ``o'brien-smith``.
    """
    plain = _POSSESSIVE.sub("", unicodedata.normalize("NFC", text)).replace("’", "'")
    return [token.lower() for token in _NAME_TOKEN.findall(plain)]
