"""Scores that need no judge; a judge that does not beat them is not worth its calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log1p
from typing import TypeAlias, get_args

from fairjudge.calibration.choices import CovariateName
from fairjudge.domain import Cluster, Reference, Summary
from fairjudge.errors import ConfigurationError
from fairjudge.text.spellings import with_labels
from fairjudge.text.tokens import words

Scores: TypeAlias = Mapping[tuple[str, str], float]
"""A score of each (eid, system)."""
LEAD_WORDS = 100
"""The lead of an article: its first words, as many as this."""


def baseline_scores(
    summaries: Iterable[Summary], clusters: Iterable[Cluster] = ()
) -> dict[str, dict[tuple[str, str], float]]:
    """Score each (eid, system) by length and, given `clusters`, by overlap with their articles.

    ``"longest"``: number of words; ``"shortest"``: its negative; ``"lead_overlap"``: share of the
    summary's words, in [0, 1], that occur in the first `LEAD_WORDS` words of one of its cluster's
    articles (0 for an empty summary); ``"source_overlap"``: the same of whole articles;
    ``"reference_overlap"``: share of the words of a reference's answers, in [0, 1], that occur in
    the summary, where `clusters` are references.
    """
    sources = tuple(clusters)
    words_by_summary = {(summary.eid, summary.system): words(summary.text) for summary in summaries}
    out = {
        "longest": {key: float(len(tokens)) for key, tokens in words_by_summary.items()},
        "shortest": {key: -float(len(tokens)) for key, tokens in words_by_summary.items()},
    }
    overlaps = {
        "lead_overlap": _share_of_words(words_by_summary, _words_of(sources, limit=LEAD_WORDS)),
        "source_overlap": _share_of_words(words_by_summary, _words_of(sources)),
        "reference_overlap": _recall_of_words(words_by_summary, _answer_words(sources)),
    }
    return out | {name: overlap for name, overlap in overlaps.items() if overlap}


def _words_of(clusters: Iterable[Cluster], limit: int | None = None) -> dict[str, frozenset[str]]:
    return {
        cluster.eid: frozenset(
            word for article in cluster.articles for word in words(article.content)[:limit]
        )
        for cluster in clusters
    }


def _answer_words(clusters: Iterable[Cluster]) -> dict[str, frozenset[str]]:
    """Return the words of the answers of each reference that has some."""
    words_by_cluster = {}
    for cluster in clusters:
        if "question_answers" in cluster.to_json():
            reference = Reference.model_validate(cluster.to_json())
            answers = (
                answer.answer
                for question in reference.question_answers
                for group in question.answer_groups
                for answer in group
            )
            words_by_cluster[cluster.eid] = frozenset(
                word for answer in answers for word in words(answer)
            )
    return {eid: tokens for eid, tokens in words_by_cluster.items() if tokens}


def _recall_of_words(
    words_by_summary: Mapping[tuple[str, str], Sequence[str]],
    words_by_cluster: Mapping[str, frozenset[str]],
) -> dict[tuple[str, str], float]:
    return {
        key: len(words_by_cluster[key[0]] & frozenset(tokens)) / len(words_by_cluster[key[0]])
        for key, tokens in words_by_summary.items()
        if key[0] in words_by_cluster
    }


def _share_of_words(
    words_by_summary: Mapping[tuple[str, str], Sequence[str]],
    words_by_cluster: Mapping[str, frozenset[str]],
) -> dict[tuple[str, str], float]:
    return {
        key: sum(word in words_by_cluster[key[0]] for word in tokens) / len(tokens)
        if tokens
        else 0.0
        for key, tokens in words_by_summary.items()
        if key[0] in words_by_cluster
    }


_BASELINES: Mapping[CovariateName, str] = {
    "overlap": "source_overlap",
    "lead": "lead_overlap",
    "answers": "reference_overlap",
}


def covariates(
    names: Iterable[CovariateName], summaries: Iterable[Summary], clusters: Iterable[Cluster]
) -> dict[CovariateName, dict[tuple[str, str], float]]:
    """Return numbers of the text of each (eid, system), for juries and regressions.

    ``"length"``: the logarithm of 1 + words. The others are shares of words, in [0, 1], as those of
    `baseline_scores`: ``"overlap"`` with whole articles, ``"lead"`` with leads, ``"answers"`` of
    the reference's answers.
    """
    requested = tuple(names)
    if not requested:
        return {}
    scores = baseline_scores(summaries, clusters)
    lengths = {key: log1p(n) for key, n in scores["longest"].items()}
    return {
        name: lengths if name == "length" else scores.get(_BASELINES[name], {})
        for name in requested
    }


def covariate_names(
    name_lists: str | Sequence[str], *, of_texts: bool, of_clusters: bool
) -> tuple[CovariateName, ...]:
    """Return the covariates that texts name, each once; a text may hold several, with commas.

    Raises
    ------
    ConfigurationError
        A name is of none, or of one for which there are no summaries or no clusters.
    """
    names_by_text = {str(name): name for name in get_args(CovariateName)}
    texts = [name_lists] if isinstance(name_lists, str) else name_lists
    names = [name.strip() for text in texts for name in text.split(",")]
    for name in filter(None, names):
        if name not in names_by_text:
            raise ConfigurationError(
                f"covariates: expected some of {list(names_by_text)}, found {name!r}"
            )
        needed = "summaries" if name == "length" else "summaries and clusters"
        if not (of_texts and (of_clusters or name == "length")):
            raise ConfigurationError(f"covariates: {name} needs {needed}")
    return tuple(dict.fromkeys(names_by_text[name] for name in names if name))


def document_groups(clusters: Iterable[Cluster]) -> dict[str, dict[str, str]]:
    """Group documents, by grouping and eid, as most of their articles' outlets and attributes say.

    A document without a majority (more than half of its articles) is left out; so is a grouping
    with fewer than two groups.
    """
    out: dict[str, dict[str, str]] = {}
    for cluster in with_labels(clusters):
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        for article in cluster.articles:
            attributes = {name: str(value) for name, value in article.attributes.items()}
            if article.domain:
                attributes["outlet"] = article.domain
            for name, value in attributes.items():
                votes[name][value] += 1
        for name, counts in votes.items():
            groups = out.setdefault(name, {})
            value, n = counts.most_common(1)[0]
            if 2 * n > len(cluster.articles):
                groups[cluster.eid] = value
    return {name: groups for name, groups in out.items() if len(set(groups.values())) >= 2}


def word_counts(summaries: Iterable[Summary]) -> Mapping[tuple[str, str], int]:
    """Count the words of each summary."""
    return {(summary.eid, summary.system): len(words(summary.text)) for summary in summaries}
