"""Reports from checklists of faithfulness, as JSON: unsupported statements, and citations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from fairjudge.domain import Cluster, Judgement, Summary
from fairjudge.errors import InputError
from fairjudge.judges.statements import most_severe_first, share_supported, worst_of
from fairjudge.records.results import figure, to_json
from fairjudge.scores.citations import CitationScores, citation_scores
from fairjudge.stats.clustered import clip_interval, clustered_mean


def statements_report(
    rows: Iterable[Judgement],
    clusters: Sequence[Cluster] = (),
    summaries: Iterable[Summary] = (),
) -> dict[str, Any]:
    """Return each system's faithfulness by judge, from statements.

    ``share`` is the share of supported statements, ``worst`` the mean over summaries of their worst
    statement (1 supported, 0.5 in no article, 0 contradicted), both in [0, 1] with an interval over
    clusters. ``errors`` lists unsupported statements, the most severe first. ``articles`` contains,
    per outlet, the share of statements on its events that it supports. ``citations`` are the
    results of `citation_scores`, None if no summary has citations. Raises InputError if no
    judgement has statements.
    """
    items = rows_with_statements(rows)
    outlets = {
        (cluster.eid, article.aid): article.domain or article.title or article.aid
        for cluster in clusters
        for article in cluster.articles
    }
    texts = {(summary.eid, summary.system): summary for summary in summaries}
    return {
        "groups": [
            _group(judge, system, members, outlets, texts)
            for (judge, system), members in items.items()
        ]
    }


def rows_with_statements(rows: Iterable[Judgement]) -> dict[tuple[str, str], list[Judgement]]:
    """Return the judgements that list statements, by judge and system.

    Raises InputError if there are none.
    """
    items: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for row in rows:
        if row.statements and row.system is not None:
            items[row.judge, row.system].append(row)
    if not items:
        raise InputError(
            "no judgement lists statements: judge with --aspect faithfulness --protocol checklist"
        )
    return items


def _group(
    judge: str,
    system: str,
    rows: Sequence[Judgement],
    outlets: Mapping[tuple[str, str], str],
    summaries: Mapping[tuple[str, str], Summary],
) -> dict[str, Any]:
    entries = [entry for row in rows for entry in row.statements or ()]
    counts = Counter(entry.verdict for entry in entries)
    citations = citation_scores(rows, summaries)
    return {
        "judge": judge,
        "system": system,
        "n_summaries": len(rows),
        "n_statements": len(entries),
        **{name: counts[name] for name in ("supported", "contradicted", "absent")},
        "grave": sum(entry.grave for entry in entries),
        "share": _mean(rows, share_supported),
        "worst": _mean(rows, worst_of),
        "articles": _support_by_outlet(rows, outlets),
        "errors": [error for row in rows for error in _errors(row, outlets)],
        "citations": None if citations is None else _citations(citations, outlets),
    }


def _mean(rows: Sequence[Judgement], score: Any) -> dict[str, Any]:
    by_eid: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_eid[row.eid].append(score(row.statements))
    return _share([(eid, fmean(values)) for eid, values in by_eid.items()])


def _share(values: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """Return a mean of shares by cluster, with an interval within [0, 1]."""
    mean = clustered_mean([float(value) for _, value in values], [eid for eid, _ in values])
    return figure(clip_interval(mean, 0.0, 1.0))


def _support_by_outlet(
    rows: Sequence[Judgement], outlets: Mapping[tuple[str, str], str]
) -> dict[str, float]:
    """Return, per outlet, the share of statements on its events that it supports."""
    outlets_by_event: dict[str, dict[str, str]] = defaultdict(dict)
    for (eid, aid), outlet in outlets.items():
        outlets_by_event[eid][aid] = outlet
    n_supported: Counter[str] = Counter()
    n: Counter[str] = Counter()
    for row in rows:
        entries = row.statements or ()
        outlets_of_event = outlets_by_event.get(row.eid, {})
        named_outlets = {
            aid: outlets_of_event.get(aid, aid) for entry in entries for aid in entry.articles
        }
        for aid, outlet in {**outlets_of_event, **named_outlets}.items():
            n[outlet] += len(entries)
            n_supported[outlet] += sum(entry.is_supported_by([aid]) for entry in entries)
    return {outlet: n_supported[outlet] / n[outlet] for outlet in n}


def _errors(row: Judgement, outlets: Mapping[tuple[str, str], str]) -> Iterable[dict[str, Any]]:
    for entry in most_severe_first(row.statements or ()):
        yield {
            "eid": row.eid,
            "sentence": entry.sentence,
            "statement": entry.statement,
            "verdict": entry.verdict,
            "grave": entry.grave,
            "articles": [outlets.get((row.eid, aid), aid) for aid in entry.articles],
            "quote": entry.quote,
        }


def _citations(scores: CitationScores, outlets: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    return {
        "n_sentences": scores.n_sentences,
        "n_cited": scores.n_cited,
        "n_borne_out": scores.n_supported,
        "n_citations": len(scores.citations),
        "n_unknown": scores.n_unknown,
        "borne_out": scores.share_supported,
        "support": dict(Counter(citation.support for citation in scores.citations)),
        "relevant": scores.share_relevant,
        "citations": [
            {
                "eid": citation.eid,
                "sentence": citation.sentence,
                "article": outlets.get((citation.eid, citation.aid), citation.aid),
                "support": citation.support,
                "relevant": citation.relevant,
            }
            for citation in scores.citations
        ],
    }


def statement_counts(rows: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """Count each system's statements, and how many are contradicted or in no article."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row.statements and row.system is not None:
            counts[row.system].update(entry.verdict for entry in row.statements)
    return {
        system: {
            "n": sum(support.values()),
            "contradicted": support["contradicted"],
            "absent": support["absent"],
        }
        for system, support in counts.items()
    }


