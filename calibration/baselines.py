"""Baseline scores that need no judge, covariates of texts, and groups of documents."""

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
"""Number of words at the start of an article that are its lead."""


def baseline_scores(
    summaries: Iterable[Summary], clusters: Iterable[Cluster] = ()
) -> dict[str, dict[tuple[str, str], float]]:
    """Score each (eid, system) by length and, with `clusters`, by overlap with their articles.

    * ``"longest"``: number of words; ``"shortest"``: its negative;
    * ``"lead_overlap"``: share of the summary's words, in [0, 1], that occur in the first
      `LEAD_WORDS` words of an article of its cluster (0 for an empty summary);
    * ``"source_overlap"``: the same with whole articles;
    * ``"reference_overlap"``, if `clusters` are references: share of the words of the reference's
      answers, in [0, 1], that occur in the summary.
    """
    sources = tuple(clusters)
    words_by_summary = {(summary.eid, summary.system): words(summary.text) for summary in summaries}
    scores = {
        "longest": {key: float(len(tokens)) for key, tokens in words_by_summary.items()},
        "shortest": {key: -float(len(tokens)) for key, tokens in words_by_summary.items()},
    }
    overlaps = {
        "lead_overlap": _word_precisions(
            words_by_summary, _source_words(sources, limit=LEAD_WORDS)
        ),
        "source_overlap": _word_precisions(words_by_summary, _source_words(sources)),
        "reference_overlap": _word_recalls(words_by_summary, _answer_words(sources)),
    }
    return scores | {name: overlap for name, overlap in overlaps.items() if overlap}


def _source_words(
    clusters: Iterable[Cluster], limit: int | None = None
) -> dict[str, frozenset[str]]:
    return {
        cluster.eid: frozenset(
            word for article in cluster.articles for word in words(article.content)[:limit]
        )
        for cluster in clusters
    }


def _answer_words(clusters: Iterable[Cluster]) -> dict[str, frozenset[str]]:
    """Return the words of each reference's answers, for references with answers."""
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


def _word_recalls(
    words_by_summary: Mapping[tuple[str, str], Sequence[str]],
    words_by_cluster: Mapping[str, frozenset[str]],
) -> dict[tuple[str, str], float]:
    return {
        key: len(words_by_cluster[key[0]] & frozenset(tokens)) / len(words_by_cluster[key[0]])
        for key, tokens in words_by_summary.items()
        if key[0] in words_by_cluster
    }


def _word_precisions(
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
    """Return covariates of each (eid, system), for juries and regressions.

    ``"length"`` is log(1 + number of words). The others are shares of words, in [0, 1], from
    `baseline_scores`: ``"overlap"`` is ``"source_overlap"``, ``"lead"`` is ``"lead_overlap"``,
    ``"answers"`` is ``"reference_overlap"``.
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
    name_lists: str | Sequence[str], *, has_summaries: bool, has_clusters: bool
) -> tuple[CovariateName, ...]:
    """Parse covariate names, without duplicates; a string may contain several, comma-separated.

    Raises
    ------
    ConfigurationError
        If a name is unknown, or if a covariate requires summaries or clusters that are missing.
    """
    names_by_text = {str(name): name for name in get_args(CovariateName)}
    texts = [name_lists] if isinstance(name_lists, str) else name_lists
    names = [name.strip() for text in texts for name in text.split(",")]
    for name in filter(None, names):
        if name not in names_by_text:
            raise ConfigurationError(
                f"covariates: expected some of {list(names_by_text)}, found {name!r}"
            )
        required_inputs = "summaries" if name == "length" else "summaries and clusters"
        if not (has_summaries and (has_clusters or name == "length")):
            raise ConfigurationError(f"covariates: {name} needs {required_inputs}")
    return tuple(dict.fromkeys(names_by_text[name] for name in names if name))


def document_groups(clusters: Iterable[Cluster]) -> dict[str, dict[str, str]]:
    """Group documents by the majority of their articles' outlets and attributes.

    Returns the group by grouping (attribute or ``"outlet"``) and eid. Documents without a majority
    (more than half of the articles) are omitted, as are groupings with fewer than two groups.
    """
    groupings: dict[str, dict[str, str]] = {}
    for cluster in with_labels(clusters):
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        for article in cluster.articles:
            attributes = {name: str(value) for name, value in article.attributes.items()}
            if article.domain:
                attributes["outlet"] = article.domain
            for name, value in attributes.items():
                votes[name][value] += 1
        for name, counts in votes.items():
            groups = groupings.setdefault(name, {})
            value, n = counts.most_common(1)[0]
            if 2 * n > len(cluster.articles):
                groups[cluster.eid] = value
    return {name: groups for name, groups in groupings.items() if len(set(groups.values())) >= 2}


def word_counts(summaries: Iterable[Summary]) -> Mapping[tuple[str, str], int]:
    """Count the words of each summary."""
    return {(summary.eid, summary.system): len(words(summary.text)) for summary in summaries}
