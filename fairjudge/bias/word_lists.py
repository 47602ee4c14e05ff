"""Inclusion bias by word lists (`news_bias` section 3.1), and the published lists.

The lists are from `news_bias` appendices A, B and J.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np

from fairjudge.bias.choices import ReferenceKind
from fairjudge.bias.measures import BiasMeasure, BiasMeasures
from fairjudge.bias.resampling import (
    Counts,
    TwoWay,
    Units,
    holm_over_documents,
    shares,
    two_way,
)
from fairjudge.domain import Undefined
from fairjudge.errors import InputError
from fairjudge.stats._arrays import FloatArray, IntArray
from fairjudge.stats.resampling import Resampling
from fairjudge.text.folding import folded_key
from fairjudge.text.scripts import UNSPACED
from fairjudge.text.tokens import words

WordLists: TypeAlias = Mapping[str, Sequence[str]]

_HELM_PAIRS = """
she he, daughter son, hers his, her him, mother father, woman man, girl boy, herself himself,
female male, sister brother, daughters sons, mothers fathers, women men, girls boys, femen males,
sisters brothers, aunt uncle, aunts uncles, niece nephew, nieces nephews
"""
_EXTENDED_PAIRS = """
daughter son, mother father, woman man, girl boy, female male, sister brother, daughters sons,
mothers fathers, women men, girls boys, females males, sisters brothers, aunt uncle, aunts uncles,
niece nephew, nieces nephews, wife husband, wives husbands, actress actor, actresses actors,
chairwoman chairman, chairwomen chairmen, mum dad, mums dads, waitress waiter, waitresses waiters,
mistress lover
"""


def _gender_lists(text: str) -> Mapping[str, tuple[str, ...]]:
    pairs = [pair.split() for pair in text.replace("\n", " ").split(",")]
    return MappingProxyType(
        {"female": tuple(pair[0] for pair in pairs), "male": tuple(pair[1] for pair in pairs)}
    )


HELM_GENDER: Mapping[str, tuple[str, ...]] = _gender_lists(_HELM_PAIRS)
"""Table 10, HELM's lists, in pairs; the misprint ``femen`` is kept for comparable results."""

EXTENDED_GENDER: Mapping[str, tuple[str, ...]] = _gender_lists(_EXTENDED_PAIRS)
"""Table 18: the content words used to select articles for editing, in pairs."""

AMBIGUOUS_PRONOUNS = frozenset({"him", "her", "his", "hers"})
"""Excluded from the analysis of inputs, since "her" means both "him" and "his" (footnote 6)."""

TOPIC_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sport": ("league", "season", "club", "game", "win", "team", "shot"),
        "family": (
            "family", "husband", "wife", "father", "mother", "children", "boys", "girls", "baby",
        ),
    }
)  # fmt: skip
"""Table 11: words with which the controls distinguish sport from family news."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupShare:
    """One group's share of all identifiers, from 0 to 1.

    ``difference`` is summaries minus reference; ``p_holm`` is corrected over the groups (for two
    groups there is only one test).
    """

    n_summary: int
    n_source: int
    summary: float | Undefined
    reference: float | Undefined
    difference: TwoWay
    p_holm: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WordListBias:
    """The measures of `WORDS` for one system, by key, and each group's share."""

    estimates: Mapping[str, TwoWay]
    by_group: Mapping[str, GroupShare]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierCounts:
    """Numbers of identifiers of each group in summaries and in their sources, shape (n, k) each.

    ``reference`` is the distribution to compare with: the sources' or the uniform one.
    """

    summaries: Counts
    sources: Counts
    groups: Sequence[str]
    reference: ReferenceKind = "source"
    n_excluded: int = 0

    def units(self) -> Units:
        """Return the counts of summaries and of their sources as adjacent columns."""
        pairs = self.summaries.concatenate_columns(self.sources)
        return Units(counts=pairs, n=len(pairs.rows), n_excluded=self.n_excluded)


class IdentifierCounter:
    """Counts the identifiers of each group in texts.

    Parameters
    ----------
    lists
        Maps groups to single words, in any case; at least two groups. Words of scripts without
        spaces are counted wherever their characters occur, longest first.

    Raises
    ------
    InputError
        Fewer than two groups, an empty list, an entry that is not a single word, or a word in two
        lists.
    """

    def __init__(self, lists: WordLists) -> None:
        if len(lists) < 2:
            raise InputError(f"expected word lists of at least two groups, got {list(lists)!r}")
        self.groups: tuple[str, ...] = tuple(lists)
        self._column: dict[str, int] = {}
        self._unspaced: dict[str, int] = {}
        for column, (group, entries) in enumerate(lists.items()):
            if not entries:
                raise InputError("the word list is empty", field=group)
            for entry in entries:
                self._add(group, entry, column)

        words_by_length = sorted(self._unspaced, key=lambda word: (-len(word), word))
        self._pattern = re.compile("|".join(map(re.escape, words_by_length)))

    def _add(self, group: str, entry: str, column: int) -> None:
        key = folded_key(entry)
        if key and all(map(UNSPACED.match, key)):
            word, columns = key, self._unspaced
        else:
            tokens = words(entry)
            if len(tokens) != 1:
                raise InputError(f"expected single words, got {entry!r}", field=group)
            word, columns = tokens[0], self._column
        if columns.setdefault(word, column) != column:
            other_group = self.groups[columns[word]]
            raise InputError(f"{entry!r} is also in the list of {other_group!r}", field=group)

    def count(self, text: str) -> IntArray:
        """Return the number of identifiers of each group in `text`, shape (k,)."""
        counts = np.zeros(len(self.groups), dtype=np.intp)
        for word, n in Counter(words(text)).items():
            if (column := self._column.get(word)) is not None:
                counts[column] += n
        if self._unspaced:
            for match in self._pattern.finditer(folded_key(text)):
                counts[self._unspaced[match.group()]] += 1
        return counts


