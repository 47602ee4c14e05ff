"""Attribute values of documents as categories, with notes on missing or unusual values."""

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
    "one_value",  # all documents have the same value (or there is only one)
    "no_text",  # no document with a value has any text
    "empty_summary",
    "no_support",  # no document supports any part of the summary
    "target_absent",  # the user's target gives no weight to any value of the set
    "unscored",  # the scorer has no result for this summary
]
"""Reason why a sample is excluded from a measure."""

MAX_NUMBERS = 10
"""Maximum number of different numbers treated as categories (such as ratings from 1 to 5)."""
FEW_DOCUMENTS = 5
"""Values with fewer documents than this are listed in a note."""
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSet:
    """The documents of one cluster and their values (None for a document without value).

    All tuples have one entry per document, in the order of the cluster.
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
    """All document sets of a corpus, and notes on the attribute's values.

    ``values`` are sorted; ``notes`` are sentences for the report.
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
    min_values: Literal[1, 2] = 2,
) -> LabelledCorpus:
    """Read `attribute` of every article as a category.

    Parameters
    ----------
    clusters
        With distinct ``eid``.
    attribute
        A key of the articles' ``attributes``.
    bins
        Ascending cut points that divide numbers into ranges; a number equal to a cut point belongs
        to the upper range.
    min_values
        Minimum number of values that the attribute must have over all articles.

    Raises
    ------
    InputError
        No article has the attribute (the message lists the existing ones); all have the same value
        and `min_values` is 2; the attribute is a number with more than `MAX_NUMBERS` different
        values and there are no `bins`; `bins` do not increase or a value is not a number; two
        clusters have the same ``eid``.
    """
    _check(clusters, attribute, bins)
    columns = [
        [article.attributes.get(attribute) for article in cluster.articles] for cluster in clusters
    ]
    spellings = spellings_of((value for row in columns for value in row), numeric=bool(bins))
    values_by_cluster = [[spellings.read(value) for value in row] for row in columns]
    counts = Counter(value for row in values_by_cluster for value in row if value is not None)
    if not counts:
        raise InputError(
            f"attribute {attribute!r} has no known value in any article", field="attributes"
        )
    names = _value_names(list(counts), attribute, bins)
    sets = tuple(
        LabelledSet(
            eid=cluster.eid,
            aids=tuple(article.aid for article in cluster.articles),
            texts=tuple(article.content for article in cluster.articles),
            labels=tuple(None if value is None else names[value] for value in row),
        )
        for cluster, row in zip(clusters, values_by_cluster, strict=True)
    )
    label_counts = Counter(
        label for document_set in sets for label in document_set.labels if label is not None
    )
    if len(label_counts) < min_values:
        raise InputError(
            f"all articles with attribute {attribute!r} have the same value, "
            f"{next(iter(label_counts))!r}: there is nothing to compare; choose another attribute",
            field="attributes",
        )
    return LabelledCorpus(
        attribute=attribute,
        sets=sets,
        values=tuple(sorted(label_counts)),
        notes=(
            *_missing_value_notes(attribute, sets),
            *spelling_notes(attribute, spellings),
            *_value_notes(attribute, label_counts, bins, names),
        ),
    )


def _check(clusters: Sequence[Cluster], attribute: str, bins: Sequence[float]) -> None:
    repeated_eids = [
        eid for eid, n in Counter(cluster.eid for cluster in clusters).items() if n > 1
    ]
    if repeated_eids:
        raise InputError(
            f"duplicate eid {repeated_eids[0]!r}: every cluster needs a unique eid", field="eid"
        )
    known_attributes = {
        name for cluster in clusters for a in cluster.articles for name in a.attributes
    }
    if attribute not in known_attributes:
        names = ", ".join(repr(name) for name in sorted(known_attributes)) or "none at all"
        raise InputError(
            f"no article has attribute {attribute!r}; attributes "
            f"found: {names}{did_you_mean(attribute, known_attributes)}",
            field="attributes",
        )
    if any(low >= high for low, high in pairwise(bins)):
        raise InputError(f"bins must be increasing, got {list(bins)!r}")


def _value_names(
    values: Sequence[Known], attribute: str, bins: Sequence[float]
) -> Mapping[Known, str]:
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
    index = bisect.bisect_right(bins, number)
    if index == 0:
        return f"below {bins[0]:g}"
    if index == len(bins):
        return f"{bins[-1]:g} or more"
    return f"{bins[index - 1]:g} to below {bins[index]:g}"


def _missing_value_notes(attribute: str, sets: Sequence[LabelledSet]) -> tuple[str, ...]:
    """Return a note with the number of documents without a value, and the first of their ids."""
    unlabelled_ids = [
        f"{labelled_set.eid}/{aid}"
        for labelled_set in sets
        for aid, label in zip(labelled_set.aids, labelled_set.labels, strict=True)
        if label is None
    ]
    if not unlabelled_ids:
        return ()
    verb = f"{'was' if len(unlabelled_ids) == 1 else 'were'} excluded"
    return (
        f"{pluralize(len(unlabelled_ids), 'document')} without a known {attribute!r} {verb}: "
        f"{join_first(unlabelled_ids)}",
    )


def spelling_notes(attribute: str, spellings: Spellings) -> tuple[str, ...]:
    """Return a note on spellings of `attribute` that are treated as one value."""
    merged_spellings = [
        f"{spelling[0]!r} (also written {', '.join(map(repr, spelling[1:_MAX_NAMED]))})"
        for spelling in spellings.joined
    ]
    if not merged_spellings:
        return ()
    return (f"spellings of {attribute!r} read as one value each: {join_first(merged_spellings)}",)


def join_first(names: Sequence[str]) -> str:
    """Join the first few `names` by commas, with an ellipsis if there are more."""
    return ", ".join(names[:_MAX_NAMED]) + (", ..." if len(names) > _MAX_NAMED else "")


def _value_notes(
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
    rare_values = sorted(value for value, n in counts.items() if n < FEW_DOCUMENTS)
    if rare_values:
        examples = ", ".join(repr(value) for value in rare_values[:10])
        suffix = f" and {len(rare_values) - 10} more" if len(rare_values) > 10 else ""
        notes.append(
            f"held by fewer than {FEW_DOCUMENTS} documents: {len(rare_values)} of "
            f"{pluralize(len(counts), 'value')}: {examples}{suffix}"
        )
    return tuple(notes)
