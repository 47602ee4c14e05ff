"""Counts of texts, and of the identifiers in them, by topic and other attributes.

By topic they are the first half of Table 2 of `news_bias`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fairjudge.bias.controlled import controlled_of
from fairjudge.bias.controls import topic_of
from fairjudge.bias.word_lists import IdentifierCounter, WordLists
from fairjudge.domain import Article, Cluster

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
    inputs. The topic is told by words (`news_bias` appendix B: sport, family, or unknown for a
    tie), unless articles have an attribute of that name.
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
            for value, rows in sorted(by_value.items(), key=lambda one: (-len(one[1]), one[0]))
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
