"""Locate tokens in a reply's text, aligned from its end.

A server's list of tokens need not add up to the text: it may begin with reasoning that the text
lacks, end with a special token, and hold parts of characters as escapes or replacement characters.
Verdicts are near the end, so that the alignment starts there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_SPECIAL = re.compile(r"<[^<>\s]{1,40}>|\[/?[A-Z_]{1,20}\]|")
"""Special tokens, which the text lacks: ``<|im_end|>``, ``</s>``, ``[EOS]``, or empty ones."""
_BYTES = re.compile("(?:\\\\x[0-9a-fA-F]{2}|<0x[0-9a-fA-F]{2}>|\N{REPLACEMENT CHARACTER})+")
"""Tokens with parts of a character: as escapes, as sentencepiece's bytes, or undecoded."""


def spans_from_end(tokens: Sequence[str], text: str) -> Iterator[tuple[int, int, int]]:
    """Yield ``(index, start, end)`` of tokens in `text`, the last one first.

    Trailing white space and special tokens are ignored. Tokens with parts of characters are
    skipped, with their characters in the text. It ends at the first token that does not match,
    since the positions before it are unknown.
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
    """Return the start of the run of non-ASCII characters that ends at `end`; -1 if none fits.

    The run is the shortest one that the token `before` precedes in the text.
    """
    start = end - 1
    while start >= 0 and not text[start].isascii():
        if text.endswith(before, 0, start):
            return start
        start -= 1
    return -1
