"""Sentences with their exact place in the text, and the lines of a crawled page that are no news.

The boundaries inside a paragraph come from `sentencex` (Wikimedia); paragraphs, bullets and line
breaks of crawled pages are settled here, because a heading has no full stop.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import sentencex

from fairjudge.text.folding import fold
from fairjudge.text.scripts import SOUTHEAST, UNSPACED, count_words

_BULLET = re.compile(r"(?:[-*+•‣◦▪●·\u2013\u2014]|\d{1,2}[.)])[ \t]+")
_BREAK = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_ENUMERATOR = re.compile(r"\s*[(\[]?(?:\d{1,2}|[a-zA-Z])[.)]\s*")
_TERMINAL = tuple(".!?:;…\"'\u201d\u2019)。！？：；．｡」』》）؟۔؛।॥։።፧፨။៕។༎།\u00bb")
"""What a sentence of any script ends with, a quotation's or bracket's mark included."""
_QUESTION_MARKS = tuple("?？؟፧⁇⁈⁉՞")
_CLOSING = "\"'\u201d\u2019)」』》）\u00bb。. "
_KHMER_STOP = re.compile(r"[\u17d4\u17d5]\s*(?=\S)")
_PAUSE = re.compile(r"[、，；,;:：]\s*|\s+")
_LEAST_PHRASE_WORDS = 3
"""A phrase of Thai or Lao with fewer words, such as a name between spaces, stands with the next."""
_MOST_WORDS = 60
"""In scripts without spaces a sentence of more words is cut at a pause, or where it must be."""
_MOST_CHARACTERS = 10_000
"""Any sentence longer than this, such as a table without a full stop, is cut at white space."""
_WRAP_WIDTH = 60
"""A line shorter than this many characters is taken to end on purpose."""
_NO_WORD = re.compile(r"[\W_]*")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text: ``source[start:end] == text``, without outer white space."""

    text: str
    start: int
    end: int


def split_sentences(text: str) -> tuple[Span, ...]:
    """Split `text` into sentences, in order, without overlap.

    Parameters
    ----------
    text : str
        Any text, also tokenised (``"the 0-0 draw ."``) or with the line breaks of a crawled page.

    Returns
    -------
    tuple of Span
        Every span is a verbatim piece of `text` with at least one letter or digit; what lies
        between spans is white space or bare punctuation. Empty for a text without a word.
    """
    spans: list[Span] = []
    for start, end in _blocks(text):
        spans.extend(_sentences_of_block(text, start, end))
    return tuple(spans)


def sentence_texts(text: str) -> tuple[str, ...]:
    """Return the texts of `split_sentences`."""
    return tuple(span.text for span in split_sentences(text))


def is_question(text: str) -> bool:
    """Whether `text` is written as a question in its script.

    It ends in a question mark of any script (Greek's looks like a semicolon, Armenian's stands
    inside), or in Japanese's "ka"; of scripts that need none (Thai, Lao, Khmer, Myanmar) whatever
    has no full stop.
    """
    bare = fold(text).rstrip(_CLOSING)
    if bare.endswith(_QUESTION_MARKS) or "\u055e" in bare:
        return True
    if bare.endswith(";"):
        return re.search(r"[\u0370-\u03ff\u1f00-\u1fff]", bare) is not None
    return bare.endswith(("か", "カ")) or SOUTHEAST.match(bare[-1:]) is not None


def is_boilerplate(sentence: str) -> bool:
    """Say whether `sentence` belongs to the page and not to the news.

    Recognised are cookie and script notices, calls to subscribe, share or read on, bylines, photo
    credits, copyright lines, and web or mail addresses on their own. English only; a sentence that
    merely mentions such a thing in passing is kept.
    """
    stripped = sentence.strip()
    if not stripped or _NO_WORD.fullmatch(stripped):
        return True
    folded = stripped.casefold()
    return any(
        pattern.search(stripped)
        for needles, pattern in _BOILERPLATE
        if not needles or any(needle in folded for needle in needles)
    )


