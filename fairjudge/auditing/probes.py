"""Probes of verbosity: a summary beside itself with something added. Pure.

All additions are about as long as the summary, so that only what is added differs: ``extended``
is the summary once more (DiverseSumm Table 4), ``filler`` phrases that say nothing, ``supported``
sentences of the cluster's own articles, ``unsupported`` sentences of another cluster's.
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
"""Sentences that state nothing about any event."""


def add_probes(
    summaries: Iterable[Summary],
    clusters: Sequence[Cluster],
    probes: Sequence[str],
    *,
    split_sentences: SentenceSplitter,
) -> tuple[tuple[Summary, Summary], ...]:
    """Return each summary with each of its probes, named ``<system>:<probe>``.

    Empty summaries are excluded, as are those to which nothing of the kind can be added (all of
    the articles' sentences are in them already). `ConfigurationError` for an unknown probe;
    `InputError` for ``unsupported`` with one cluster: its sentences come from another one.
    """
    for probe in probes:
        if probe not in PROBES:
            raise ConfigurationError(f"unknown probe {probe!r}; there are {', '.join(PROBES)}")
    if "unsupported" in probes and len(clusters) < 2:
        raise InputError("the probe 'unsupported' takes sentences of another cluster: give two")
    by_eid = {cluster.eid: place for place, cluster in enumerate(clusters)}
    split = clusters if {"supported", "unsupported"} & set(probes) else ()
    sentences = [_article_sentences(cluster, split_sentences) for cluster in split]
    pairs = []
    for summary in summaries:
        for probe in probes:
            added = _addition(summary, probe, by_eid[summary.eid], sentences)
            if summary.text.strip() and added:
                longer = Summary(
                    eid=summary.eid,
                    system=f"{summary.system}:{probe}",
                    text=f"{summary.text.rstrip()} {added}",
                )
                pairs.append((summary, longer))
    return tuple(pairs)


def _article_sentences(cluster: Cluster, split_sentences: SentenceSplitter) -> tuple[str, ...]:
    """Return the articles' sentences in turn: the first of each, then the second of each."""
    split = [split_sentences(article.content) for article in cluster.articles]
    deepest = max(map(len, split), default=0)
    return tuple(sentences[n] for n in range(deepest) for sentences in split if n < len(sentences))


def _addition(summary: Summary, probe: str, place: int, sentences: Sequence[Sequence[str]]) -> str:
    n_words = count_words(summary.text)
    if probe == "extended":
        return summary.text.strip()
    if probe == "filler":
        return _until(cycle(FILLER), n_words)
    if probe == "supported":
        return _until((s for s in sentences[place] if s not in summary.text), n_words)
    return _until(sentences[(place + 1) % len(sentences)], n_words)


def _until(sentences: Iterable[str], n_words: int) -> str:
    """Return sentences until they hold `n_words` words or run out."""
    chosen: list[str] = []
    for sentence in sentences:
        if sum(count_words(sentence) for sentence in chosen) >= n_words:
            break
        chosen.append(sentence)
    return " ".join(chosen)
