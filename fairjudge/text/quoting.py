"""Find a quote in a text: verbatim, or as the nearest passage.

Quotes by models differ from the text in white space, quotation marks, dashes and case, and
sometimes in a letter. The returned passage is verbatim text, so that a reader can look it up.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from fairjudge.text.folding import DASHES, QUOTES
from fairjudge.text.scripts import UNSPACED

LEAST_ALIKE = 0.9
"""Minimum similarity of the nearest passage: 1 - edits / characters of the quote."""
_LONGEST = 2000
"""Maximum number of characters of a quote for the search by edit distance; longer ones must match
exactly."""

_SAME = str.maketrans({**dict.fromkeys(QUOTES, "'"), **dict.fromkeys(DASHES, "-")})
_ONCE = frozenset(" '-")
"""Characters whose repetitions count as one."""
_CLUSTER = re.compile(r"[\x00-\x7f](?![\u0300-\u036f])|.[\u0300-\u036f]*", re.DOTALL)
_DOUBLE = '"\u201c\u201d\u201e\u00ab\u00bb'
_IN_MARKS = re.compile(r"'((?:[^']|\b'\b)*)'")
"""Normalised text between two quotation marks; it may contain apostrophes."""
_EDGES = " '.,;:!?-\u2026*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Characters ``start`` to ``end`` (exclusive) of a text, counted from 0.

    ``edits`` is the edit distance of the normalised quote (without differences in white space,
    quotation marks, dashes and case); 0 for an exact match.
    """

    start: int
    end: int
    edits: int


class Quotable:
    """A text prepared for the search of many quotes."""

    def __init__(self, text: str) -> None:
        self._normalised = _normalised(text)

    def find(self, quote: str) -> Span | None:
        """Return the span of the passage of whole words that matches `quote`, None without one.

        The first exact match after normalisation; else the passage with the smallest edit distance,
        if that is at most a tenth of the quote's characters. Quotes and passages need a letter or a
        digit; marks that only enclose or end a quote need not match.
        """
        whole = _normalised(unwrapped(quote)).text.strip(" ")
        if in_marks := _IN_MARKS.fullmatch(whole):
            whole = in_marks[1]
        core = whole.strip(_EDGES)
        if not _has_words(core):
            return None
        for candidate in (whole, core):
            place = _exact(candidate, self._normalised.text)
            if place is not None:
                return self._normalised.span(*place, edits=0)
        near = _nearest(core, self._normalised.text) if len(core) <= _LONGEST else None
        if near is None or not _has_words(self._normalised.text[near[1] : near[2]]):
            return None
        return self._normalised.span(*near[1:], edits=near[0])


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


_quotable = lru_cache(maxsize=64)(Quotable)


def find_quote(quote: str, text: str) -> Span | None:
    """Return the span of `quote` in `text`, see `Quotable.find`; prepared texts are cached."""
    return _quotable(text).find(quote)


def unwrapped(text: str) -> str:
    """Return `text` without enclosing spaces, asterisks and quotation marks.

    Marks that belong to a quotation inside are kept; a single mark at one end is removed.
    """
    text = text.strip(" \t\r\n*")
    marks = [place for place, character in enumerate(text) if character in _DOUBLE]
    if not marks or len(marks) > 2:
        return text
    if set(marks) <= {0, len(text) - 1}:
        return text.strip(_DOUBLE).strip()
    return text


@dataclass(frozen=True, slots=True)
class _Normalised:
    """A normalised text; its character i is ``starts[i]`` to ``ends[i]`` of the original."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, start: int, end: int, *, edits: int) -> Span:
        return Span(start=self.starts[start], end=self.ends[end - 1], edits=edits)


def _normalised(text: str) -> _Normalised:
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(text):
        for character in _plain(match.group()):
            if characters and character == characters[-1] and character in _ONCE:
                ends[-1] = match.end()
            else:
                characters.append(character)
                starts.append(match.start())
                ends.append(match.end())
    return _Normalised("".join(characters), tuple(starts), tuple(ends))


def _plain(cluster: str) -> str:
    """Return a letter with its marks normalised; white space as a space, without controls."""
    if cluster.isascii() and cluster.isalnum():
        return cluster.lower()
    if cluster.isspace():
        return " "
    folded = unicodedata.normalize("NFKC", cluster.translate(_SAME)).casefold()
    return "".join(c for c in folded if unicodedata.category(c) not in {"Cc", "Cf"})


def _joined(text: str, place: int) -> bool:
    """Return whether `place` is inside a word, where no passage may begin or end."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if not (before.isalnum() and after.isalnum()):
        return False
    return not (UNSPACED.match(before) or UNSPACED.match(after))


