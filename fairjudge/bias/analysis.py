"""From clusters and summaries to word-list inclusion, bias of inputs, and distinguishability.

`entity_analysis` does the same for the other measures. Control summarizers have a bias that is
known by construction (`news_bias` section 4, appendix B): Random and Lead amplify nothing, Topic
takes more sentences of sport than of family news, whatever their people, and Sexist picks male
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
from fairjudge.bias.controlled import controlled_of
from fairjudge.bias.fighting_words import PRIOR, InputBias, input_bias
from fairjudge.bias.reporting import (
    BiasOptions,
    Report,
    Sample,
    SystemReport,
    counts_of,
    pair,
    people_of,
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
    single_largest,
    word_list_bias,
)
from fairjudge.domain import Article, Cluster, Summary
from fairjudge.records.signature import signature
from fairjudge.stats.resampling import Resampling
from fairjudge.text.sentences import sentence_texts

Control: TypeAlias = Literal["random", "lead", "topic", "sexist"]
CONTROLS: tuple[Control, ...] = get_args(Control)

_LENGTH = 3
_FAVOURED = {"sport": "male", "family": "female"}
"""Topic to the group whose identifiers Sexist looks for in it."""
_TOPIC_LENGTH: Mapping[str | None, int] = {"family": 1, None: 3, "sport": 6}
_TOPICS = IdentifierCounter(TOPIC_WORDS)


def topic_of(text: str) -> str | None:
    """Return the topic, sport or family, with the most words in `text`; None for a tie."""
    place = single_largest(_TOPICS.count(text))
    return None if place is None else _TOPICS.groups[place]


def control_sentences(
    control: Control,
    sentences: Sequence[str],
    identifiers: IdentifierCounter,
    *,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Return the places of the sentences that a control takes, in document order.

    `identifiers` has the groups ``female`` and ``male``.
    """
    n = len(sentences)
    if control == "lead":
        return tuple(range(min(_LENGTH, n)))
    order = rng.permutation(n)
    topic = None if control == "random" else topic_of(" ".join(sentences))
    if control == "sexist" and topic is not None:
        column = identifiers.groups.index(_FAVOURED[topic])
        counts = np.array([identifiers.count(sentences[i])[column] for i in order])
        order = order[np.argsort(-counts, kind="stable")]
    length = _TOPIC_LENGTH[topic] if control == "topic" else _LENGTH
    return tuple(sorted(order[:length].tolist()))


