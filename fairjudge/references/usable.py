"""Which articles of a cluster hold enough news to be asked anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairjudge.domain import Article
from fairjudge.text.sentences import news_sentences

MIN_WORDS = 40
"""Fewer words of news than this are a stub: a headline, a notice, the lines before a paywall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An article that was left out, and why."""

    aid: str
    reason: str


def usable(
    articles: Sequence[Article], *, min_words: int = MIN_WORDS
) -> tuple[tuple[Article, ...], tuple[Skipped, ...]]:
    """Split a cluster into the articles that hold news and those that do not.

    Parameters
    ----------
    articles : sequence of Article
    min_words : int
        Words that must be left once page furniture, headings and fragments are taken away.

    Returns
    -------
    kept, skipped
        Both in cluster order; every skipped article is named with its reason.
    """
    kept: list[Article] = []
    skipped: list[Skipped] = []
    for article in articles:
        reason = _why_not(article.content, min_words)
        if reason is None:
            kept.append(article)
        else:
            skipped.append(Skipped(aid=article.aid, reason=reason))
    return tuple(kept), tuple(skipped)


def _why_not(content: str, min_words: int) -> str | None:
    if not content.strip():
        return "empty"
    count = sum(len(sentence.text.split()) for sentence in news_sentences(content))
    if count < min_words:
        return f"stub: {count} words of news, fewer than {min_words}"
    return None
