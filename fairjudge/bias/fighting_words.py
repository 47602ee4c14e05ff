"""Bias of the inputs themselves: Fighting words (Monroe et al. 2008; `news_bias` section 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from fairjudge.bias.word_lists import (
    AMBIGUOUS_PRONOUNS,
    IdentifierCounter,
    WordLists,
    pair_markers,
    unique_argmax,
)
from fairjudge.errors import InputError, StatisticsError
from fairjudge.stats.multiplicity import benjamini_hochberg
from fairjudge.text.tokens import words

PRIOR = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class FightingWord:
    """A word with its log-odds ratio between two corpora; positive if more frequent in the first.

    ``p_value`` is two-sided (normal), ``q_value`` is corrected over the vocabulary
    (Benjamini-Hochberg).
    """

    word: str
    n_first: int
    n_second: int
    log_odds_ratio: float
    z: float
    p_value: float
    q_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InputBias:
    """Differences between the documents of each group and all others.

    ``documents`` counts documents by the group with the most identifiers; ``n_tied`` documents have
    no such group and are excluded; ``identifiers`` counts identifiers in all documents.
    """

    documents: Mapping[str, int]
    n_tied: int
    identifiers: Mapping[str, int]
    by_group: Mapping[str, tuple[FightingWord, ...]]


def fighting_words(
    first: Mapping[str, int], second: Mapping[str, int], *, prior: float = PRIOR
) -> tuple[FightingWord, ...]:
    """Compare word counts of two corpora, highest z first.

    With counts y of a word, n of all words and an uninformative Dirichlet prior a for each of V
    words, the log-odds are ``log((y + a) / (n + Va - y - a))``, the variance of their difference is
    about ``1 / (y1 + a) + 1 / (y2 + a)`` (Monroe et al. 2008, equations 15, 16, 20, 22).

    Raises
    ------
    StatisticsError
        If the prior is not positive, or there are fewer than two words.
    """
    vocabulary = sorted(first.keys() | second.keys())
    if prior <= 0.0 or len(vocabulary) < 2:
        raise StatisticsError(
            f"expected a positive prior and at least two words, got {prior!r} and {vocabulary!r}"
        )
    y1 = np.array([first.get(word, 0) for word in vocabulary], dtype=np.float64) + prior
    y2 = np.array([second.get(word, 0) for word in vocabulary], dtype=np.float64) + prior
    ratio = np.log(y1 / (y1.sum() - y1)) - np.log(y2 / (y2.sum() - y2))
    z = ratio / np.sqrt(1.0 / y1 + 1.0 / y2)
    p_values = 2.0 * ndtr(-np.abs(z))
    q_values = benjamini_hochberg(p_values)
    return tuple(
        FightingWord(
            word=vocabulary[i],
            n_first=first.get(vocabulary[i], 0),
            n_second=second.get(vocabulary[i], 0),
            log_odds_ratio=float(ratio[i]),
            z=float(z[i]),
            p_value=float(p_values[i]),
            q_value=float(q_values[i]),
        )
        for i in np.argsort(-z, kind="stable")
    )


def input_bias(texts: Sequence[str], lists: WordLists) -> InputBias:
    """Find the words associated with each group's documents.

    A document belongs to the group with the most identifiers in it. Both words of a pair of
    identifiers are replaced by one marker (``"woman/man"``), since they define the groups;
    ambiguous pronouns and identifiers without pairs are excluded.

    Raises
    ------
    InputError
        No document, or fewer than two groups with documents.
    """
    counter = IdentifierCounter(lists)
    matrix = np.array([counter.count(text) for text in texts], dtype=np.intp)
    matrix = matrix.reshape(len(texts), len(counter.groups))
    group_indices = [unique_argmax(row) for row in matrix]
    documents = {group: group_indices.count(g) for g, group in enumerate(counter.groups)}
    if sum(n > 0 for n in documents.values()) < 2:
        raise InputError(
            "the documents cannot be assigned to two groups: most identifiers are "
            + ", ".join(f"{group!r} in {n}" for group, n in documents.items())
        )
    markers = pair_markers(lists)
    counts = [Counter[str]() for _ in counter.groups]
    for text, group_index in zip(texts, group_indices, strict=True):
        if group_index is not None:
            counts[group_index].update(_replace_by_markers(words(text), markers))
    total = sum(counts, Counter[str]())
    return InputBias(
        documents=documents,
        n_tied=group_indices.count(None),
        identifiers=dict(zip(counter.groups, matrix.sum(axis=0).tolist(), strict=True)),
        by_group={
            group: fighting_words(counts[g], total - counts[g])
            for g, group in enumerate(counter.groups)
        },
    )


def _replace_by_markers(terms: Iterable[str], markers: Mapping[str, str]) -> list[str]:
    replaced_words = (markers.get(word, word) for word in terms if word not in AMBIGUOUS_PRONOUNS)
    return [word for word in replaced_words if word]