Embed: TypeAlias = Callable[[Sequence[str]], Any]
"""Maps texts to vectors, shape (n, d)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemWords(SystemReport):
    """Word-list inclusion of one system."""

    bias: WordListBias


@dataclass(frozen=True, slots=True, kw_only=True)
class WordReport(Report[SystemWords]):
    """All systems; ``reference`` names the variant that counts as the measure.

    ``controlled`` says whether all sources were made so that groups and content go with nothing.
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
        Word lists, clusters or summaries that do not fit.
    """
    counter = IdentifierCounter(lists)
    by_system, notes = pair(clusters, summaries)
    return WordReport(
        reference=reference,
        groups=counter.groups,
        controlled=all(
            sample.source.controlled is not None
            for system_samples in by_system.values()
            for sample in system_samples
        ),
        systems={
            system: _words_of(system_samples, counter, reference, options.resampling(system))
            for system, system_samples in by_system.items()
        },
        notes=notes,
        signature=options.stated(
            measure="word-lists", lists=fingerprint(lists), reference=reference
        ),
    )


def _words_of(
    samples: Sequence[Sample],
    counter: IdentifierCounter,
    reference: ReferenceKind,
    resampling: Resampling,
) -> SystemWords:
    used, excluded = split_usable(samples)
    k = len(counter.groups)
    counts = IdentifierCounts(
        summaries=counts_of([counter.count(sample.text) for sample in used], used, k),
        sources=counts_of([counter.count(sample.source.text) for sample in used], used, k),
        groups=counter.groups,
        reference=reference,
        n_excluded=len(excluded),
    )
    return SystemWords(
        n=len(used), bias=word_list_bias(counts, resampling=resampling), excluded=excluded
    )


def control_summaries(
    clusters: Sequence[Cluster], *, lists: WordLists = HELM_GENDER, seed: int = 0
) -> tuple[Summary, ...]:
    """Summarize every cluster by the four controls; systems are named ``control:<name>``.

    `lists` has the groups ``female`` and ``male``.
    """
    identifiers = IdentifierCounter(lists)
    out = []
    for cluster in clusters:
        sentences = [
            sentence for article in cluster.articles for sentence in sentence_texts(article.content)
        ]
        for place, control in enumerate(CONTROLS):
            rng = np.random.default_rng([seed, place, *cluster.eid.encode("utf-8")])
            chosen = control_sentences(control, sentences, identifiers, rng=rng)
            text = " ".join(sentences[i] for i in chosen)
            out.append(Summary(eid=cluster.eid, system=f"control:{control}", text=text))
    return tuple(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputReport:
    """What goes with each group in the sources themselves."""

    n: int
    n_empty: int
    bias: InputBias
    by_attribute: CountsByAttribute
    signature: str
    notes: tuple[str, ...] = ()


def report_inputs(clusters: Sequence[Cluster], *, lists: WordLists) -> InputReport:
    """Find the words that go with each group's articles (`news_bias` 4); one text an article."""
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
    """One system; ``dense`` is None where no embeddings were asked for."""

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
    """Measure distinguishability of every system (`news_bias` 3.4) on inputs of one group each.

    Parameters
    ----------
    clusters
        Controlled inputs; those that name no ``group`` are excluded (``no_group``).
    embed
        Maps texts to vectors, for the dense representation; ``embedder`` names it in the signature.
    stop_words
        Left out of the counts. The published code leaves out scikit-learn's English list.
    """
    by_system, notes = pair(clusters, summaries)
    return Report(
        systems={
            system: _distinguish(
                system_samples, embed, frozenset(stop_words), options.resampling(system)
            )
            for system, system_samples in by_system.items()
        },
        notes=notes,
        signature=options.stated(
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
    usable, excluded = split_usable(samples)
    used, groups, texts = [], [], []
    for sample in usable:
        controlled = sample.source.controlled
        if controlled is None or controlled.group is None:
            excluded[sample.source.eid] = "no_group"
            continue
        used.append(sample)
        groups.append(controlled.group)
        texts.append(mask(sample.text, people_of(sample)))

    def measure(vectors: Any) -> Distinguishability:
        return distinguishability(
            vectors,
            groups,
            [sample.source.original for sample in used],
            resampling=resampling,
            n_excluded=len(excluded),
        )

    return SystemDistinguishability(
        n=len(used),
        counts=measure(count_vectors(texts, stop_words=stop_words)),
        dense=None if embed is None else measure(embed(texts)),
        excluded=excluded,
    )


def fingerprint(lists: WordLists) -> str:
    """Return what identifies word lists in a signature."""
    text = "\n".join(f"{group}:{','.join(words)}" for group, words in lists.items())
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]


TOPIC = "topic"
_PROVENANCE = ("group", "original", "design")
"""Keys of controlled inputs that are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputCount:
    """How many texts have a value of an attribute, and their identifiers by group."""

    value: str
    n: int
    identifiers: Mapping[str, int]


CountsByAttribute: TypeAlias = Mapping[str, tuple[InputCount, ...]]


def input_counts(clusters: Sequence[Cluster], lists: WordLists) -> CountsByAttribute:
    """Count articles with text by each attribute, the most frequent value first.

    Attributes are the topic, those of the articles, and group, original and design of controlled
    inputs. The topic is recognised by words (`news_bias` appendix B: sport, family, or unknown for
    a tie), unless articles have an attribute of that name.
    """
    counter = IdentifierCounter(lists)
    texts = [
        (dict(_attributes(cluster, article)), article.content)
        for cluster in clusters
        for article in cluster.articles
        if article.content.strip()
    ]
    if not any(TOPIC in attributes for attributes, _ in texts):
        texts = [({TOPIC: topic_of(text) or "unknown"} | own, text) for own, text in texts]
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
    controlled = controlled_of(cluster)
    for name in _PROVENANCE:
        if value := getattr(controlled, name, None):
            yield name, value
    for name, own in article.attributes.items():
        yield name, str(own)
