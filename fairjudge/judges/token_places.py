"""Where tokens stand in a reply's text, aligned from its end.

A server's list of tokens need not add up to the text: reasoning that is no part of the text comes
first, an end token last, and a character that is cut into bytes stands as escapes or replacement
characters. What matters stands near the end, so that is where the two are laid side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_SPECIAL = re.compile(r"<[^<>\s]{1,40}>|\[/?[A-Z_]{1,20}\]|")
"""Tokens that are no text: ``<|im_end|>``, ``</s>``, ``[EOS]``, or nothing at all."""
_BYTES = re.compile("(?:\\\\x[0-9a-fA-F]{2}|<0x[0-9a-fA-F]{2}>|\N{REPLACEMENT CHARACTER})+")
"""Tokens that hold part of a character: as escapes, as sentencepiece's bytes, or undecoded."""


def spans_from_end(tokens: Sequence[str], text: str) -> Iterator[tuple[int, int, int]]:
    """Yield ``(index, start, end)`` of tokens in `text`, the last one first.

    White space at the end of either is ignored, and so are special tokens that the text lacks.
    Tokens that hold parts of characters are passed over, with the characters they stand for. It
    ends at the first token that does not fit: what stands before it is of unknown place.
    """
    index, end = len(tokens), len(text.rstrip())
    at_end = True
    while index:
        index -= 1
        token = tokens[index].rstrip() if at_end else tokens[index]
        if token and text.endswith(token, 0, end):
            yield index, end - len(token), end
            end -= len(token)
            at_end = False
        elif _BYTES.fullmatch(token):
            while index and _BYTES.fullmatch(tokens[index - 1]):
                index -= 1
            end = _before_characters(text, end, tokens[index - 1] if index else "")
            if end < 0:
                return
            at_end = False
        elif not _SPECIAL.fullmatch(token):
            return


def _before_characters(text: str, end: int, before: str) -> int:
    """Return where characters begin that end at `end` and are not ASCII; -1 where none fit.

    They are as few as leave the token `before` them at its place.
    """
    start = end - 1
    while start >= 0 and not text[start].isascii():
        if text.endswith(before, 0, start):
            return start
        start -= 1
    return -1
