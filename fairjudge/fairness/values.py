"""Attribute values of documents: read as categories, with everything unusual counted and named."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from fairjudge.domain import Cluster
from fairjudge.errors import InputError
from fairjudge.text.counting import pluralize
from fairjudge.text.spellings import Known, Spellings, label_of, spellings_of
from fairjudge.text.suggestions import did_you_mean

Exclusion: TypeAlias = Literal[
    "no_values",  # no document of the set has a value
    "one_value",  # one value holds all documents (of which there may be one only)
    "no_text",  # no document that has a value has any text
    "empty_summary",
    "no_support",  # no document supports any part of the summary
    "target_absent",  # the user's target gives no weight to any value of the set
    "unscored",  # the scorer gave nothing for this summary
]
"""Why a sample is excluded from a measure."""

MAX_NUMBERS = 10
"""Up to this many different numbers are treated as categories (such as ratings from 1 to 5)."""
FEW_DOCUMENTS = 5
"""Values held by fewer documents than this are named in a note."""
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSet:
    """The documents of one cluster with their values; None where a document has none.

    All tuples have one entry a document, in the order of the cluster.
    """

    eid: str
    aids: tuple[str, ...]
    texts: tuple[str, ...]
    labels: tuple[str | None, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The values that occur, sorted."""
        return tuple(sorted({label for label in self.labels if label is not None}))

    @property
    def exclusion(self) -> Exclusion | None:
        """Reason to exclude the set, or None."""
        count = len(self.values)
        return None if count > 1 else "one_value" if count else "no_values"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCorpus:
    """All document sets, and notes on the attribute's values.

    ``values`` are sorted; ``notes`` are sentences for a reader of the report.
    """

    attribute: str
    sets: tuple[LabelledSet, ...]
    values: tuple[str, ...]
    notes: tuple[str, ...]


def label_corpus(
    clusters: Sequence[Cluster],
    *,
    attribute: str,
    bins: Sequence[float] = (),
    least_values: Literal[1, 2] = 2,
) -> LabelledCorpus:
    """Read `attribute` of every article as a category.

    Parameters
    ----------
    clusters
        With distinct ``eid``.
    attribute
        A key of the articles' ``attributes``.
    bins
        Ascending cut points that turn numbers into ranges; a number equal to a cut point belongs
        to the upper range.
    least_values
        How many values the attribute must have over all articles.

    Raises
    ------
    InputError
        No article has the attribute (the message names those that exist), or all have one value
        of it where `least_values` is 2; it is a number with
        more than `MAX_NUMBERS` different values and no `bins`; `bins` do not ascend or meet a
        value that is no number; two clusters share an ``eid``.
    """
    _check(clusters, attribute, bins)
    columns = [
        [article.attributes.get(attribute) for article in cluster.articles] for cluster in clusters
    ]
    spellings = spellings_of((value for row in columns for value in row), numeric=bool(bins))
    raw = [[spellings.read(value) for value in row] for row in columns]
    counts = Counter(value for row in raw for value in row if value is not None)
    if not counts:
        raise InputError(
            f"attribute {attribute!r} has no known value in any article", field="attributes"
        )
    names = _names(list(counts), attribute, bins)
    sets = tuple(
        LabelledSet(
            eid=cluster.eid,
            aids=tuple(article.aid for article in cluster.articles),
            texts=tuple(article.content for article in cluster.articles),
            labels=tuple(None if value is None else names[value] for value in row),
        )
        for cluster, row in zip(clusters, raw, strict=True)
    )
    by_name = Counter(
        label for document_set in sets for label in document_set.labels if label is not None
    )
    if len(by_name) < least_values:
        raise InputError(
            f"all articles that have attribute {attribute!r} have one value of it, "
            f"{next(iter(by_name))!r}: there is nothing to compare; name another attribute",
            field="attributes",
        )
    return LabelledCorpus(
        attribute=attribute,
        sets=sets,
        values=tuple(sorted(by_name)),
        notes=(
            *_without_value(attribute, sets),
            *spelling_notes(attribute, spellings),
            *_notes(attribute, by_name, bins, names),
        ),
    )


