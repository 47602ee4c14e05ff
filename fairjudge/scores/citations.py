"""Evaluate the citations of a summary by which statements the cited articles support.

No call is made: checklists of faithfulness contain the articles that support each statement. The
share of supported sentences corresponds to the recall of ALCE (Gao et al. 2023), the share of
relevant citations to its precision, measured on statements instead of sentences. Pure.
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
    """One article cited for one sentence (0-based).

    ``support`` is "full" if the article supports every statement of the sentence, "part" if it
    supports some, and "contradicts" if it supports none and contradicts one. ``relevant`` is True
    if the article supports or contradicts a statement.
    """

    eid: str
    sentence: int
    aid: str
    support: Support
    relevant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedSentence:
    """One sentence (0-based): its statements, and the articles that it cites, if any."""

    eid: str
    sentence: int
    aids: tuple[str, ...]
    entries: tuple[StatementEntry, ...]

    @property
    def is_supported(self) -> bool:
        """Whether each statement is supported by an article that the sentence cites."""
        return self._is_supported_by(self.aids)

    def support_if_swapped(self, articles: Sequence[str]) -> float | None:
        """Return the share of swaps with an equal number of uncited `articles` that support it.

        Each uncited article occurs equally often. None if the sentence or `articles` has none.
        """
        uncited_aids = [aid for aid in articles if aid not in self.aids]
        if not uncited_aids or not self.aids:
            return None
        n = min(len(self.aids), len(uncited_aids))
        cycle = uncited_aids * 2
        return fmean(
            self._is_supported_by(cycle[start : start + n]) for start in range(len(uncited_aids))
        )

    def _is_supported_by(self, aids: Sequence[str]) -> bool:
        return all(entry.is_supported_by(aids) for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationScores:
    """The citations of one system.

    ``sentences`` are the sentences with statements in summaries with citations; ``n_unknown``
    counts citations whose text does not occur in the summary.
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
        """The number of sentences with a citation."""
        return sum(bool(sentence.aids) for sentence in self.sentences)

    @property
    def n_supported(self) -> int:
        """The number of sentences supported by their citations."""
        return sum(sentence.is_supported for sentence in self.sentences)

    @property
    def share_supported(self) -> float:
        """The share of sentences, in [0, 1], supported by their citations."""
        return self.n_supported / self.n_sentences

    @property
    def share_relevant(self) -> float | None:
        """The share of citations that are relevant; None if there are no citations."""
        n = len(self.citations)
        return sum(citation.relevant for citation in self.citations) / n if n else None


def citation_scores(
    rows: Sequence[Judgement], summaries: Mapping[tuple[str, str], Summary]
) -> CitationScores | None:
    """Evaluate a system's citations by the checklists in `rows`.

    `summaries` are by (eid, system). None if no judged summary has citations.
    """
    sentences: list[CitedSentence] = []
    n_unknown = 0
    for row in rows:
        summary = summaries.get((row.eid, str(row.system)))
        if summary is None or summary.citations is None or not row.statements:
            continue
        aids_by_sentence, n_unmatched = cited_articles(summary)
        n_unknown += n_unmatched
        by_sentence: dict[int, list[StatementEntry]] = defaultdict(list)
        for entry in row.statements:
            by_sentence[entry.sentence].append(entry)
        sentences += [
            CitedSentence(
                eid=row.eid,
                sentence=number,
                aids=aids_by_sentence.get(number, ()),
                entries=tuple(entries),
            )
            for number, entries in by_sentence.items()
        ]
    if not sentences:
        return None
    return CitationScores(
        sentences=tuple(sentences),
        citations=tuple(score for sentence in sentences for score in _sentence_scores(sentence)),
        n_unknown=n_unknown,
    )


def cited_articles(summary: Summary) -> tuple[dict[int, tuple[str, ...]], int]:
    """Return the articles cited by each sentence (0-based), and the number of unmatched citations.

    A citation belongs to every sentence that overlaps its text.
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


def _sentence_scores(sentence: CitedSentence) -> Iterator[CitationScore]:
    entries = sentence.entries
    for aid in sentence.aids:
        n_supported = sum(entry.is_supported_by((aid,)) for entry in entries)
        is_cited = any(aid in entry.articles for entry in entries)
        support: Support = "full" if n_supported == len(entries) else "part"
        if n_supported == 0:
            support = "contradicts" if is_cited else "none"
        yield CitationScore(
            eid=sentence.eid,
            sentence=sentence.sentence,
            aid=aid,
            support=support,
            relevant=is_cited,
        )
