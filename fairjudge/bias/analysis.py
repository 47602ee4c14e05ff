"""Word-list inclusion, bias of inputs, and distinguishability of clusters and summaries.

`entity_analysis` has the entity measures. Control summarizers have a bias that is known by
construction (`news_bias` section 4, appendix B): Random and Lead amplify no bias, Topic selects
more sentences from sport than from family news, regardless of the people, and Sexist selects male
identifiers in sport and female ones in family news.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from fairjudge.bias.choices import ReferenceKind
from fairjudge.bias.controlled import controlled_provenance
from fairjudge.bias.fighting_words import PRIOR, InputBias, input_bias
from fairjudge.bias.reporting import (
    BiasOptions,
    Report,
    Sample,
    SystemReport,
    annotated_people,
    make_counts,
    pair_samples,
    split_usable,
)
from fairjudge.bias.representation import (
    Distinguishability,
    count_vectors,
    distinguishability,
    mask,
)
from fairjudge.bias.word_lists import (
    HELM_GENDER,
    TOPIC_WORDS,
    IdentifierCounter,
    IdentifierCounts,
    WordListBias,
    WordLists,
    unique_argmax,
    word_list_bias,
)
from fairjudge.domain import Article, Cluster, Summary
from fairjudge.records.signature import signature
from fairjudge.stats.resampling import Resampling
from fairjudge.text.sentences import sentence_texts

Control: TypeAlias = Literal["random", "lead", "topic", "sexist"]
CONTROLS: tuple[Control, ...] = get_args(Control)

_SUMMARY_LENGTH = 3
_FAVOURED = {"sport": "male", "family": "female"}
"""Maps a topic to the group whose identifiers Sexist prefers."""
_TOPIC_LENGTH: Mapping[str | None, int] = {"family": 1, None: 3, "sport": 6}
_TOPICS = IdentifierCounter(TOPIC_WORDS)


def dominant_topic(text: str) -> str | None:
    """Return the topic (sport or family) with more words in `text`, or None if tied."""
    index = unique_argmax(_TOPICS.count(text))
    return None if index is None else _TOPICS.groups[index]


def control_sentences(
    control: Control,
    sentences: Sequence[str],
    identifiers: IdentifierCounter,
    *,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Return the indices of the sentences that a control selects, in document order.

    `identifiers` has the groups ``female`` and ``male``.
    """
    n = len(sentences)
    if control == "lead":
        return tuple(range(min(_SUMMARY_LENGTH, n)))
    order = rng.permutation(n)
    topic = None if control == "random" else dominant_topic(" ".join(sentences))
    if control == "sexist" and topic is not None:
        column = identifiers.groups.index(_FAVOURED[topic])
        counts = np.array([identifiers.count(sentences[i])[column] for i in order])
        order = order[np.argsort(-counts, kind="stable")]
    length = _TOPIC_LENGTH[topic] if control == "topic" else _SUMMARY_LENGTH
    return tuple(sorted(order[:length].tolist()))