def _check(clusters: Sequence[Cluster], attribute: str, bins: Sequence[float]) -> None:
    repeated = [eid for eid, n in Counter(cluster.eid for cluster in clusters).items() if n > 1]
    if repeated:
        raise InputError(f"duplicate eid {repeated[0]!r}: every cluster needs its own", field="eid")
    present = {name for cluster in clusters for a in cluster.articles for name in a.attributes}
    if attribute not in present:
        names = ", ".join(repr(name) for name in sorted(present)) or "none at all"
        raise InputError(
            f"no article has attribute {attribute!r}; attributes "
            f"found: {names}{did_you_mean(attribute, present)}",
            field="attributes",
        )
    if any(low >= high for low, high in pairwise(bins)):
        raise InputError(f"bins must be increasing, got {list(bins)!r}")


def _names(values: Sequence[Known], attribute: str, bins: Sequence[float]) -> Mapping[Known, str]:
    numbers = [value for value in values if not isinstance(value, str)]
    if bins:
        if len(numbers) < len(values):
            word = next(value for value in values if isinstance(value, str))
            raise InputError(
                f"bins were given, but attribute {attribute!r} has the value {word!r}",
                field="attributes",
            )
        return {number: _range(number, bins) for number in numbers}
    if len(numbers) > MAX_NUMBERS:
        raise InputError(
            f"attribute {attribute!r} is a number with "
            f"{pluralize(len(numbers), 'different value')} "
            f"from {min(numbers):g} to {max(numbers):g}; give cut points to group them (bins)",
            field="attributes",
        )
    return {value: label_of(value) for value in values}


def _range(number: float, bins: Sequence[float]) -> str:
    place = bisect.bisect_right(bins, number)
    if place == 0:
        return f"below {bins[0]:g}"
    if place == len(bins):
        return f"{bins[-1]:g} or more"
    return f"{bins[place - 1]:g} to below {bins[place]:g}"


def _without_value(attribute: str, sets: Sequence[LabelledSet]) -> tuple[str, ...]:
    """Say how many documents have no value, and name the first of them."""
    unknown = [
        f"{labelled.eid}/{aid}"
        for labelled in sets
        for aid, label in zip(labelled.aids, labelled.labels, strict=True)
        if label is None
    ]
    if not unknown:
        return ()
    verb = f"{'was' if len(unknown) == 1 else 'were'} excluded"
    return (
        f"{pluralize(len(unknown), 'document')} without a known {attribute!r} {verb}: "
        f"{first_few(unknown)}",
    )


def spelling_notes(attribute: str, spellings: Spellings) -> tuple[str, ...]:
    """Say which spellings of `attribute` are read as one value."""
    merged = [
        f"{spelling[0]!r} (also written {', '.join(map(repr, spelling[1:_MAX_NAMED]))})"
        for spelling in spellings.joined
    ]
    if not merged:
        return ()
    return (f"spellings of {attribute!r} read as one value each: {first_few(merged)}",)


def first_few(names: Sequence[str]) -> str:
    """Join the first of `names`, with dots where there are more."""
    return ", ".join(names[:_MAX_NAMED]) + (", ..." if len(names) > _MAX_NAMED else "")


def _notes(
    attribute: str,
    counts: Counter[str],
    bins: Sequence[float],
    names: Mapping[Known, str],
) -> tuple[str, ...]:
    notes = []
    if bins:
        notes.append(f"{attribute!r} is a number, grouped by the cut points {list(bins)!r}")
    elif not all(isinstance(value, str) for value in names):
        notes.append(f"{attribute!r} has numbers, read as categories")
    rare = sorted(value for value, n in counts.items() if n < FEW_DOCUMENTS)
    if rare:
        examples = ", ".join(repr(value) for value in rare[:10])
        suffix = f" and {len(rare) - 10} more" if len(rare) > 10 else ""
        notes.append(
            f"held by fewer than {FEW_DOCUMENTS} documents: {len(rare)} of "
            f"{pluralize(len(counts), 'value')}: {examples}{suffix}"
        )
    return tuple(notes)
