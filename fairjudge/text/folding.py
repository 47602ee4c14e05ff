"""One folding of characters, for every place that compares texts.

What a reader does not see (soft hyphens, zero-width characters, marks of direction, variation
selectors) is taken out, hyphens and apostrophes that look alike become one, and letters are
composed (Unicode's NFC). Combining marks stay. Case is left to the caller.
"""

from __future__ import annotations

import unicodedata

QUOTES = "\"'`´‘’‚‛“”„‟′″«»‹›＂＇"
"""Quotation marks and apostrophes of which models write one for another."""
DASHES = "-‐‑‒–—―−﹘﹣－"
APOSTROPHES = "'‘’‛′＇\u02b9\u02bb\u02bc\u02bd"
"""Marks that people type where an apostrophe is meant, those of Unicode's letters included."""

_INVISIBLE = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Unicode's Default_Ignorable_Code_Point: shown as nothing."""

_UNSEEN: dict[int, str | None] = {
    code: None for first, last in _INVISIBLE for code in range(first, last + 1)
}
_TABLE: dict[int, str | None] = {
    **_UNSEEN,
    **{ord(dash): "-" for dash in DASHES},
    **{ord(mark): "'" for mark in APOSTROPHES},
}


def fold(text: str) -> str:
    """Return `text` as it is compared: composed, without invisible characters and look-alikes."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_TABLE))


def visible(text: str) -> str:
    """Return `text` composed and without invisible characters; look-alikes stay as they are."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_UNSEEN))


def folded_key(text: str) -> str:
    """Return a key that texts share which read alike: folded, without case, with single spaces."""
    return " ".join(fold(text).casefold().split())