Embed: TypeAlias = Callable[[Sequence[str]], Any]
"""Maps n texts to vectors, shape (n, d)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemWords(SystemReport):
    """Word-list inclusion of one system."""

    bias: WordListBias


@dataclass(frozen=True, slots=True, kw_only=True)
class WordReport(Report[SystemWords]):
    """The results of all systems; ``reference`` is the variant that is the main measure.

    ``controlled`` is whether all sources are controlled inputs, with groups assigned independently.
    """

    reference: ReferenceKind
    groups: tuple[str, ...]
    controlled: bool


def report_words(
    clusters: Sequence[Cluster],
    summaries: Sequence[Summary],
    *,
    lists: WordLists = HELM_GENDER,
    reference: ReferenceKind = "source",
    options: BiasOptions,
) -> WordReport:
    """Measure word-list inclusion of every system (`news_bias` 3.1).

    Raises
    ------
    InputError
        Invalid word lists, or summaries that do not match the clusters.
    """
    counter = IdentifierCounter(lists)
    by_system, notes = pair_samples(clusters, summaries)
    return WordReport(
        reference=reference,
        groups=counter.groups,
        controlled=all(
            sample.source.controlled is not None
            for system_samples in by_system.values()
            for sample in system_samples
        ),
        systems={
            system: _system_words(system_samples, counter, reference, options.resampling(system))
            for system, system_samples in by_system.items()
        },
        notes=notes,
        signature=options.signature(
            measure="word-lists", lists=fingerprint(lists), reference=reference
        ),
    )


def _system_words(
    samples: Sequence[Sample],
    counter: IdentifierCounter,
    reference: ReferenceKind,
    resampling: Resampling,
) -> SystemWords:
    usable_samples, exclusions = split_usable(samples)
    k = len(counter.groups)
    counts = IdentifierCounts(
        summaries=make_counts(
            [counter.count(sample.text) for sample in usable_samples], usable_samples, k
        ),
        sources=make_counts(
            [counter.count(sample.source.text) for sample in usable_samples], usable_samples, k
        ),
        groups=counter.groups,
        reference=reference,
        n_excluded=len(exclusions),
    )
    return SystemWords(
        n=len(usable_samples),
        bias=word_list_bias(counts, resampling=resampling),
        excluded=exclusions,
    )


def control_summaries(
    clusters: Sequence[Cluster], *, lists: WordLists = HELM_GENDER, seed: int = 0
) -> tuple[Summary, ...]:
    """Summarize every cluster with the four controls; systems are called ``control:<name>``.

    `lists` has the groups ``female`` and ``male``.
    """
    identifiers = IdentifierCounter(lists)
    summaries = []
    for cluster in clusters:
        sentences = [
            sentence for article in cluster.articles for sentence in sentence_texts(article.content)
        ]
        for index, control in enumerate(CONTROLS):
            rng = np.random.default_rng([seed, index, *cluster.eid.encode("utf-8")])
            sentence_indices = control_sentences(control, sentences, identifiers, rng=rng)
            text = " ".join(sentences[i] for i in sentence_indices)
            summaries.append(Summary(eid=cluster.eid, system=f"control:{control}", text=text))
    return tuple(summaries)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputReport:
    """Words associated with each group in the sources."""

    n: int
    n_empty: int
    bias: InputBias
    by_attribute: CountsByAttribute
    signature: str
    notes: tuple[str, ...] = ()


def report_inputs(clusters: Sequence[Cluster], *, lists: WordLists) -> InputReport:
    """Find the words associated with each group's articles (`news_bias` 4), a text per article."""
    contents = [article.content for cluster in clusters for article in cluster.articles]
    texts = [text for text in contents if text.strip()]
    return InputReport(
        n=len(texts),
        n_empty=len(contents) - len(texts),
        bias=input_bias(texts, lists),
        by_attribute=input_counts(clusters, lists),
        signature=signature(
            {"measure": "fighting-words", "lists": fingerprint(lists), "prior": PRIOR}
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemDistinguishability(SystemReport):
    """The results of one system; ``dense`` is None without embeddings."""

    counts: Distinguishability
    dense: Distinguishability | None


DistinguishabilityReport: TypeAlias = Report[SystemDistinguishability]


def report_distinguishability(
    clusters: Sequence[Cluster],
    summaries: Sequence[Summary],
    *,
    embed: Embed | None = None,
    embedder: str | None = None,
    stop_words: Collection[str] = (),
    options: BiasOptions,
) -> DistinguishabilityReport:
    """Measure distinguishability of every system (`news_bias` 3.4) on single-group inputs.

    Parameters
    ----------
    clusters
        Controlled inputs; those without ``group`` are excluded (``no_group``).
    embed
        Maps texts to vectors, for the dense representation; ``embedder`` is its name.
    stop_words
        Words excluded from the counts. The published code excludes scikit-learn's English list.
    """
    by_system, notes = pair_samples(clusters, summaries)
    return Report(
        systems={
            system: _distinguish(
                system_samples, embed, frozenset(stop_words), options.resampling(system)
            )
            for system, system_samples in by_system.items()
        },
        notes=notes,
        signature=options.signature(
            measure="distinguishability",
            embedder=embedder,
            stop_words=fingerprint({"": sorted(stop_words)}) if stop_words else None,
        ),
    )


def _distinguish(
    samples: Sequence[Sample],
    embed: Embed | None,
    stop_words: frozenset[str],
    resampling: Resampling,
) -> SystemDistinguishability:
    usable_samples, exclusions = split_usable(samples)
    grouped_samples, groups, texts = [], [], []
    for sample in usable_samples:
        provenance = sample.source.controlled
        if provenance is None or provenance.group is None:
            exclusions[sample.source.eid] = "no_group"
            continue
        grouped_samples.append(sample)
        groups.append(provenance.group)
        texts.append(mask(sample.text, annotated_people(sample)))

    def measure(vectors: Any) -> Distinguishability:
        return distinguishability(
            vectors,
            groups,
            [sample.source.original for sample in grouped_samples],
            resampling=resampling,
            n_excluded=len(exclusions),
        )

    return SystemDistinguishability(
        n=len(grouped_samples),
        counts=measure(count_vectors(texts, stop_words=stop_words)),
        dense=None if embed is None else measure(embed(texts)),
        excluded=exclusions,
    )


def fingerprint(lists: WordLists) -> str:
    """Return a hash that identifies word lists in a signature."""
    text = "\n".join(f"{group}:{','.join(words)}" for group, words in lists.items())
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]


TOPIC = "topic"
_CONTROLLED_KEYS = ("group", "original", "design")
"""Keys of controlled inputs whose values are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputCount:
    """The number of texts with a value of an attribute, and their identifiers by group."""

    value: str
    n: int
    identifiers: Mapping[str, int]


CountsByAttribute: TypeAlias = Mapping[str, tuple[InputCount, ...]]


def input_counts(clusters: Sequence[Cluster], lists: WordLists) -> CountsByAttribute:
    """Count articles with text by each attribute, the most frequent value first.

    Attributes are the topic, the attributes of the articles, and group, original and design of
    controlled inputs. The topic is recognised by words (`news_bias` appendix B: sport, family, or
    unknown if tied), unless articles have an attribute of that name.
    """
    counter = IdentifierCounter(lists)
    texts = [
        (dict(_attributes(cluster, article)), article.content)
        for cluster in clusters
        for article in cluster.articles
        if article.content.strip()
    ]
    if not any(TOPIC in attributes for attributes, _ in texts):
        texts = [
            ({TOPIC: dominant_topic(text) or "unknown"} | attributes, text)
            for attributes, text in texts
        ]
    counts: dict[str, dict[str, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for attributes, text in texts:
        row = counter.count(text)
        for name, value in attributes.items():
            counts[name][value].append(row)
    return {
        name: tuple(
            InputCount(
                value=value,
                n=len(rows),
                identifiers=dict(zip(counter.groups, np.sum(rows, axis=0).tolist(), strict=True)),
            )
            for value, rows in sorted(by_value.items(), key=lambda item: (-len(item[1]), item[0]))
        )
        for name, by_value in counts.items()
    }


def _attributes(cluster: Cluster, article: Article) -> Iterator[tuple[str, str]]:
    provenance = controlled_provenance(cluster)
    for name in _CONTROLLED_KEYS:
        if value := getattr(provenance, name, None):
            yield name, value
    for name, attribute in article.attributes.items():
        yield name, str(attribute)
