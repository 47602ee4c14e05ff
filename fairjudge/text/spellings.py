"""Attribute values as people spell them: which are one value, and which say that there is none.

Case, white space, invisible characters, how a number is written (``5``, ``"5.0"``) and a truth
value or its word make no difference. All readers of attributes go through `Spellings`.
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
"""What people write where there is no value, folded (`fairjudge.text.folding.folded_key`)."""
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?", re.ASCII)
"""As a rating is written; codes with leading zeros and ids of many digits stay words."""
_TRUTH = {0.0: "false", 1.0: "true"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spellings:
    """How the values of one attribute are read; made by `spellings_of`.

    ``joined`` has the spellings of every value that has several, the one taken for all first.
    """

    values: dict[_Key, Known]
    joined: tuple[tuple[str, ...], ...]
    truth: bool

    def read(self, given: AttributeValue) -> Known | None:
        """Return the value that `given` spells, None where it says that there is none."""
        key = _key(given, truth=self.truth)
        return None if key is None else self.values.get(key, _plain(given))

    def label(self, given: AttributeValue) -> str | None:
        """Return the name of the value that `given` spells, None where there is none."""
        value = self.read(given)
        return None if value is None else label_of(value)


def label_of(value: Known) -> str:
    """Return the name of a value as tables show it."""
    return value if isinstance(value, str) else f"{value:g}"


def spellings_of(given: Iterable[AttributeValue], *, numeric: bool = False) -> Spellings:
    """Return how values of one attribute are read: of several spellings the commonest.

    Words stand for numbers only beside a number of the same size, or with `numeric` always.
    """
    counts = Counter(
        (type(attribute_value).__name__, attribute_value)
        for attribute_value in given
        if attribute_value is not None
    )
    truth = _only_truth_values([one for _, one in counts])
    groups: dict[_Key, list[tuple[int, AttributeValue]]] = defaultdict(list)
    for (_, one), n in counts.items():
        key = _key(one, truth=truth)
        if key is not None:
            groups[key].append((n, one))
    values = {key: _chosen(key, group, numeric=numeric) for key, group in groups.items()}
    joined = (_spelled(values[key], [one for _, one in group]) for key, group in groups.items())
    return Spellings(values=values, joined=tuple(sorted(one for one in joined if one)), truth=truth)


def spellings_by_attribute(articles: Iterable[Article]) -> dict[str, Spellings]:
    """Return how the values of every attribute of `articles` are read."""
    given: dict[str, list[AttributeValue]] = defaultdict(list)
    for article in articles:
        for name, value in article.attributes.items():
            given[name].append(value)
    return {name: spellings_of(values) for name, values in given.items()}


def labels_of(article: Article, spellings: Mapping[str, Spellings]) -> dict[str, str]:
    """Return the labels of an article's attributes that have a value."""
    labels = (
        (name, spellings[name].label(attribute)) for name, attribute in article.attributes.items()
    )
    return {name: label for name, label in labels if label is not None}


def with_labels(clusters: Iterable[AnyCluster]) -> tuple[AnyCluster, ...]:
    """Return `clusters` with the labels of their articles' attributes; unknown ones are left out.

    Values are read over all clusters together, so that a value has one label everywhere.
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


def _only_truth_values(attribute_values: Iterable[AttributeValue]) -> bool:
    """Whether 0 and 1 are truth values here: all others are, and there are some."""
    keys = {
        key
        for attribute_value in attribute_values
        if (key := _key(attribute_value, truth=False)) is not None
    }
    return bool(keys & {"true", "false"}) and keys <= {"true", "false", 0.0, 1.0}


def _key(attribute_value: AttributeValue, *, truth: bool) -> _Key | None:
    """Return what all spellings of a value share, None for what says that there is no value."""
    if attribute_value is None:
        return None
    if isinstance(attribute_value, bool):
        return str(attribute_value).lower()
    key: _Key = (
        attribute_value if isinstance(attribute_value, int | float) else _word_key(attribute_value)
    )
    if key in UNKNOWN:
        return None
    return _TRUTH.get(key, key) if truth and isinstance(key, int | float) else key


def _word_key(word: str) -> _Key:
    key = folded_key(word)
    return float(key) if _NUMBER.fullmatch(key) else key


def _plain(attribute_value: AttributeValue) -> Known:
    """Return a value without outer white space, truth values as words."""
    if isinstance(attribute_value, bool):
        return str(attribute_value).lower()
    if isinstance(attribute_value, str):
        return attribute_value.strip()
    return 0 if attribute_value is None else attribute_value


def _chosen(key: _Key, some: list[tuple[int, AttributeValue]], *, numeric: bool) -> Known:
    """Return the number or truth value where one spelling is one, else the commonest spelling.

    Of equally common ones, one without capitals throughout, and the first by code.
    """
    if isinstance(key, str) and key in _TRUTH.values():
        return key
    number = next((one for _, one in some if isinstance(one, int | float)), None)
    if number is not None or (numeric and not isinstance(key, str)):
        return float(key) if number is None else number
    words = Counter[str]()
    for n, one in some:
        words[str(_plain(one))] += n
    return min(words, key=lambda word: (-words[word], word.isupper(), word))


def _spelled(value: Known, some: list[AttributeValue]) -> tuple[str, ...]:
    """Return the spellings of a value, its name first; none where there is one alone."""
    name = label_of(value)
    spelled = sorted(
        {
            attribute_value
            if isinstance(attribute_value, str)
            else label_of(_plain(attribute_value))
            for attribute_value in some
        }
    )
    others = [one for one in spelled if one != name]
    return (name, *others) if others else ()
