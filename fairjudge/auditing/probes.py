"""Probes of verbosity: compare a summary with the same summary plus an addition. Pure.

All additions are about as long as the summary and differ only in content: ``extended`` repeats the
summary (DiverseSumm Table 4), ``filler`` adds empty phrases, ``supported`` sentences of the
cluster's articles, ``unsupported`` sentences of another cluster's articles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import Literal, TypeAlias, get_args

from fairjudge.domain import Cluster, Summary
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.text.scripts import count_words

Probe: TypeAlias = Literal["extended", "filler", "supported", "unsupported"]
PROBES: tuple[Probe, ...] = get_args(Probe)
SentenceSplitter: TypeAlias = Callable[[str], Sequence[str]]

FILLER = (
    "There is a good deal to be said about all of this, and it is worth taking the time to do so.",
    "It goes without saying that matters such as these deserve to be looked at with care.",
    "As is so often the case, there is more than one way of looking at the whole picture.",
    "All things considered, what has been set out here gives a good idea of what it is about.",
    "In this connection, it should be borne in mind that the points made above are as stated.",
    "Taken together, these are the things that one would want to know about the subject at hand.",
)
"""Sentences without any information about an event."""


def add_probes(
    summaries: Iterable[Summary],
    clusters: Sequence[Cluster],
    probes: Sequence[str],
    *,
    split_sentences: SentenceSplitter,
) -> tuple[tuple[Summary, Summary], ...]:
    """Return pairs of a summary and its probe, whose system is ``<system>:<probe>``.

    Empty summaries are excluded, as are summaries without possible additions (they contain all
    sentences of the articles). Raises `ConfigurationError` for an unknown probe, and `InputError`
    for ``unsupported`` with a single cluster, since its sentences are from another cluster.
    """
    for probe in probes:
        if probe not in PROBES:
            raise ConfigurationError(f"unknown probe {probe!r}; choose from {', '.join(PROBES)}")
    if "unsupported" in probes and len(clusters) < 2:
        raise InputError("the probe 'unsupported' requires two or more clusters")
    by_eid = {cluster.eid: index for index, cluster in enumerate(clusters)}
    source_clusters = clusters if {"supported", "unsupported"} & set(probes) else ()
    sentences = [_article_sentences(cluster, split_sentences) for cluster in source_clusters]
    pairs = []
    for summary in summaries:
        for probe in probes:
            addition = _addition(summary, probe, by_eid[summary.eid], sentences)
            if summary.text.strip() and addition:
                probe_summary = Summary(
                    eid=summary.eid,
                    system=f"{summary.system}:{probe}",
                    text=f"{summary.text.rstrip()} {addition}",
                )
                pairs.append((summary, probe_summary))
    return tuple(pairs)


def _article_sentences(cluster: Cluster, split_sentences: SentenceSplitter) -> tuple[str, ...]:
    """Return the first sentence of each article, then the second of each, and so on."""
    sentences_by_article = [split_sentences(article.content) for article in cluster.articles]
    max_sentences = max(map(len, sentences_by_article), default=0)
    return tuple(
        sentences[n]
        for n in range(max_sentences)
        for sentences in sentences_by_article
        if n < len(sentences)
    )


def _addition(summary: Summary, probe: str, index: int, sentences: Sequence[Sequence[str]]) -> str:
    n_words = count_words(summary.text)
    if probe == "extended":
        return summary.text.strip()
    if probe == "filler":
        return _take_words(cycle(FILLER), n_words)
    if probe == "supported":
        return _take_words((s for s in sentences[index] if s not in summary.text), n_words)
    return _take_words(sentences[(index + 1) % len(sentences)], n_words)


def _take_words(sentences: Iterable[str], n_words: int) -> str:
    """Return the first of `sentences` with at least `n_words` words in total, or all."""
    selection: list[str] = []
    for sentence in sentences:
        if sum(count_words(sentence) for sentence in selection) >= n_words:
            break
        selection.append(sentence)
    return " ".join(selection)
