"""Finding in an article, headline or text, the passage that a model says it quotes."""

from __future__ import annotations

from dataclasses import dataclass

from fairjudge.domain import Article
from fairjudge.text.quoting import Quotable


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of an article: ``start`` and ``end`` count in its title, a blank line, its content.

    ``text`` has single spaces and no line breaks.
    """

    text: str
    start: int
    end: int


class QuotableArticle:
    """An article, prepared to find passages in; its headline and content are searched apart."""

    def __init__(self, article: Article) -> None:
        self._parts = (
            (article.content, Quotable(article.content), len(article.title) + 2),
            (article.title, Quotable(article.title), 0),
        )

    def find(self, quote: str) -> Passage | None:
        """Return the passage that `quote` stands for (see `Quotable.find`), or None.

        The part that has it with fewer edits holds it; the content, where both are the same.
        """
        found = [
            (span, text, offset)
            for text, quotable, offset in self._parts
            if (span := quotable.find(quote)) is not None
        ]
        if not found:
            return None
        span, text, offset = min(found, key=lambda one: one[0].edits)
        words = " ".join(text[span.start : span.end].split())
        return Passage(text=words, start=offset + span.start, end=offset + span.end)