def _exact(quote: str, text: str) -> tuple[int, int] | None:
    at = text.find(quote)
    while at >= 0:
        end = at + len(quote)
        if not (_joined(text, at) or _joined(text, end)):
            return at, end
        at = text.find(quote, at + 1)
    return None


def _nearest(quote: str, text: str) -> tuple[int, int, int] | None:
    """Return edits, start and end of the nearest passage of whole words; None for too many edits.

    A forward pass finds the best end, a backward pass from there the best start. Both add the rest
    of a word that a passage would cut to its distance.
    """
    most = int(len(quote) * (1 - LEAST_ALIKE) + 1e-9)
    ends = ((distance, end) for end, distance in _distances(quote, text, anywhere=True))
    last = _least(ends, most, lambda end, room: _to_word_end(text, end, room))
    if last is None:
        return None
    end = last[1]
    first = max(0, end - len(quote) - most)
    reached = _distances(quote[::-1], text[first:end][::-1], anywhere=False)
    starts = ((distance, end - length) for length, distance in reached)
    tail = _to_word_end(text, end, most)
    room = most - tail
    began = _least(starts, room, lambda start, room: _to_word_start(text, start, room))
    if began is None:
        return None
    distance, start = began
    return distance + tail, *_trimmed(text, start - _to_word_start(text, start, most), end + tail)


def _least(
    places: Iterable[tuple[int, int]], most: int, missing: Callable[[int, int], int]
) -> tuple[int, int] | None:
    """Return the least (distance + characters to the edge of a word, place), if at most `most`."""
    best: tuple[int, int] | None = None
    for distance, place in places:
        room = (most + 1 if best is None else best[0]) - distance
        if room > 0 and (extra := missing(place, room)) < room:
            best = distance + extra, place
    return best


def _to_word_start(text: str, place: int, most: int) -> int:
    """Return the number of characters from the word's start to `place`, at most `most`."""
    return next((n for n in range(most) if not _joined(text, place - n)), most)


def _to_word_end(text: str, place: int, most: int) -> int:
    return next((n for n in range(most) if not _joined(text, place + n)), most)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    passage = text[start:end]
    return start + len(passage) - len(passage.lstrip()), end - len(passage) + len(passage.rstrip())


def _distances(pattern: str, text: str, *, anywhere: bool) -> Iterator[tuple[int, int]]:
    """Yield (end, edit distance of `pattern` to the nearest passage of `text` with that end).

    With `anywhere` a passage may begin anywhere, else at 0. Myers' bit-vector algorithm (Journal of
    the ACM 46(3), 1999) in Hyyrö's form: one integer holds a column of the table.
    """
    whole = (1 << len(pattern)) - 1
    last = 1 << (len(pattern) - 1)
    places: dict[str, int] = {}
    for place, character in enumerate(pattern):
        places[character] = places.get(character, 0) | 1 << place
    up, down, distance = whole, 0, len(pattern)
    yield 0, distance
    for end, character in enumerate(text, 1):
        equal = places.get(character, 0)
        vertical = equal | down
        horizontal = (((equal & up) + up) ^ up) | equal
        more = down | (~(horizontal | up) & whole)
        less = up & horizontal & whole
        distance += bool(more & last) - bool(less & last)
        yield end, distance
        more = more << 1 | (not anywhere)
        less = less << 1
        up = (less | ~(vertical | more)) & whole
        down = more & vertical & whole
