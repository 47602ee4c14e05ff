"""From clusters and summaries to word-list inclusion and the bias of inputs.

`entity_analysis` and `distinguishability_analysis` do the same for the other measures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from fairjudge.bias.controls import CONTROLS, ControlSummarizer
from fairjudge.bias.fighting_words import InputBias, input_bias
from fairjudge.bias.lists import HELM_GENDER
from fairjudge.bias.reporting import (
    BiasOptions,
    Report,
    Sample,
    SystemReport,
    counts_of,
    pair,
    split_usable,
)
from fairjudge.bias.word_lists import (
    IdentifierCounter,
    ReferenceKind,
    WordListBias,
    WordLists,
    word_list_bias,
)
from fairjudge.domain import Cluster, Summary
from fairjudge.resampling import Resampling
from fairjudge.signature import signature
from fairjudge.text.sentences import sentence_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemWords(SystemReport):
    """Word-list inclusion of one system, against the source distribution and uniform."""

    source: WordListBias
    uniform: WordListBias


@dataclass(frozen=True, slots=True, kw_only=True)
class WordReport(Report[SystemWords]):
    """All systems; ``reference`` names the variant that counts as the measure."""

    reference: ReferenceKind
    groups: tuple[str, ...]


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
            system: _words_of(mine, counter, how.resampling(system))
            for system, mine in samples.by_system.items()
        },
        notes=samples.notes,
        signature=how.stated(measure="word-lists", lists=fingerprint(lists), reference=reference),
    )


def _words_of(
    samples: Sequence[Sample], counter: IdentifierCounter, resampling: Resampling
) -> SystemWords:
    used, excluded = split_usable(samples)
    k = len(counter.groups)
    ours = counts_of([counter.count(sample.text) for sample in used], used, k)
    theirs = counts_of([counter.count(sample.source.text) for sample in used], used, k)
    measure = partial(
        word_list_bias,
        ours,
        theirs,
        groups=counter.groups,
        resampling=resampling,
        n_excluded=len(excluded),
    )
    return SystemWords(
        n=len(used),
        source=measure(reference="source"),
        uniform=measure(reference="uniform"),
        excluded=excluded,
    )


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