def news_sentences(text: str, *, min_words: int = 4) -> tuple[Span, ...]:
    """Return the sentences of `text` that can carry news.

    Left out are boilerplate, pieces of fewer than `min_words` words, and lines that read as a
    heading or a list of names: no closing punctuation and (nearly) every word capitalised.
    """
    return tuple(
        span
        for span in split_sentences(text)
        if count_words(span.text) >= min_words
        and not is_boilerplate(span.text)
        and not _is_heading(span.text)
    )


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of paragraphs: runs of lines that belong together."""
    block_start: int | None = None
    previous = ""
    previous_end = 0
    for start, end in _lines(text):
        line = text[start:end].strip()
        if block_start is not None and not _continues(previous, line):
            yield block_start, previous_end
            block_start = None
        if line and block_start is None:
            block_start = start
        previous, previous_end = line, end
    if block_start is not None:
        yield block_start, previous_end


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _BREAK.finditer(text):
        yield start, found.start()
        start = found.end()
    yield start, len(text)


def _continues(previous: str, line: str) -> bool:
    """Whether `line` goes on with the paragraph that `previous` belongs to."""
    if not previous or not line or _BULLET.match(line):
        return False
    if line[0].islower():
        return True
    return len(previous) >= _WRAP_WIDTH and not previous.endswith(_TERMINAL)


def _sentences_of_block(text: str, start: int, end: int) -> Iterator[Span]:
    pending: int | None = None  # start of an enumerator ("3.") that belongs to what follows
    for boundary in sentencex.get_sentence_boundaries("en", text[start:end]):
        first, last = start + boundary["start_index"], start + boundary["end_index"]
        if pending is not None:
            first, pending = pending, None
        piece = text[first:last]
        if _ENUMERATOR.fullmatch(piece) and last < end:
            pending = first
        else:
            for part_start, part_end in _parts(text, first, last):
                if not _NO_WORD.fullmatch(text[part_start:part_end]):
                    yield _trimmed(text, part_start, part_end)


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of a sentence's parts: itself, but in scripts without stops or too long."""
    piece = text[start:end]
    unspaced = not piece.isascii() and UNSPACED.search(piece) is not None
    if not unspaced:
        yield from _bounded(text, start, end)
        return
    for first, last in _phrases(piece):
        yield from _bounded(text, start + first, start + last)


