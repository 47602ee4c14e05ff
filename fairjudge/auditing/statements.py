"""What checklists of faithfulness report, as JSON: unsupported statements, and citations."""

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
from fairjudge.stats.clustered import clustered_mean, within


def statements_report(
    rows: Iterable[Judgement],
    clusters: Sequence[Cluster] = (),
    summaries: Iterable[Summary] = (),
) -> dict[str, Any]:
    """Return how faithful each system is by its statements, by judge.

    ``share`` is that of statements supported, ``worst`` the mean over summaries of their worst
    statement (1 supported, 0.5 in no article, 0 contradicted), both in [0, 1] with an interval over
    clusters; ``errors`` names what is not supported, gravest first; ``articles`` has the share of
    each outlet's cluster's statements that it supports; ``citations`` what `citation_scores` says,
    None where no summary cites. Raises InputError if no judgement has statements.
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
    cited = citation_scores(rows, summaries)
    return {
        "judge": judge,
        "system": system,
        "n_summaries": len(rows),
        "n_statements": len(entries),
        **{name: counts[name] for name in ("supported", "contradicted", "absent")},
        "grave": sum(entry.grave for entry in entries),
        "share": _mean(rows, share_supported),
        "worst": _mean(rows, worst_of),
        "articles": _supporting(rows, outlets),
        "errors": [error for row in rows for error in _errors(row, outlets)],
        "citations": None if cited is None else _cited(cited, outlets),
    }


def _mean(rows: Sequence[Judgement], score: Any) -> dict[str, Any]:
    by_eid: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_eid[row.eid].append(score(row.statements))
    return _share([(eid, fmean(values)) for eid, values in by_eid.items()])


def _share(values: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """Return a mean of shares by cluster, with an interval within [0, 1]."""
    mean = clustered_mean([float(value) for _, value in values], [eid for eid, _ in values])
    return figure(within(mean, 0.0, 1.0))


def _supporting(
    rows: Sequence[Judgement], outlets: Mapping[tuple[str, str], str]
) -> dict[str, float]:
    """Return the share of statements that each outlet supports, of the summaries on its events."""
    of_event: dict[str, dict[str, str]] = defaultdict(dict)
    for (eid, aid), outlet in outlets.items():
        of_event[eid][aid] = outlet
    supported: Counter[str] = Counter()
    n: Counter[str] = Counter()
    for row in rows:
        entries = row.statements or ()
        outlets_of_event = of_event.get(row.eid, {})
        named_outlets = {
            aid: outlets_of_event.get(aid, aid) for entry in entries for aid in entry.articles
        }
        for aid, outlet in {**outlets_of_event, **named_outlets}.items():
            n[outlet] += len(entries)
            supported[outlet] += sum(entry.is_supported_by([aid]) for entry in entries)
    return {outlet: supported[outlet] / n[outlet] for outlet in n}


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


def _cited(scores: CitationScores, outlets: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    return {
        "n_sentences": scores.n_sentences,
        "n_cited": scores.n_cited,
        "n_borne_out": scores.n_borne_out,
        "n_citations": len(scores.citations),
        "n_unknown": scores.n_unknown,
        "borne_out": scores.share_borne_out,
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
    """Count each system's statements, those contradicted and those in no article."""
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
        {"judge": judge, "system": system, **_citations_group(scores, articles)}
        for (judge, system), members in items.items()
        if (scores := citation_scores(members, by_item)) is not None
    ]
    if not groups:
        raise InputError("no summary that was judged has citations", field="citations")
    return {"groups": groups}


def _citations_group(
    scores: CitationScores, articles: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    return {
        "n_sentences": scores.n_sentences,
        "n_cited": scores.n_cited,
        "n_citations": len(scores.citations),
        "n_unknown": scores.n_unknown,
        "borne_out": _share([(sentence.eid, sentence.borne_out) for sentence in scores.sentences]),
        "relevant": _share([(citation.eid, citation.relevant) for citation in scores.citations]),
        "support": dict(Counter(citation.support for citation in scores.citations)),
        "swapped": _swapped(scores, articles) if articles else None,
        "citations": to_json(scores.citations),
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