def citations_report(
    rows: Iterable[Judgement], summaries: Iterable[Summary], clusters: Sequence[Cluster] = ()
) -> dict[str, Any]:
    """Return how well each system's citations support its sentences, by judge.

    ``borne_out`` is the share of sentences whose statements are each supported by an article that
    the sentence cites, ``relevant`` the share of citations whose article supports or contradicts a
    statement, both with an interval over clusters. ``swapped`` is a control, None without
    `clusters`: the share of supported sentences among those with citations if each citation is
    replaced by another article of the cluster, and the difference to the share ``as_cited``. Raises
    InputError if no judgement has statements, or no judged summary has citations.
    """
    items = rows_with_statements(rows)
    by_item = {(summary.eid, summary.system): summary for summary in summaries}
    articles = {
        cluster.eid: tuple(article.aid for article in cluster.articles) for cluster in clusters
    }
    groups = [
        {"judge": judge, "system": system, **_citations_group(scores, articles)}
        for (judge, system), members in items.items()
        if (scores := citation_scores(members, by_item)) is not None
    ]
    if not groups:
        raise InputError("no judged summary has citations", field="citations")
    return {"groups": groups}


def _citations_group(
    scores: CitationScores, articles: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    return {
        "n_sentences": scores.n_sentences,
        "n_cited": scores.n_cited,
        "n_citations": len(scores.citations),
        "n_unknown": scores.n_unknown,
        "borne_out": _share(
            [(sentence.eid, sentence.is_supported) for sentence in scores.sentences]
        ),
        "relevant": _share([(citation.eid, citation.relevant) for citation in scores.citations]),
        "support": dict(Counter(citation.support for citation in scores.citations)),
        "swapped": _swap_control(scores, articles) if articles else None,
        "citations": to_json(scores.citations),
    }


def _swap_control(scores: CitationScores, articles: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    swaps = [
        (sentence.eid, float(sentence.is_supported), share)
        for sentence in scores.sentences
        if (share := sentence.support_if_swapped(articles.get(sentence.eid, ()))) is not None
    ]
    differences = [share_as_cited - share for _, share_as_cited, share in swaps]
    return {
        "n": len(swaps),
        "as_cited": _share([(eid, share_as_cited) for eid, share_as_cited, _ in swaps]),
        "swapped": _share([(eid, share) for eid, _, share in swaps]),
        "difference": figure(clustered_mean(differences, [eid for eid, *_ in swaps], null=0.0)),
    }