def _phrases(piece: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of what Khmer's stops end, and Thai's and Lao's spaces between letters."""
    start = 0
    for match in re.finditer(r"[\u17d4\u17d5]?\s+|[\u17d4\u17d5](?=[^\s\u17d4\u17d5])", piece):
        stops = _KHMER_STOP.match(piece, match.start()) is not None
        around = piece[match.start() - 1 : match.start()] + piece[match.end() : match.end() + 1]
        spaced = len(around) == 2 and all("\u0e00" <= one <= "\u0eff" for one in around)
        if stops or (
            spaced and _is_phrase(piece[start : match.start()]) and _is_phrase(piece[match.end() :])
        ):
            yield start, match.end()
            start = match.end()
    yield start, len(piece)


def _is_phrase(text: str) -> bool:
    return count_words(text[:80]) >= _LEAST_PHRASE_WORDS


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of pieces that are no longer than a sentence can be."""
    while (most := _most_characters(text, start, end)) < end - start:
        cuts = [match.end() for match in _PAUSE.finditer(text, start, start + most)]
        cut = (
            cuts[-1]
            if cuts and cuts[-1] > start + most // 4
            else _letter_end(text, start + most, end)
        )
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _most_characters(text: str, start: int, end: int) -> int:
    """Return how many characters a sentence that begins at `start` may have."""
    if end - start <= _MOST_WORDS:
        return end - start
    sample = text[start : min(end, start + _MOST_WORDS * 5)]
    if len(UNSPACED.findall(sample)) * 2 < len(sample) or count_words(sample) <= _MOST_WORDS:
        return _MOST_CHARACTERS if end - start > len(sample) else end - start
    return max(1, int(len(sample) * _MOST_WORDS / count_words(sample)))


def _letter_end(text: str, place: int, end: int) -> int:
    """Return `place`, or where the marks of the letter before it end."""
    while place < end and unicodedata.category(text[place])[0] == "M":
        place += 1
    return place


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    stripped = piece.strip()
    bullet = _BULLET.match(stripped)
    if bullet and not stripped[0].isdigit():
        words = stripped[bullet.end() :].lstrip()  # which may stand on the next line
        start += len(stripped) - len(words)
        stripped = words
    return Span(stripped, start, start + len(stripped))


def _is_heading(sentence: str) -> bool:
    if sentence.endswith(_TERMINAL):
        return False
    words = [word for word in sentence.split() if word[0].isalpha()]
    if words and not any(word[0].isupper() or word[0].islower() for word in words):
        return False  # a script without capitals
    capitalised = sum(word[0].isupper() for word in words if len(word) > 3 or word[0].isupper())
    long_words = sum(len(word) > 3 or word[0].isupper() for word in words)
    return capitalised >= 0.8 * long_words


_BOILERPLATE = tuple(
    (needles, re.compile(pattern, re.IGNORECASE))
    for needles, pattern in (
        (
            ("cookie",),
            r"\bcookies?\b.{0,80}\b(sites?|polic(y|ies)|browser|accept|consent|settings|use)\b",
        ),
        (("cookies",), r"\b(accept|use|uses|using|enable) (all )?cookies\b"),
        (("javascript",), r"\b(enable|supports?) javascript\b"),
        (
            (),
            r"^(advertisement|sponsored|sponsored content|related( articles| stories)?|watch|"
            r"listen|share( this)?( article| story)?|comments?|more on this story|loading)\W*$",
        ),
        (
            (),
            r"^(\W*)(read|see|view|watch|click|tap|scroll)( (more|also|next|here|on|below|full)\b)",
        ),
        (
            (),
            r"^(also read|related|recommended|more from|editor'?s note|disclosure|disclaimer)\s*:",
        ),
        ((" up ",), r"\b(sign|signed) up (now|here|for|today|to (get|receive|our))\b"),
        (
            ("subscribe", "newsletter"),
            r"\b(subscribe|newsletters?)\b.{0,60}"
            r"\b(now|here|today|inbox|unsubscribe|email alerts?)\b",
        ),
        ((), r"^subscribers? (get|receive|only)\b|^(you can )?(un)?subscribe\b"),
        (("click ",), r"\bclick (here|the (link|button))\b"),
        (("download ",), r"\bdownload (the|our|\w+'s) app\b"),
        ((" us on",), r"\b(follow|like) us on\b"),
        (
            ("follow ", "reach ", "contact "),
            r"\b(follow|reach|contact) (him|her|them|the (author|reporter|writer)) (on|at|via)\b",
        ),
        (("can be ",), r"\bcan be (reached|contacted|followed) (at|on|via)\b"),
        (
            ("rights reserved", "©", "copyright", "(c)"),
            r"\ball rights reserved\b|^(©|copyright\b)|\(c\) \d{4}",
        ),
        (
            ("this material ", "this article ", "this post ", "this story "),
            r"\bthis (material|article|post|story) (may not be|(was )?(originally|first) "
            r"(appeared|published|ran)|originated|has been (updated|republished))",
        ),
        (("contributed to",), r"\bcontributed to this (report|article|story)\b"),
        (
            (),
            r"^(by|opinion by|written by|reported by|story by) "
            r"(?-i:[A-Z]\S+( [A-Z]\S+){0,5})\W*$",
        ),
        (
            (),
            r"^(photo|image|picture|credit|file photo)s?(\s*[:/]| (credit|by|courtesy)\b).{0,60}$",
        ),
        (
            ("getty", "istock", "shutterstock", "unsplash", "afp via", "ap photo", "reuters/"),
            r"\b(getty|istock|shutterstock|unsplash|afp via|ap photo|reuters/)\b",
        ),
        (
            ("terms of", "privacy "),
            r"\bterms of (use|service)\b|\bprivacy (policy|notice)\b",
        ),
        ((), r"^(updated|published|posted|last updated)( on| at)?\b.{0,50}\d"),
        ((), r"^\W*(https?://|www\.)\S+\W*$|^\W*\S+@\S+\.\w+\W*$"),
        (
            ("view our ", "your inbox", "your spam"),
            r"\bview our .{0,20}(listings|editorial)|\byour (inbox|spam folder)\b",
        ),
    )
)
"""Patterns, each with texts of which one must be there, casefolded, for it to be searched: a search
through a long text takes a hundred times as long. None for those that begin where the text does."""
