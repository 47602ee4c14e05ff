"""Split text into sentences with their positions, and recognise boilerplate of crawled pages.

The boundaries inside a paragraph come from `sentencex` (Wikimedia); paragraphs, bullets and line
breaks of crawled pages are handled here, because headings have no full stop.
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
"""Characters that end a sentence in any script, closing quotation marks and brackets included."""
_QUESTION_MARKS = tuple("?？؟፧⁇⁈⁉՞")
_CLOSING = "\"'\u201d\u2019)」』》）\u00bb。. "
_KHMER_STOP = re.compile(r"[\u17d4\u17d5]\s*(?=\S)")
_PAUSE = re.compile(r"[、，；,;:：]\s*|\s+")
_MIN_NEWS_WORDS = 4
_MIN_PHRASE_WORDS = 3
"""A shorter phrase of Thai or Lao, such as a name between spaces, is joined to the next one."""
_MAX_WORDS = 60
"""In scripts without spaces longer sentences are cut, at a pause if there is one."""
_MAX_CHARACTERS = 10_000
"""Any longer sentence, such as a table without a full stop, is cut, at white space if possible."""
_WRAP_WIDTH = 60
"""A line break after fewer characters than this is deliberate, not wrapped text."""
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
    return tuple(_spans(text))


def _spans(text: str) -> Iterator[Span]:
    for start, end in _blocks(text):
        yield from _sentences_of_block(text, start, end)


def sentence_texts(text: str) -> tuple[str, ...]:
    """Return the texts of `split_sentences`."""
    return tuple(span.text for span in split_sentences(text))


def is_question(text: str) -> bool:
    """Return whether `text` is a question, by the punctuation of its script.

    It ends in a question mark of any script (Greek's looks like a semicolon, Armenian's is inside
    the sentence) or in Japanese "ka"; in scripts that need no mark (Thai, Lao, Khmer, Myanmar) any
    text that ends in a letter counts.
    """
    bare = fold(text).rstrip(_CLOSING)
    if bare.endswith(_QUESTION_MARKS) or "\u055e" in bare:
        return True
    if bare.endswith(";"):
        return re.search(r"[\u0370-\u03ff\u1f00-\u1fff]", bare) is not None
    return bare.endswith(("か", "カ")) or SOUTHEAST.match(bare[-1:]) is not None


def is_boilerplate(sentence: str) -> bool:
    """Return whether `sentence` is boilerplate of a page, not part of the news text.

    Recognised are notices on cookies and scripts, calls to subscribe, share or read on, bylines,
    photo credits, copyright lines, and sole web or mail addresses. English only; sentences that
    only mention such things are not boilerplate.
    """
    content = sentence.strip()
    if not content or _NO_WORD.fullmatch(content):
        return True
    casefolded = content.casefold()
    return any(
        pattern.search(content)
        for needles, pattern in _BOILERPLATE
        if not needles or any(needle in casefolded for needle in needles)
    )


def news_sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of `text` that may contain news.

    Excluded are boilerplate, pieces of fewer than four words, and lines that look like a heading
    or a list of names: no closing punctuation and at least 80 % of longer words capitalised.
    """
    return tuple(span for span, _ in news_with_counts(text))


def news_with_counts(text: str) -> Iterator[tuple[Span, int]]:
    """Yield `news_sentences` with their numbers of words, reading `text` no further than needed."""
    for span in _spans(text):
        n_words = count_words(span.text)
        if (
            n_words >= _MIN_NEWS_WORDS
            and not is_boilerplate(span.text)
            and not _is_heading(span.text)
        ):
            yield span, n_words


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
    for match in _BREAK.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _continues(previous: str, line: str) -> bool:
    """Return whether `line` continues the paragraph of the line `previous`."""
    if not previous or not line or _BULLET.match(line):
        return False
    if line[0].islower():
        return True
    return len(previous) >= _WRAP_WIDTH and not previous.endswith(_TERMINAL)


