"""Select the articles of a cluster with enough news text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from fairjudge.domain import Article, Cluster
from fairjudge.text.counting import pluralize
from fairjudge.text.sentences import news_with_counts

MIN_WORDS = 40
"""Minimum words of news of an article; shorter ones are stubs (headlines, notices, teasers)."""
MIN_SHARE_OF_MEDIAN = 0.25
"""In a cluster of short texts, such as reviews, stubs have less than this share of the median."""
_ENOUGH_WORDS = int(2 * MIN_WORDS / MIN_SHARE_OF_MEDIAN)
"""Number of words at which counting stops, since more words do not change the result."""
_EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An excluded article and the reason."""

    aid: str
    reason: str


def usable(articles: Sequence[Article]) -> tuple[tuple[Article, ...], tuple[Skipped, ...]]:
    """Return the usable articles of a cluster and the stubs, each with its reason, in order.

    An article needs `MIN_WORDS` words without boilerplate, headings and fragments; in a cluster of
    short texts, a quarter of the median over its articles with news, if that is less.
    """
    counts = [_words_of_news(article.content) for article in articles]
    with_news = [count for count in counts if count]
    median_words = median(with_news) if with_news else 0
    min_words = max(1, min(MIN_WORDS, int(median_words * MIN_SHARE_OF_MEDIAN)))
    reasons = [
        (article, _stub_reason(count, min_words))
        for article, count in zip(articles, counts, strict=True)
    ]
    return (
        tuple(article for article, reason in reasons if reason is None),
        tuple(
            Skipped(aid=article.aid, reason=stub_reason)
            for article, stub_reason in reasons
            if stub_reason is not None
        ),
    )


def worth_reading(articles: Sequence[Article]) -> tuple[Article, ...]:
    """Return the articles without stubs, as shown to judges and summarizers.

    If all articles are stubs, those with content are returned.
    """
    usable_articles, _ = usable(articles)
    return usable_articles or tuple(article for article in articles if article.content.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleLeftOut(Skipped):
    """An article of the cluster ``eid`` that is in no prompt, and the reason."""

    eid: str

    def to_json(self) -> dict[str, str]:
        """Return the ids of the article and the reason."""
        return {"eid": self.eid, "aid": self.aid, "why": self.reason}


def articles_left_out(clusters: Iterable[Cluster]) -> tuple[ArticleLeftOut, ...]:
    """Return the articles that `worth_reading` excludes from each cluster, in order."""
    return tuple(
        ArticleLeftOut(eid=cluster.eid, aid=stub.aid, reason=stub.reason)
        for cluster in clusters
        for usable_articles, stubs in [usable(cluster.articles)]
        for stub in stubs
        if usable_articles or stub.reason == _EMPTY
    )


def _words_of_news(content: str) -> int | None:
    """Return the number of words of news, at most `_ENOUGH_WORDS`; None if there is no text."""
    if not content.strip():
        return None
    count = 0
    for _, n_words in news_with_counts(content):
        count += n_words
        if count >= _ENOUGH_WORDS:
            return _ENOUGH_WORDS
    return count


def _stub_reason(count: int | None, min_words: int) -> str | None:
    if count is None:
        return _EMPTY
    if count < min_words:
        return f"stub: {pluralize(count, 'word')} of news, fewer than {min_words}"
    return None
