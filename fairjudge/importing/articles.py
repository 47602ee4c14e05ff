"""Texts for the articles of references that other tools' files only name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fairjudge.domain import Article, Cluster, Reference


def with_texts(references: Iterable[Reference], clusters: Iterable[Cluster]) -> Iterator[Reference]:
    """Yield `references`; articles without text have what `clusters` say of them.

    An article is known by the ids of its cluster and its own. What the reference itself says of it,
    such as whether it was used, stays.
    """
    known = {cluster.eid: {one.aid: one for one in cluster.articles} for cluster in clusters}
    for reference in references:
        found = known.get(reference.eid, {})
        articles = tuple(_with_text(one, found) for one in reference.articles)
        yield reference.model_copy(update={"articles": articles})


def _with_text(article: Article, known: Mapping[str, Article]) -> Article:
    found = known.get(article.aid)
    if found is None or article.content:
        return article
    own = {name: said for name, said in article.to_json().items() if name != "content"}
    return Article.model_validate({**found.to_json(), **own})
