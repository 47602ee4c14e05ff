"""Points: what statements of different articles say alike, and what one article says alone.

Two statements say the same where they are near as embeddings and the coverage head finds each in
the other, neither contradicts the other, and their words agree: most words of the shorter one, a
name or a number in common, no other number, and both deny something or neither does. (Between
statements that the models find alike the words tell best what is said: of claims and what refutes
them the models see the same topic.) A point is a statement with those of other articles that say
the same as it and as each other, so that a group says one thing. Precision comes before number: a
statement that is near a point, and says not surely the same, is no point of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Article
from fairjudge.ports import Embedder, TrainedModels
from fairjudge.references.statements import Statement, denies, statements_of
from fairjudge.text.particulars import numbers_in
from fairjudge.text.tokens import words

Pair: TypeAlias = tuple[int, int]
Links: TypeAlias = dict[int, dict[int, float]]
"""Of each statement, by place, the others that say the same, and how surely."""

NEAR = 0.65
"""Cosine from which two statements are read beside each other."""
NEAREST, MAX_PAIRS = 4, 600
"""Statements of other articles that one is compared with, and the most pairs of a cluster."""
ALIKE = 1.05
"""Cosine plus the mean of P(covered) of both ways from which two say the same."""
EITHER_WAY = 0.12
"""P(covered), either way, below which one says something else beside."""
CONTRADICTED = 0.6
"""P(contradicted), either way, from which two do not say the same."""
COPY = 0.8
"""Share of words in common from which one statement is a copy of another."""
SHARED = 0.55
"""Share of the shorter statement's words below which another one does not say the same."""
ALONE = 0.6
"""Cosine to any statement of another article below which one article alone says it."""
DOUBLED = 0.65
"""Cosine from which two points may be one: the one of fewer sources goes."""


@dataclass(frozen=True, slots=True)
class Point:
    """What statements of different articles say alike, one an article; or one of them alone."""

    statements: tuple[Statement, ...]

    @property
    def sources(self) -> frozenset[str]:
        """The articles that say so."""
        return frozenset(one.aid for one in self.statements)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointFinder:
    """Finds the points of a cluster."""

    embedder: Embedder
    models: TrainedModels

    def find(self, articles: Sequence[Article]) -> tuple[Point, ...]:
        """Return the points: first those of most sources, last those of one, the nearest first."""
        statements = statements_of(articles)
        if len({one.aid for one in statements}) < 2:
            return ()
        vectors = self.embedder.embed([one.text for one in statements])
        cosines: NDArray[np.float32] = vectors @ vectors.T
        aids = np.array([one.aid for one in statements])
        near = np.where(aids[:, None] == aids[None, :], np.float32(-1), cosines)
        links = self._links(statements, _pairs(near), near)
        shared = _stars(statements, links)
        nearest = near.max(axis=1)
        by_nearness = np.argsort(-nearest, kind="stable").tolist()
        alone = [(place,) for place in by_nearness if nearest[place] < ALONE]
        return tuple(
            Point(tuple(statements[place] for place in star))
            for star in _without_doubles([*shared, *alone], cosines)
        )

    def _links(
        self, statements: Sequence[Statement], pairs: Sequence[Pair], near: NDArray[np.float32]
    ) -> Links:
        """Return which of the pairs say the same."""
        links: Links = defaultdict(dict)
        asked = [p for p in pairs if _may_say_the_same(statements[p[0]], statements[p[1]])]
        asked = asked[:MAX_PAIRS]
        if not asked:
            return links
        covered = self._both_ways(statements, asked, self.models.covered)
        alike = covered.mean(axis=0) + np.array([near[pair] for pair in asked])
        sure = np.flatnonzero((alike >= ALIKE) & (covered.min(axis=0) >= EITHER_WAY)).tolist()
        found = [asked[place] for place in sure]
        against = self._both_ways(statements, found, lambda both: self.models.support(both)[:, 2])
        for place, (i, j), contradicted in zip(sure, found, against.max(axis=0), strict=True):
            if contradicted < CONTRADICTED:
                links[i][j] = links[j][i] = float(alike[place])
        return links

    def _both_ways(
        self,
        statements: Sequence[Statement],
        pairs: Sequence[Pair],
        read: Callable[[Sequence[tuple[str, str]]], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Return shape (2, n): what is read of each pair, and of it turned round."""
        there = [(statements[i].text, statements[j].text) for i, j in pairs]
        return read([*there, *((two, one) for one, two in there)]).reshape(2, -1)


def _pairs(near: NDArray[np.float32]) -> list[Pair]:
    """Return the pairs that are near, the nearest first."""
    nearest = np.argsort(-near, axis=1, kind="stable")[:, :NEAREST]
    found = {
        (min(i, j), max(i, j))
        for i, row in enumerate(nearest.tolist())
        for j in row
        if near[i, j] >= NEAR
    }
    return sorted(found, key=lambda pair: (-near[pair], pair))


def _may_say_the_same(one: Statement, other: Statement) -> bool:
    """Whether the words agree, and neither is a copy of the other."""
    shorter = min(len(one.stems), len(other.stems))
    return (
        len(one.stems & other.stems) >= SHARED * shorter
        and denies(one.text) == denies(other.text)
        and _particulars_agree(one, other)
        and not _is_copy(one, other)
    )


def _particulars_agree(one: Statement, other: Statement) -> bool:
    """Whether they share a name or a number, and no number of one stands against the other's."""
    numbers, others = numbers_in(one.text), numbers_in(other.text)
    if numbers and others and not (numbers <= others or others <= numbers):
        return False
    return (
        bool(numbers & others)
        or not one.names.isdisjoint(other.stems)
        or (not other.names.isdisjoint(one.stems))
    )


def _is_copy(one: Statement, other: Statement) -> bool:
    first, second = set(words(one.text)), set(words(other.text))
    return len(first & second) >= COPY * min(len(first), len(second))


def _stars(statements: Sequence[Statement], links: Links) -> list[tuple[int, ...]]:
    """Return groups of places, one an article, of which each two are linked; the largest first."""
    left, found = dict(links), []
    while left:
        stars = {centre: _star(centre, statements, left) for centre in left}
        best = max(stars.values(), key=lambda star: (len(star), -star[0]))
        if len(best) < 2:
            break
        found.append(best)
        left = {
            place: {other: p for other, p in some.items() if other not in best}
            for place, some in left.items()
            if place not in best
        }
    return found


def _star(centre: int, statements: Sequence[Statement], links: Links) -> tuple[int, ...]:
    members = [centre]
    for place, _ in sorted(links[centre].items(), key=lambda one: (-one[1], one[0])):
        other_articles = statements[place].aid not in {statements[m].aid for m in members}
        if other_articles and all(place in links.get(m, {}) for m in members):
            members.append(place)
    return tuple(members)


def _without_doubles(
    stars: Sequence[tuple[int, ...]], cosines: NDArray[np.float32]
) -> list[tuple[int, ...]]:
    """Return the stars that are not near one before them."""
    kept: list[tuple[int, ...]] = []
    for star in stars:
        if all(cosines[np.ix_(star, other)].max() < DOUBLED for other in kept):
            kept.append(star)
    return kept