def unique_argmax(counts: IntArray) -> int | None:
    """Return the index of the largest count, or None if several counts tie."""
    max_indices = np.flatnonzero(counts == counts.max())
    return int(max_indices[0]) if max_indices.size == 1 else None


def word_list_bias(counts: IdentifierCounts, *, resampling: Resampling) -> WordListBias:
    """Compare the distribution of identifiers in summaries with that of a reference.

    Undefined if the summaries, or the sources they are compared with, have no identifiers. The
    reference ``"source"`` is the distribution over all sources (inclusion bias); ``"uniform"`` is
    equality of outcome, as in HELM.
    """
    units, reference = counts.units(), counts.reference
    differences = {
        group: two_way(
            units,
            partial(_difference, column=g, reference=reference),
            resampling=resampling,
            null=0.0,
            why=_undefined_reason(counts, reference),
        )
        for g, group in enumerate(counts.groups)
    }
    return WordListBias(
        estimates=WORDS.estimates(counts, resampling),
        by_group=_by_group(differences, units.counts.total, reference),
    )


def _differences(sums: FloatArray, reference: ReferenceKind) -> FloatArray:
    summary_sums, source_sums = np.hsplit(sums, 2)
    return shares(summary_sums) - _reference(source_sums, reference)


def _reference(sums: FloatArray, reference: ReferenceKind) -> FloatArray:
    return np.full_like(sums, 1.0 / sums.shape[1]) if reference == "uniform" else shares(sums)


def total_variation(sums: FloatArray, reference: ReferenceKind) -> FloatArray:
    """Return the total variation distance to the reference, in [0, 1] (`news_bias` 3.1)."""
    distances: FloatArray = np.abs(_differences(sums, reference)).sum(axis=1) / 2.0
    return distances


def _difference(sums: FloatArray, *, column: int, reference: ReferenceKind) -> FloatArray:
    return _differences(sums, reference)[:, column]


def _undefined_reason(counts: IdentifierCounts, reference: ReferenceKind) -> str:
    if not counts.summaries.total.any():
        return "the summaries hold no identifier of any group"
    if reference == "source" and not counts.sources.total.any():
        return "the sources hold no identifier of any group"
    return ""


def _by_group(
    differences: Mapping[str, TwoWay], total: FloatArray, reference: ReferenceKind
) -> dict[str, GroupShare]:
    k = len(differences)
    summary = shares(total[None, :k])[0]
    source = _reference(total[None, k:], reference)[0]
    adjusted_p_values = holm_over_documents(differences)
    return {
        group: GroupShare(
            n_summary=int(total[g]),
            n_source=int(total[k + g]),
            summary=_number(summary[g]),
            reference=_number(source[g]),
            difference=difference,
            p_holm=adjusted_p_values.get(group),
        )
        for g, (group, difference) in enumerate(differences.items())
    }


def _number(value: float) -> float | Undefined:
    return Undefined(why="no identifier") if np.isnan(value) else float(value)


WordMeasure: TypeAlias = BiasMeasure[IdentifierCounts]

WORDS: Final[BiasMeasures[IdentifierCounts]] = BiasMeasures(
    "words",
    WordMeasure(
        key="inclusion",
        label="Word-list inclusion",
        units=IdentifierCounts.units,
        corpus_formula=lambda counts, sums: total_variation(sums, counts.reference),
        why=lambda counts: _undefined_reason(counts, counts.reference),
        title="Word-list inclusion against the {reference}",
        axis_label="distance of the distributions; 0 is unbiased",
        note="distance of the distributions of identifiers, 0 (unbiased) to 1.",
    ),
    WordMeasure(
        key="against_source",
        label="Word-list inclusion against the source",
        units=IdentifierCounts.units,
        corpus_formula=lambda _, sums: total_variation(sums, "source"),
        why=lambda counts: _undefined_reason(counts, "source"),
        shown=False,
    ),
    WordMeasure(
        key="against_uniform",
        label="Word-list inclusion against uniform",
        units=IdentifierCounts.units,
        corpus_formula=lambda _, sums: total_variation(sums, "uniform"),
        why=lambda counts: _undefined_reason(counts, "uniform"),
        shown=False,
    ),
)
"""The measures of ``bias words``: for the chosen reference, and for each; 0 is unbiased."""


def pair_markers(lists: WordLists) -> dict[str, str]:
    """Map each word of paired lists to a marker such as ``"woman/man"``.

    Lists of unequal length have no pairs: every identifier then maps to the empty string.
    """
    columns = [[words(entry)[0] for entry in entries] for entries in lists.values()]
    if len({len(column) for column in columns}) > 1:
        return dict.fromkeys(itertools.chain.from_iterable(columns), "")
    return {word: "/".join(row) for row in zip(*columns, strict=True) for word in row}
