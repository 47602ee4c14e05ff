"""Character folding, the same for every comparison of texts.

Invisible characters (soft hyphens, zero-width characters, directional marks, variation selectors)
are removed, similar hyphens and apostrophes are unified, and letters are composed (Unicode's NFC).
Combining marks and case are kept.
"""

from __future__ import annotations

import unicodedata

QUOTES = "\"'`´‘’‚‛“”„‟′″«»‹›＂＇"
"""Quotation marks and apostrophes that models confuse."""
DASHES = "-‐‑‒–—―−﹘﹣－"
APOSTROPHES = "'‘’‛′＇\u02b9\u02bb\u02bc\u02bd"
"""Characters typed as an apostrophe, Unicode's modifier letters included."""

_INVISIBLE = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Unicode's Default_Ignorable_Code_Point: characters without a visible form."""

_NO_INVISIBLE: dict[int, str | None] = {
    code: None for first, last in _INVISIBLE for code in range(first, last + 1)
}
_TABLE: dict[int, str | None] = {
    **_NO_INVISIBLE,
    **{ord(dash): "-" for dash in DASHES},
    **{ord(mark): "'" for mark in APOSTROPHES},
}


def fold(text: str) -> str:
    """Return `text` composed, without invisible characters, with look-alikes unified."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_TABLE))


def strip_invisible(text: str) -> str:
    """Return `text` composed and without invisible characters; look-alikes are kept."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_NO_INVISIBLE))


def folded_key(text: str) -> str:
    """Return `text` folded, casefolded and with single spaces, to compare texts."""
    return " ".join(fold(text).casefold().split())
