"""From clusters and summaries to word-list inclusion and the bias of inputs.

`entity_analysis` and `distinguishability_analysis` do the same for the other measures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairjudge.bias.controls import CONTROLS, ControlSummarizer
from fairjudge.bias.fighting_words import InputBias, input_bias
from fairjudge.bias.lists import HELM_GENDER
from fairjudge.bias.people import Person
from fairjudge.bias.reporting import (
    BiasOptions,
    Excluded,
    Sample,
    pair,
    split_usable,
)
from fairjudge.bias.resampling import Counts
from fairjudge.bias.word_lists import (
    IdentifierCounter,
    ReferenceKind,
    WordListBias,
    WordLists,
    word_list_bias,
)
from fairjudge.domain import Cluster, Summary
from fairjudge.signature import signature
from fairjudge.text.sentences import sentence_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemWords:
    """Word-list inclusion of one system, against the source distribution and uniform."""

    n: int
    source: WordListBias
    uniform: WordListBias
    excluded: tuple[Excluded, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordReport:
    """All systems; ``reference`` names the variant that counts as the measure."""

    reference: ReferenceKind
    groups: tuple[str, ...]
    systems: Mapping[str, SystemWords]
    notes: tuple[str, ...]
    signature: str


def report_words(
    clusters: Sequence[Cluster],
    summaries: Sequence[Summary],
    *,
    lists: WordLists = HELM_GENDER,
    reference: ReferenceKind = "source",
    options: BiasOptions | None = None,
) -> WordReport:
    """Measure word-list inclusion of every system (`news_bias` 3.1).

    Raises
    ------
    InputError
        Word lists, clusters or summaries that do not fit.
    """
    how = options or BiasOptions()
    counter = IdentifierCounter(lists)
    samples = pair(clusters, summaries)
    return WordReport(
        reference=reference,
        groups=counter.groups,
        systems={
            system: _words_of(system, mine, counter, how)
            for system, mine in samples.by_system.items()
        },
        notes=samples.notes,
        signature=stated(how, measure="word-lists", lists=fingerprint(lists), reference=reference),
    )


def _words_of(
    system: str, samples: Sequence[Sample], counter: IdentifierCounter, options: BiasOptions
) -> SystemWords:
    used, excluded = split_usable(system, samples)
    k = len(counter.groups)
    where = places(used)
    ours = Counts.of(table([counter.count(sample.text) for sample in used], k), **where)
    theirs = Counts.of(table([counter.count(sample.source.text) for sample in used], k), **where)

    def measure(reference: ReferenceKind) -> WordListBias:
        return word_list_bias(
            ours,
            theirs,
            groups=counter.groups,
            resampling=options.resampling(system),
            reference=reference,
            n_excluded=len(excluded),
        )

    return SystemWords(
        n=len(used),
        source=measure("source"),
        uniform=measure("uniform"),
        excluded=tuple(excluded),
    )


def places(samples: Sequence[Sample]) -> dict[str, list[Any]]:
    """Return the original and assignment of each sample, as `Counts.of` takes them."""
    return {
        "documents": [sample.source.original for sample in samples],
        "assignments": [sample.source.variant for sample in samples],
    }


def table(rows: Sequence[Any], n_columns: int) -> np.ndarray:
    """Return rows as an array of shape (n, n_columns), for no rows too."""
    return np.asarray(rows, dtype=np.float64).reshape(len(rows), n_columns)


def control_summaries(
    clusters: Sequence[Cluster], *, lists: WordLists = HELM_GENDER, seed: int = 0
) -> tuple[Summary, ...]:
    """Summarize every cluster by the four controls; systems are named ``control:<name>``."""
    summarizer = ControlSummarizer(lists)
    out = []
    for cluster in clusters:
        sentences = [
            sentence for article in cluster.articles for sentence in sentence_texts(article.content)
        ]
        for place, control in enumerate(CONTROLS):
            rng = np.random.default_rng([seed, place, *cluster.eid.encode("utf-8")])
            text = summarizer.summarize(control, sentences, rng=rng)
            out.append(Summary(eid=cluster.eid, system=f"control:{control}", text=text))
    return tuple(out)


def people_of(sample: Sample) -> tuple[Person, ...]:
    """Return the people that a source is known to hold."""
    known = sample.source.controlled
    return () if known is None else tuple(record.person() for record in known.people)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputReport:
    """What goes with each group in the sources themselves."""

    n: int
    n_empty: int
    bias: InputBias
    signature: str
    notes: tuple[str, ...] = ()


def report_inputs(
    clusters: Sequence[Cluster], *, lists: WordLists = HELM_GENDER, prior: float = 0.01
) -> InputReport:
    """Find the words that go with each group's articles (`news_bias` 4); one text an article."""
    contents = [article.content for cluster in clusters for article in cluster.articles]
    texts = [text for text in contents if text.strip()]
    return InputReport(
        n=len(texts),
        n_empty=len(contents) - len(texts),
        bias=input_bias(texts, lists, prior=prior),
        signature=signature(
            {"measure": "fighting-words", "lists": fingerprint(lists), "prior": prior}
        ),
    )


def fingerprint(lists: WordLists) -> str:
    """Return what identifies word lists in a signature."""
    text = "\n".join(f"{group}:{','.join(words)}" for group, words in lists.items())
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]


def stated(options: BiasOptions, **parts: str | None) -> str:
    """Return the signature of a resampled measure."""
    return signature(
        {**parts, "resamples": options.n_resamples, "level": options.level, "seed": options.seed}
    )