def _sentences_of_block(text: str, start: int, end: int) -> Iterator[Span]:
    enumerator_start: int | None = None  # of an enumerator ("3.") of the next sentence
    for boundary in sentencex.get_sentence_boundaries("en", text[start:end]):
        first, last = start + boundary["start_index"], start + boundary["end_index"]
        if enumerator_start is not None:
            first, enumerator_start = enumerator_start, None
        piece = text[first:last]
        if _ENUMERATOR.fullmatch(piece) and last < end:
            enumerator_start = first
        else:
            for part_start, part_end in _parts(text, first, last):
                if not _NO_WORD.fullmatch(text[part_start:part_end]):
                    yield _trim(text, part_start, part_end)


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of a sentence, cut in scripts without full stops and if too long."""
    piece = text[start:end]
    is_unspaced = not piece.isascii() and UNSPACED.search(piece) is not None
    for first, last in _phrases(piece) if is_unspaced else [(0, len(piece))]:
        yield from _cut_if_long(text, start + first, start + last)


def _phrases(piece: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of phrases: up to Khmer stops, and to spaces between Thai or Lao letters."""
    start = 0
    for match in re.finditer(r"[\u17d4\u17d5]?\s+|[\u17d4\u17d5](?=[^\s\u17d4\u17d5])", piece):
        stops = _KHMER_STOP.match(piece, match.start()) is not None
        around = piece[match.start() - 1 : match.start()] + piece[match.end() : match.end() + 1]
        is_space_between_letters = len(around) == 2 and all(
            "\u0e00" <= character <= "\u0eff" for character in around
        )
        if stops or (
            is_space_between_letters
            and _is_phrase(piece[start : match.start()])
            and _is_phrase(piece[match.end() :])
        ):
            yield start, match.end()
            start = match.end()
    yield start, len(piece)


def _is_phrase(text: str) -> bool:
    return count_words(text[:80]) >= _MIN_PHRASE_WORDS


def _cut_if_long(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of pieces of at most the maximum length of a sentence."""
    while (max_length := _max_characters(text, start, end)) < end - start:
        cuts = [match.end() for match in _PAUSE.finditer(text, start, start + max_length)]
        cut = (
            cuts[-1]
            if cuts and cuts[-1] > start + max_length // 4
            else _letter_end(text, start + max_length, end)
        )
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _max_characters(text: str, start: int, end: int) -> int:
    """Return the maximum number of characters of a sentence that begins at `start`."""
    if end - start <= _MAX_WORDS:
        return end - start
    sample = text[start : min(end, start + _MAX_WORDS * 5)]
    if len(UNSPACED.findall(sample)) * 2 < len(sample) or count_words(sample) <= _MAX_WORDS:
        return _MAX_CHARACTERS if end - start > len(sample) else end - start
    return max(1, int(len(sample) * _MAX_WORDS / count_words(sample)))


def _letter_end(text: str, end_of_letter: int, end: int) -> int:
    """Return the position after the combining marks that follow `end_of_letter`."""
    while end_of_letter < end and unicodedata.category(text[end_of_letter])[0] == "M":
        end_of_letter += 1
    return end_of_letter


def _trim(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    content = piece.strip()
    bullet = _BULLET.match(content)
    if bullet and not content[0].isdigit():
        words = content[bullet.end() :].lstrip()  # may be on the next line
        start += len(content) - len(words)
        content = words
    return Span(content, start, start + len(content))


def _is_heading(sentence: str) -> bool:
    if sentence.endswith(_TERMINAL):
        return False
    words = [word for word in sentence.split() if word[0].isalpha()]
    if words and not any(word[0].isupper() or word[0].islower() for word in words):
        return False  # a script without capitals
    n_capitalised = sum(word[0].isupper() for word in words if len(word) > 3 or word[0].isupper())
    n_long = sum(len(word) > 3 or word[0].isupper() for word in words)
    return n_capitalised >= 0.8 * n_long


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
"""Patterns, each with substrings of which the casefolded text must contain one before the pattern
is searched: a search through a long text takes a hundred times as long. Patterns anchored at the
start need none."""
