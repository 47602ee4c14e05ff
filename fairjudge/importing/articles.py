"""Add texts to the articles of references from files that only name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fairjudge.domain import Article, Cluster, Reference


def with_texts(references: Iterable[Reference], clusters: Iterable[Cluster]) -> Iterator[Reference]:
    """Yield `references` with articles without text completed from `clusters`.

    Articles are matched by the ids of the cluster and the article. Fields of the reference itself,
    such as whether an article was used, have priority.
    """
    by_cluster = {
        cluster.eid: {article.aid: article for article in cluster.articles} for cluster in clusters
    }
    for reference in references:
        articles_by_id = by_cluster.get(reference.eid, {})
        articles = tuple(_with_text(article, articles_by_id) for article in reference.articles)
        yield reference.model_copy(update={"articles": articles})


def _with_text(article: Article, articles_by_id: Mapping[str, Article]) -> Article:
    known_article = articles_by_id.get(article.aid)
    if known_article is None or article.content:
        return article
    own = {name: value for name, value in article.to_json().items() if name != "content"}
    return Article.model_validate({**known_article.to_json(), **own})
