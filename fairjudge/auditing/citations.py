"""Citations of summaries: support of sentences by the cited and by swapped articles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairjudge.auditing.statements import rows_with_statements
from fairjudge.domain import Cluster, Judgement, Summary
from fairjudge.errors import InputError
from fairjudge.records.results import figure
from fairjudge.scores.citations import CitationScores, citation_scores
from fairjudge.stats.clustered import clustered_mean, within


def citations_report(
    rows: Iterable[Judgement], summaries: Iterable[Summary], clusters: Sequence[Cluster] = ()
) -> dict[str, Any]:
    """Return how far each system's citations support its sentences, by judge.

    ``borne_out`` is the share of sentences whose statements are each supported by an article that
    the sentence cites, ``relevant`` the share of citations whose article says something of a
    statement, both with an interval over clusters. ``swapped`` is a planted check, None without
    `clusters`: the same share of the sentences that cite, with each sentence's citations swapped
    for as many other articles of its cluster, and how much higher it is ``as_cited``. Raises
    InputError if no judgement has statements, or no summary that was judged has citations.
    """
    items = rows_with_statements(rows)
    by_item = {(summary.eid, summary.system): summary for summary in summaries}
    articles = {
        cluster.eid: tuple(article.aid for article in cluster.articles) for cluster in clusters
    }
    groups = [
        {"judge": judge, "system": system, **_group(scores, articles)}
        for (judge, system), members in items.items()
        if (scores := citation_scores(members, by_item)) is not None
    ]
    if not groups:
        raise InputError("no summary that was judged has citations", field="citations")
    return {"groups": groups}


def _group(scores: CitationScores, articles: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    sentences, citations = scores.sentences, scores.citations
    return {
        "n_sentences": scores.n_sentences,
        "n_cited": scores.n_cited,
        "n_citations": len(citations),
        "n_unknown": scores.n_unknown,
        "borne_out": _share([(sentence.eid, sentence.borne_out) for sentence in sentences]),
        "relevant": _share([(citation.eid, citation.relevant) for citation in citations]),
        "support": dict(Counter(citation.support for citation in citations)),
        "swapped": _swapped(scores, articles) if articles else None,
        "citations": [
            {
                "eid": citation.eid,
                "sentence": citation.sentence,
                "aid": citation.aid,
                "support": citation.support,
                "relevant": citation.relevant,
            }
            for citation in citations
        ],
    }


def _swapped(scores: CitationScores, articles: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    swapped = [
        (sentence.eid, float(sentence.borne_out), share)
        for sentence in scores.sentences
        if (share := sentence.borne_out_if_swapped(articles.get(sentence.eid, ()))) is not None
    ]
    differences = [as_cited - share for _, as_cited, share in swapped]
    return {
        "n": len(swapped),
        "as_cited": _share([(eid, as_cited) for eid, as_cited, _ in swapped]),
        "swapped": _share([(eid, share) for eid, _, share in swapped]),
        "difference": figure(clustered_mean(differences, [eid for eid, *_ in swapped], null=0.0)),
    }


def _share(values: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """Return a mean of shares by cluster, with an interval within [0, 1]."""
    mean = clustered_mean([float(value) for _, value in values], [eid for eid, _ in values])
    return figure(within(mean, 0.0, 1.0))
