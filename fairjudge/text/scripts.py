"""Scripts without spaces between words: word counts, and overlapping pieces of words.

No dictionary is used. A word count is an estimate, good enough to tell a stub from an article;
texts are compared by overlapping character n-grams, as in search engines (Lucene's
CJKBigramFilter).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from fairjudge.text.folding import fold

_EAST = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf"
    "\uf900-\ufaff\uff66-\uff9f\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
"""Han, Kana, Bopomofo, Yi."""
_SOUTHEAST = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u1000-\u1049\u104c-\u109f\u1780-\u17d3"
    "\u17d7\u17dc-\u17e9\u1950-\u19df\u1a20-\u1a9f\u1b00-\u1b59\ua980-\ua9c0\ua9cf-\ua9fe"
    "\uaa60-\uaa7f"
)
"""Thai, Lao, Myanmar, Khmer, Tai, Balinese, Javanese."""
_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059"
    "\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u17b6-\u17d3\u1a55-\u1a7f"
    "\u1b00-\u1b04\u1b34-\u1b44\ua980-\ua983\ua9b3-\ua9c0"
)
"""Their vowel signs and tone marks, written above, below or around a letter."""

UNSPACED = re.compile(f"[{_EAST}{_SOUTHEAST}]")
SOUTHEAST = re.compile(f"[{_SOUTHEAST}]")
_RUN = re.compile(f"(?P<east>[{_EAST}]+)|(?P<southeast>[{_SOUTHEAST}]+)")
_LETTER = re.compile(f"[{_SOUTHEAST}][{_MARKS}]*")
"""A letter with its marks."""
_MARK = re.compile(f"[{_MARKS}]")
_WORD_MARKS = str.maketrans("\u0f0b\u0f0c\u1361\u1680\u16eb\U0001039f", "      ")
"""Word separators of Tibetan (tsheg), Ethiopic, Ogham, Runic and Ugaritic."""

EAST_CHARACTERS_PER_WORD = 1.5
SOUTHEAST_LETTERS_PER_WORD = 4.0
"""Mean word lengths in Chinese news, and in Thai (without marks)."""


def count_words(text: str) -> int:
    """Return the number of words of `text`, separated by white space.

    In scripts without spaces it is estimated from the number of characters, rounded up at the end.
    """
    if text.isascii():
        return len(text.split())
    n_words, estimate = 0, 0.0
    for piece in fold(text).translate(_WORD_MARKS).split():
        if UNSPACED.search(piece) is None:
            n_words += 1
        else:
            estimate += sum(_share(match) for match in _RUN.finditer(piece))
            n_words += len(re.findall(r"\w+", _RUN.sub(" ", piece)))
    return n_words + math.ceil(estimate - 1e-9)


def _share(run: re.Match[str]) -> float:
    if run["east"]:
        return len(run["east"]) / EAST_CHARACTERS_PER_WORD
    return len(_MARK.sub("", run["southeast"])) / SOUTHEAST_LETTERS_PER_WORD


def first_words(text: str, limit: int) -> str:
    """Return the first `limit` words of `text` (see `count_words`), with single spaces."""
    pieces: list[str] = []
    remaining = limit
    for piece in text.split():
        n_words = count_words(piece)
        if n_words > remaining:
            pieces.append(_prefix(piece, remaining))
            break
        pieces.append(piece)
        remaining -= n_words
    return " ".join(filter(None, pieces))


def _prefix(piece: str, limit: int) -> str:
    """Return the longest prefix of `piece` with at most `limit` words."""
    low, high = 0, len(piece)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_words(piece[:middle]) <= limit else (low, middle - 1)
    while 0 < low < len(piece) and _MARK.match(piece[low]):
        low -= 1
    return piece[:low]


def pieces_of(word: str) -> Iterator[str]:
    """Yield the pieces of `word` for comparisons; in spaced scripts the word itself.

    East Asian runs give bigrams of characters, Southeast Asian ones trigrams of letters with their
    marks; a shorter run is one piece.
    """
    if UNSPACED.search(word) is None:
        yield word
        return
    end = 0
    for run in _RUN.finditer(word):
        if run.start() > end:
            yield word[end : run.start()]
        if run["east"]:
            yield from _ngrams(list(run["east"]), 2)
        else:
            yield from _ngrams(_LETTER.findall(run["southeast"]), 3)
        end = run.end()
    if end < len(word):
        yield word[end:]


def _ngrams(characters: list[str], n: int) -> Iterator[str]:
    for start in range(max(1, len(characters) - n + 1)):
        yield "".join(characters[start : start + n])
