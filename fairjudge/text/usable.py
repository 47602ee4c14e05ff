"""Which articles of a cluster hold enough news to be asked anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from fairjudge.domain import Article, Cluster
from fairjudge.text.counting import pluralize
from fairjudge.text.scripts import count_words
from fairjudge.text.sentences import news_sentences

MIN_WORDS = 40
"""Fewer words of news than this are a stub: a headline, a notice, the lines before a paywall."""
MIN_SHARE_OF_MEDIAN = 0.25
"""In a cluster of short texts, such as reviews, only far shorter ones than usual are stubs."""


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
        Words that must be left once page furniture, headings and fragments are taken away; in a
        cluster of short texts, a quarter of the median over its articles with news, if that is
        less.

    Returns
    -------
    kept, skipped
        Both in cluster order; every skipped article is named with its reason.
    """
    counts = [_words_of_news(article.content) for article in articles]
    with_news = [count for count in counts if count]
    usual = median(with_news) if with_news else 0
    least = max(1, min(min_words, int(usual * MIN_SHARE_OF_MEDIAN)))
    kept: list[Article] = []
    skipped: list[Skipped] = []
    for article, count in zip(articles, counts, strict=True):
        reason = _why_not(count, least)
        if reason is None:
            kept.append(article)
        else:
            skipped.append(Skipped(aid=article.aid, reason=reason))
    return tuple(kept), tuple(skipped)


def worth_reading(articles: Sequence[Article]) -> tuple[Article, ...]:
    """Return the articles that judges and summarizers see: stubs left out.

    Where nothing but stubs is there, every article with content.
    """
    kept, _ = usable(articles)
    return kept or tuple(article for article in articles if article.content.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleLeftOut:
    """An article that no prompt shows, of the cluster ``eid``, and why."""

    eid: str
    aid: str
    reason: str

    def to_json(self) -> dict[str, str]:
        """Return the article and why no prompt shows it."""
        return {"eid": self.eid, "aid": self.aid, "why": self.reason}


def articles_left_out(clusters: Iterable[Cluster]) -> tuple[ArticleLeftOut, ...]:
    """Return the articles that `worth_reading` leaves out of each cluster, in order."""
    return tuple(
        ArticleLeftOut(eid=cluster.eid, aid=one.aid, reason=one.reason)
        for cluster in clusters
        for read in [{article.aid for article in worth_reading(cluster.articles)}]
        for one in usable(cluster.articles)[1]
        if one.aid not in read
    )


def _words_of_news(content: str) -> int | None:
    """Return how many words of news `content` has, None where it is empty."""
    if not content.strip():
        return None
    return sum(count_words(sentence.text) for sentence in news_sentences(content))


def _why_not(count: int | None, least: int) -> str | None:
    if count is None:
        return "empty"
    if count < least:
        return f"stub: {pluralize(count, 'word')} of news, fewer than {least}"
    return None
