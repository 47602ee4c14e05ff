"""Normalise the spellings of attribute values, missing values included.

Case, white space, invisible characters, the notation of numbers (``5``, ``"5.0"``) and of booleans
make no difference. All readers of attributes use `Spellings`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from fairjudge.domain import Article, AttributeValue, Cluster
from fairjudge.text.folding import folded_key

Known: TypeAlias = str | int | float
AnyCluster = TypeVar("AnyCluster", bound=Cluster)
_Key: TypeAlias = str | float

UNKNOWN = frozenset(
    {"", "unknown", "n/a", "#n/a", "<na>", "nan", "null", "<null>", "none", "-", "--", "?"}
)
"""Spellings of a missing value, folded (`fairjudge.text.folding.folded_key`)."""
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?", re.ASCII)
"""Numbers as in ratings; codes with leading zeros and ids of many digits are words."""
_TRUTH = {0.0: "false", 1.0: "true"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spellings:
    """The values of one attribute with their spellings; made by `spellings_of`.

    ``joined`` lists the spellings of every value with more than one, its label first.
    """

    values: dict[_Key, Known]
    joined: tuple[tuple[str, ...], ...]
    is_boolean: bool

    def read(self, spelling: AttributeValue) -> Known | None:
        """Return the value of a spelling, None for a missing value."""
        key = _key(spelling, is_boolean=self.is_boolean)
        return None if key is None else self.values.get(key, _plain(spelling))

    def label(self, spelling: AttributeValue) -> str | None:
        """Return the label of the value of a spelling, None for a missing value."""
        value = self.read(spelling)
        return None if value is None else label_of(value)


def label_of(value: Known) -> str:
    """Return the label of a value for tables."""
    return value if isinstance(value, str) else f"{value:g}"


def spellings_of(attribute_values: Iterable[AttributeValue], *, numeric: bool = False) -> Spellings:
    """Return the spellings of one attribute; the most frequent one of each value is its label.

    Digits in text become numbers only if an equal number occurs too, or always with `numeric`.
    """
    counts = Counter(
        (type(attribute_value).__name__, attribute_value)
        for attribute_value in attribute_values
        if attribute_value is not None
    )
    is_boolean = _are_booleans([value for _, value in counts])
    groups: dict[_Key, list[tuple[int, AttributeValue]]] = defaultdict(list)
    for (_, spelling), n in counts.items():
        key = _key(spelling, is_boolean=is_boolean)
        if key is not None:
            groups[key].append((n, spelling))
    values = {
        key: _preferred_spelling(key, group, numeric=numeric) for key, group in groups.items()
    }
    variants = (
        _variants(values[key], [spelling for _, spelling in group]) for key, group in groups.items()
    )
    return Spellings(
        values=values,
        joined=tuple(sorted(names for names in variants if names)),
        is_boolean=is_boolean,
    )


def spellings_by_attribute(articles: Iterable[Article]) -> dict[str, Spellings]:
    """Return the spellings of every attribute of `articles`."""
    by_name: dict[str, list[AttributeValue]] = defaultdict(list)
    for article in articles:
        for name, value in article.attributes.items():
            by_name[name].append(value)
    return {name: spellings_of(values) for name, values in by_name.items()}


def labels_of(article: Article, spellings: Mapping[str, Spellings]) -> dict[str, str]:
    """Return the labels of an article's attributes, without missing values."""
    labels = (
        (name, spellings[name].label(attribute)) for name, attribute in article.attributes.items()
    )
    return {name: label for name, label in labels if label is not None}


def with_labels(clusters: Iterable[AnyCluster]) -> tuple[AnyCluster, ...]:
    """Return `clusters` with attributes replaced by their labels, without missing values.

    Spellings are collected over all clusters, so that a value has the same label everywhere.
    """
    clusters = tuple(clusters)
    spellings = spellings_by_attribute(a for cluster in clusters for a in cluster.articles)
    return tuple(
        cluster.model_copy(
            update={
                "articles": tuple(
                    article.model_copy(update={"attributes": labels_of(article, spellings)})
                    for article in cluster.articles
                )
            }
        )
        for cluster in clusters
    )


def _are_booleans(attribute_values: Iterable[AttributeValue]) -> bool:
    """Return whether 0 and 1 are booleans: there are other values, and all of them are."""
    keys = {_key(value, is_boolean=False) for value in attribute_values} - {None}
    return bool(keys & {"true", "false"}) and keys <= {"true", "false", 0.0, 1.0}


def _key(attribute_value: AttributeValue, *, is_boolean: bool) -> _Key | None:
    """Return the key that all spellings of a value share, None for a missing value."""
    if attribute_value is None:
        return None
    if isinstance(attribute_value, bool):
        return str(attribute_value).lower()
    key: _Key = (
        attribute_value if isinstance(attribute_value, int | float) else _word_key(attribute_value)
    )
    if key in UNKNOWN:
        return None
    return _TRUTH.get(key, key) if is_boolean and isinstance(key, int | float) else key


def _word_key(word: str) -> _Key:
    key = folded_key(word)
    return float(key) if _NUMBER.fullmatch(key) else key


def _plain(attribute_value: AttributeValue) -> Known:
    """Return a value without outer white space, booleans as words."""
    if isinstance(attribute_value, bool):
        return str(attribute_value).lower()
    if isinstance(attribute_value, str):
        return attribute_value.strip()
    return 0 if attribute_value is None else attribute_value


def _preferred_spelling(
    key: _Key, counts: list[tuple[int, AttributeValue]], *, numeric: bool
) -> Known:
    """Return the number or boolean if a spelling is one, else the most frequent spelling.

    Of equally frequent ones, one that is not all capitals, then the first in code point order.
    """
    if isinstance(key, str) and key in _TRUTH.values():
        return key
    number = next((value for _, value in counts if isinstance(value, int | float)), None)
    if number is not None or (numeric and not isinstance(key, str)):
        return float(key) if number is None else number
    words = Counter[str]()
    for n, spelling in counts:
        words[str(_plain(spelling))] += n
    return min(words, key=lambda word: (-words[word], word.isupper(), word))


def _variants(value: Known, spellings: list[AttributeValue]) -> tuple[str, ...]:
    """Return the spellings of a value, its label first; empty if there is only one."""
    name = label_of(value)
    labels = {value if isinstance(value, str) else label_of(_plain(value)) for value in spellings}
    other_names = sorted(labels - {name})
    return (name, *other_names) if other_names else ()
