"""Putting together what ``calibrate`` needs beside judgements and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fairjudge.domain import Cluster, Summary
from fairjudge.judges.support import index_sources, sentence_support, summary_support
from fairjudge.protocols import Embedder
from fairjudge.text.statements import statement_texts


def embedding_support(
    summaries: Iterable[Summary], clusters: Sequence[Cluster], *, embedder: Embedder
) -> dict[tuple[str, str], float]:
    """Return how far each summary's cluster supports it, in [0, 1], by (eid, system).

    Left out: summaries without a sentence, and those whose cluster is not given or has none.
    """
    by_cluster: dict[str, list[Summary]] = {}
    for summary in summaries:
        by_cluster.setdefault(summary.eid, []).append(summary)
    out: dict[tuple[str, str], float] = {}
    for cluster in clusters:
        articles = [statement_texts(article.content) for article in cluster.articles]
        some = by_cluster.get(cluster.eid, [])
        if not some or not any(articles):
            continue
        index = index_sources(articles, embedder=embedder)
        for summary in some:
            sentences = statement_texts(summary.text)
            found = sentence_support(sentences, index, embedder=embedder)
            if found:
                out[summary.eid, summary.system] = summary_support(found)
    return out
