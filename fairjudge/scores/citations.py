"""Citations of a summary, by the statements of its sentences that the cited articles support.

No call is made: which articles support a statement is in the checklists of faithfulness. Support
and borne-out sentences are the recall, relevance the precision of ALCE (Gao et al. 2023), statement
by statement in the place of sentence by sentence. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
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
class CitedSentence:
    """One sentence (counted from 0): its statements, and the articles that it cites, if any."""

    eid: str
    sentence: int
    aids: tuple[str, ...]
    entries: tuple[StatementEntry, ...]

    @property
    def borne_out(self) -> bool:
        """Whether each statement is supported by an article that the sentence cites."""
        return self._is_borne_out_by(self.aids)

    def borne_out_if_swapped(self, articles: Sequence[str]) -> float | None:
        """Return how often equally many other `articles` support the sentence.

        Each other article is cited equally often; None where there is no other, or no citation.
        """
        other_aids = [aid for aid in articles if aid not in self.aids]
        if not other_aids or not self.aids:
            return None
        n = min(len(self.aids), len(other_aids))
        twice = other_aids * 2
        return fmean(
            self._is_borne_out_by(twice[start : start + n]) for start in range(len(other_aids))
        )

    def _is_borne_out_by(self, aids: Sequence[str]) -> bool:
        return all(entry.is_supported_by(aids) for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationScores:
    """The citations of one system.

    ``sentences`` are those with statements in summaries that cite; ``n_unknown`` counts citations
    of words that are no sentence of the summary.
    """

    sentences: tuple[CitedSentence, ...]
    citations: tuple[CitationScore, ...]
    n_unknown: int

    @property
    def n_sentences(self) -> int:
        """The number of sentences."""
        return len(self.sentences)

    @property
    def n_cited(self) -> int:
        """How many of the sentences cite."""
        return sum(bool(sentence.aids) for sentence in self.sentences)

    @property
    def n_borne_out(self) -> int:
        """How many of the sentences their citations bear out."""
        return sum(sentence.borne_out for sentence in self.sentences)

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
    """Measure a system's citations by the checklists in `rows`.

    `summaries` are by (eid, system). None where no summary that was judged has citations.
    """
    sentences: list[CitedSentence] = []
    n_unknown = 0
    for row in rows:
        summary = summaries.get((row.eid, str(row.system)))
        if summary is None or summary.citations is None or not row.statements:
            continue
        cited, unknown = cited_articles(summary)
        n_unknown += unknown
        by_sentence: dict[int, list[StatementEntry]] = defaultdict(list)
        for entry in row.statements:
            by_sentence[entry.sentence].append(entry)
        sentences += [
            CitedSentence(
                eid=row.eid,
                sentence=number,
                aids=cited.get(number, ()),
                entries=tuple(entries),
            )
            for number, entries in by_sentence.items()
        ]
    if not sentences:
        return None
    return CitationScores(
        sentences=tuple(sentences),
        citations=tuple(score for sentence in sentences for score in _scores(sentence)),
        n_unknown=n_unknown,
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


def _scores(cited: CitedSentence) -> Iterator[CitationScore]:
    entries = cited.entries
    for aid in cited.aids:
        n_supported = sum(entry.is_supported_by((aid,)) for entry in entries)
        is_cited = any(aid in entry.articles for entry in entries)
        support: Support = "full" if n_supported == len(entries) else "part"
        if n_supported == 0:
            support = "contradicts" if is_cited else "none"
        yield CitationScore(
            eid=cited.eid, sentence=cited.sentence, aid=aid, support=support, relevant=is_cited
        )
