"""Split text into statements: sentences, also inside quotations.

`fairjudge.text.sentences` keeps a quotation of several sentences together; with unbalanced quotes
(as in tokenised text) that can be a whole summary. Support is judged sentence by sentence, so here
every full stop counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fairjudge.text.scripts import count_words
from fairjudge.text.sentences import Span, split_sentences

_END = re.compile(
    r"[.!?](?:\s?(?:''|['\"\u2019\u201d]))?\s+(?=\S)"
    r"|[\u3002\uff01\uff1f\uff0e\uff61][\u300d\u300f\u201d\u2019\"']?\s*(?=\S)"
    r"|[\u061f\u06d4\u0964\u0965\u1362\u1367\u104b\u17d4\u17d5\u0589]['\"\u2019\u201d\u00bb]?\s*(?=\S)"
)
_SHORT_FORMS = """mr mrs ms dr st prof gen sen rep gov lt col sgt jr sr no vs corp inc co ltd mt rev
hon capt dept al"""
_ABBREVIATIONS = frozenset(_SHORT_FORMS.split())


def split_statements(text: str) -> tuple[Span, ...]:
    """Split `text` into sentences, and these at full stops inside quotations.

    Same contract as `split_sentences`: verbatim pieces in order, each with a letter or digit;
    empty for a text without a word.
    """
    return tuple(piece for span in split_sentences(text) for piece in _pieces(span))


def statement_texts(text: str) -> tuple[str, ...]:
    """Return the texts of `split_statements`."""
    return tuple(span.text for span in split_statements(text))


def clauses_of(statement: str) -> tuple[str, ...]:
    """Return the independent clauses of a statement, in order; itself if it is a single one.

    It is split at semicolons and conjunctions ("..., and", "while", "but"), if every part has at
    least `MIN_WORDS` words. English only.
    """
    parts = [part.strip(" ,.") for part in _JOINT.split(statement)]
    if len(parts) < 2 or min(count_words(part) for part in parts) < MIN_WORDS:
        return (statement,)
    return tuple(parts)


MIN_WORDS = 4
_JOINT = re.compile(r";|, (?:and|but)\b|,? \b(?:but|while|although|though|whereas)\b")


def _pieces(span: Span) -> Iterator[Span]:
    start = 0
    for match in _END.finditer(span.text):
        piece = span.text[start : match.end()]
        if _ends_a_sentence(span.text, match) and re.search(r"\w", piece):
            yield _span(span, start, match.end())
            start = match.end()
    if re.search(r"\w", span.text[start:]):
        yield _span(span, start, len(span.text))


def _ends_a_sentence(text: str, match: re.Match[str]) -> bool:
    """Return whether a full stop ends a sentence, not an abbreviation or initial.

    It does after a space, or after a full word unless a lower-case letter follows.
    """
    text_before = text[: match.start()]
    if not text_before or text_before[-1].isspace():
        return True
    last_word = re.sub(r"^\W+", "", text_before.split()[-1])
    if match.group()[0] == "." and (
        len(last_word) < 2 or "." in last_word or last_word.lower() in _ABBREVIATIONS
    ):
        return False
    return not text[match.end()].islower()


def _span(span: Span, start: int, end: int) -> Span:
    text = span.text[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    return Span(text, span.start + start, span.start + start + len(text))
