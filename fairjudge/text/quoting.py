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

MIN_SIMILARITY = 0.9
"""Minimum similarity of the nearest passage: 1 - edits / characters of the quote."""
_MAX_EDIT_SEARCH = 2000
"""Maximum number of characters of a quote for the search by edit distance; longer ones must match
exactly."""

_SAME = str.maketrans({**dict.fromkeys(QUOTES, "'"), **dict.fromkeys(DASHES, "-")})
_COLLAPSIBLE = frozenset(" '-")
"""Characters whose repetitions count as one."""
_CLUSTER = re.compile(r"[\x00-\x7f](?![\u0300-\u036f])|.[\u0300-\u036f]*", re.DOTALL)
_DOUBLE_MARKS = '"\u201c\u201d\u201e\u00ab\u00bb'
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
        self._normalised_text = _normalise(text)

    def find(self, quote: str) -> Span | None:
        """Return the span of the passage of whole words that matches `quote`, None without one.

        The first exact match after normalisation; else the passage with the smallest edit distance,
        if that is at most a tenth of the quote's characters. Quotes and passages need a letter or a
        digit; marks that only enclose or end a quote need not match.
        """
        normalised_quote = _normalise(unwrap(quote)).text.strip(" ")
        if in_marks := _IN_MARKS.fullmatch(normalised_quote):
            normalised_quote = in_marks[1]
        core = normalised_quote.strip(_EDGES)
        if not _has_words(core):
            return None
        for candidate in (normalised_quote, core):
            match = _exact(candidate, self._normalised_text.text)
            if match is not None:
                return self._normalised_text.span(*match, edits=0)
        nearest = (
            _nearest(core, self._normalised_text.text) if len(core) <= _MAX_EDIT_SEARCH else None
        )
        if nearest is None or not _has_words(self._normalised_text.text[nearest[1] : nearest[2]]):
            return None
        return self._normalised_text.span(*nearest[1:], edits=nearest[0])


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


_quotable = lru_cache(maxsize=64)(Quotable)


def find_quote(quote: str, text: str) -> Span | None:
    """Return the span of `quote` in `text`, see `Quotable.find`; prepared texts are cached."""
    return _quotable(text).find(quote)


def unwrap(text: str) -> str:
    """Strip enclosing spaces, asterisks and quotation marks from `text`.

    Marks of a quotation within it are kept; a single mark at one end is removed.
    """
    text = text.strip(" \t\r\n*")
    marks = [position for position, character in enumerate(text) if character in _DOUBLE_MARKS]
    if not marks or len(marks) > 2:
        return text
    if set(marks) <= {0, len(text) - 1}:
        return text.strip(_DOUBLE_MARKS).strip()
    return text


@dataclass(frozen=True, slots=True)
class _Normalised:
    """A normalised text; its character i is ``starts[i]`` to ``ends[i]`` of the original."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, start: int, end: int, *, edits: int) -> Span:
        return Span(start=self.starts[start], end=self.ends[end - 1], edits=edits)


def _normalise(text: str) -> _Normalised:
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(text):
        for character in _plain(match.group()):
            if characters and character == characters[-1] and character in _COLLAPSIBLE:
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
    folded_cluster = unicodedata.normalize("NFKC", cluster.translate(_SAME)).casefold()
    return "".join(c for c in folded_cluster if unicodedata.category(c) not in {"Cc", "Cf"})


def _is_inside_word(text: str, position: int) -> bool:
    """Return whether `position` is inside a word, where no passage may begin or end."""
    if not 0 < position < len(text):
        return False
    previous, following = text[position - 1], text[position]
    if not (previous.isalnum() and following.isalnum()):
        return False
    return not (UNSPACED.match(previous) or UNSPACED.match(following))


def _exact(quote: str, text: str) -> tuple[int, int] | None:
    start = text.find(quote)
    while start >= 0:
        end = start + len(quote)
        if not (_is_inside_word(text, start) or _is_inside_word(text, end)):
            return start, end
        start = text.find(quote, start + 1)
    return None


def _nearest(quote: str, text: str) -> tuple[int, int, int] | None:
    """Return edits, start and end of the nearest passage of whole words; None for too many edits.

    A forward pass finds the best end, a backward pass from there the best start. Both add the rest
    of a word that a passage would cut to its distance.
    """
    max_edits = int(len(quote) * (1 - MIN_SIMILARITY) + 1e-9)
    ends = ((distance, end) for end, distance in _distances(quote, text, anywhere=True))
    best_end = _best_position(ends, max_edits, lambda end, room: _to_word_end(text, end, room))
    if best_end is None:
        return None
    end = best_end[1]
    first = max(0, end - len(quote) - max_edits)
    reversed_distances = _distances(quote[::-1], text[first:end][::-1], anywhere=False)
    starts = ((distance, end - length) for length, distance in reversed_distances)
    tail = _to_word_end(text, end, max_edits)
    room = max_edits - tail
    best_start = _best_position(starts, room, lambda start, room: _to_word_start(text, start, room))
    if best_start is None:
        return None
    distance, start = best_start
    return distance + tail, *_trim(text, start - _to_word_start(text, start, max_edits), end + tail)


def _best_position(
    candidates: Iterable[tuple[int, int]], max_distance: int, word_rest: Callable[[int, int], int]
) -> tuple[int, int] | None:
    """Return the candidate with the least distance plus rest of a cut word, at most the maximum."""
    best: tuple[int, int] | None = None
    for distance, position in candidates:
        room = (max_distance + 1 if best is None else best[0]) - distance
        if room > 0 and (extra := word_rest(position, room)) < room:
            best = distance + extra, position
    return best


def _to_word_start(text: str, position: int, limit: int) -> int:
    """Return the number of characters from the word's start to `position`, at most `limit`."""
    return next((n for n in range(limit) if not _is_inside_word(text, position - n)), limit)


def _to_word_end(text: str, position: int, limit: int) -> int:
    return next((n for n in range(limit) if not _is_inside_word(text, position + n)), limit)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    passage = text[start:end]
    return start + len(passage) - len(passage.lstrip()), end - len(passage) + len(passage.rstrip())


def _distances(pattern: str, text: str, *, anywhere: bool) -> Iterator[tuple[int, int]]:
    """Yield (end, edit distance of `pattern` to the nearest passage of `text` with that end).

    With `anywhere` a passage may begin anywhere, else at 0. Myers' bit-vector algorithm (Journal of
    the ACM 46(3), 1999) in Hyyrö's form: one integer holds a column of the table.
    """
    full_mask = (1 << len(pattern)) - 1
    last_bit = 1 << (len(pattern) - 1)
    masks: dict[str, int] = {}
    for position, character in enumerate(pattern):
        masks[character] = masks.get(character, 0) | 1 << position
    up, down, distance = full_mask, 0, len(pattern)
    yield 0, distance
    for end, character in enumerate(text, 1):
        equal = masks.get(character, 0)
        vertical = equal | down
        horizontal = (((equal & up) + up) ^ up) | equal
        increments = down | (~(horizontal | up) & full_mask)
        decrements = up & horizontal & full_mask
        distance += bool(increments & last_bit) - bool(decrements & last_bit)
        yield end, distance
        increments = increments << 1 | (not anywhere)
        decrements = decrements << 1
        up = (decrements | ~(vertical | increments)) & full_mask
        down = increments & vertical & full_mask
