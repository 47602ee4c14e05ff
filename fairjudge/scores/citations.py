"""Citations of a summary, by the statements of its sentences that the cited articles support.

No call is made: which articles support a statement is in the checklists of faithfulness. Support
and borne-out sentences are the recall, relevance the precision of ALCE (Gao et al. 2023), statement
by statement in the place of sentence by sentence. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.domain import Judgement, StatementEntry, Summary
from fairjudge.text.quoting import find_quote
from fairjudge.text.statements import split_statements

Support: TypeAlias = Literal["full", "part", "none", "contradicts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationScore:
    """One article cited for one sentence (counted from 0).

    ``support`` is full where the article supports every statement of the sentence, part where some,
    contradicts where it supports none and contradicts one. ``relevant``: it says something of a
    statement, for or against.
    """

    eid: str
    sentence: int
    aid: str
    support: Support
    relevant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationScores:
    """The citations of one system.

    ``n_sentences`` counts the sentences with statements in summaries that cite, ``n_cited`` those
    of them that cite, ``n_borne_out`` those of whose statements each is supported by an article
    that they cite, ``n_unknown`` citations of words that are no sentence of the summary.
    """

    n_sentences: int
    n_cited: int
    n_borne_out: int
    n_unknown: int
    citations: tuple[CitationScore, ...]

    @property
    def share_borne_out(self) -> float:
        """Share of sentences, in [0, 1], supported by their citations."""
        return self.n_borne_out / self.n_sentences

    @property
    def share_relevant(self) -> float | None:
        """The share of citations that are relevant; None where there is none."""
        n = len(self.citations)
        return sum(citation.relevant for citation in self.citations) / n if n else None


def citation_scores(
    rows: Sequence[Judgement], summaries: Mapping[tuple[str, str], Summary]
) -> CitationScores | None:
    """Return what the checklists in `rows`, of one system, say of its citations.

    `summaries` are by (eid, system). None where no summary that was judged has citations.
    """
    scored: list[CitationScore] = []
    n_sentences = n_cited = n_borne_out = n_unknown = 0
    citing = [
        (row, summary)
        for row in rows
        if (summary := summaries.get((row.eid, str(row.system)))) is not None
        if summary.citations is not None and row.statements
    ]
    for row, summary in citing:
        cited, unknown = cited_articles(summary)
        n_unknown += unknown
        by_sentence: dict[int, list[StatementEntry]] = defaultdict(list)
        for entry in row.statements or ():
            by_sentence[entry.sentence].append(entry)
        for sentence, entries in by_sentence.items():
            aids = cited.get(sentence, ())
            scored += _scores(row.eid, sentence, aids, entries)
            n_cited += bool(aids)
            n_borne_out += all(entry.is_supported_by(aids) for entry in entries)
        n_sentences += len(by_sentence)
    if not n_sentences:
        return None
    return CitationScores(
        n_sentences=n_sentences,
        n_cited=n_cited,
        n_borne_out=n_borne_out,
        n_unknown=n_unknown,
        citations=tuple(scored),
    )


def cited_articles(summary: Summary) -> tuple[dict[int, tuple[str, ...]], int]:
    """Return the articles that each sentence (from 0) cites, and how many citations have no place.

    A citation is of the sentences that its text shares a character with.
    """
    sentences = split_statements(summary.text)
    articles: dict[int, dict[str, None]] = defaultdict(dict)
    n_unknown = 0
    for citation in summary.citations or ():
        span = find_quote(citation.text, summary.text)
        if span is None:
            n_unknown += 1
            continue
        for number, sentence in enumerate(sentences):
            if sentence.start < span.end and span.start < sentence.end:
                articles[number] |= dict.fromkeys(citation.articles)
    return {number: tuple(aids) for number, aids in articles.items()}, n_unknown


def _scores(
    eid: str, sentence: int, aids: Sequence[str], entries: Sequence[StatementEntry]
) -> Iterator[CitationScore]:
    for aid in aids:
        n_supported = sum(entry.is_supported_by((aid,)) for entry in entries)
        named = any(aid in entry.articles for entry in entries)
        support: Support = "full" if n_supported == len(entries) else "part"
        if n_supported == 0:
            support = "contradicts" if named else "none"
        yield CitationScore(eid=eid, sentence=sentence, aid=aid, support=support, relevant=named)
