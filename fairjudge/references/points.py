"""Points: equivalent statements of different articles, and statements of one article only.

Two statements are equivalent if their embeddings are near, the coverage head finds each in the
other, neither contradicts the other, and their words agree: most words of the shorter one and a
name or number are common, no numbers differ, and both or neither contain a denial. (The models see
a claim and its refutation as similar; the words distinguish them.) A point is a set of pairwise
equivalent statements of different articles. Precision has priority over the number of points: a
statement near a point but not surely equivalent is no point of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
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
"""For each statement's index, the indices of equivalent statements with their similarity."""

NEAR = 0.65
"""Minimum cosine of two statements to be compared by the models."""
NEAREST, MAX_PAIRS = 4, 600
"""Maximum numbers of neighbours per statement and of compared pairs per cluster."""
ALIKE = 1.05
"""Minimum of cosine plus mean P(covered) over both directions of equivalent statements."""
EITHER_WAY = 0.12
"""Minimum P(covered) in either direction of equivalent statements."""
CONTRADICTED = 0.6
"""P(contradicted) in either direction from which two statements are not equivalent."""
COPY = 0.8
"""Minimum share of common words for a statement to count as a copy of another."""
SHARED = 0.55
"""Minimum share of the shorter statement's stems in an equivalent one."""
ALONE = 0.6
"""Maximum cosine to all statements of other articles of a statement of one article only."""
DOUBLED = 0.65
"""Minimum cosine of two points that may be the same; the one with fewer sources is dropped."""


@dataclass(frozen=True, slots=True)
class Point:
    """Equivalent statements, at most one per article; or a single statement."""

    statements: tuple[Statement, ...]

    @property
    def sources(self) -> frozenset[str]:
        """The ids of the articles of the statements."""
        return frozenset(statement.aid for statement in self.statements)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointFinder:
    """Finds the points of a cluster."""

    embedder: Embedder
    models: TrainedModels

    def find(self, articles: Sequence[Article]) -> tuple[Point, ...]:
        """Return the points by number of sources, descending, then single ones by nearness."""
        statements = statements_of(articles)
        if len({statement.aid for statement in statements}) < 2:
            return ()
        vectors = self.embedder.embed([statement.text for statement in statements])
        cosines: NDArray[np.float32] = vectors @ vectors.T
        aids = np.array([statement.aid for statement in statements])
        near = np.where(aids[:, None] == aids[None, :], np.float32(-1), cosines)
        links = self._links(statements, _pairs(near), near)
        shared = _stars(statements, links)
        nearest = near.max(axis=1)
        by_nearness = np.argsort(-nearest, kind="stable").tolist()
        singletons = [(place,) for place in by_nearness if nearest[place] < ALONE]
        return tuple(
            Point(tuple(statements[place] for place in star))
            for star in _without_doubles([*shared, *singletons], cosines)
        )

    def _links(
        self, statements: Sequence[Statement], pairs: Sequence[Pair], near: NDArray[np.float32]
    ) -> Links:
        """Return the links between equivalent statements among `pairs`."""
        links: Links = defaultdict(dict)
        candidates = [p for p in pairs if _may_say_the_same(statements[p[0]], statements[p[1]])]
        candidates = candidates[:MAX_PAIRS]
        if not candidates:
            return links
        covered = self._both_ways(statements, candidates, self.models.covered)
        alike = covered.mean(axis=0) + np.array([near[pair] for pair in candidates])
        sure = np.flatnonzero((alike >= ALIKE) & (covered.min(axis=0) >= EITHER_WAY)).tolist()
        similar = [candidates[place] for place in sure]
        against = self._both_ways(statements, similar, lambda both: self.models.support(both)[:, 2])
        for place, (i, j), contradicted in zip(sure, similar, against.max(axis=0), strict=True):
            if contradicted < CONTRADICTED:
                links[i][j] = links[j][i] = float(alike[place])
        return links

    def _both_ways(
        self,
        statements: Sequence[Statement],
        pairs: Sequence[Pair],
        measure: Callable[[Sequence[tuple[str, str]]], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Return the values of `measure` for each pair and for its reverse, shape (2, n)."""
        forward = [(statements[i].text, statements[j].text) for i, j in pairs]
        return measure([*forward, *((second, first) for first, second in forward)]).reshape(2, -1)


def _pairs(near: NDArray[np.float32]) -> list[Pair]:
    """Return the pairs with a cosine of at least `NEAR`, the nearest first."""
    nearest = np.argsort(-near, axis=1, kind="stable")[:, :NEAREST]
    near_pairs = {
        (min(i, j), max(i, j))
        for i, row in enumerate(nearest.tolist())
        for j in row
        if near[i, j] >= NEAR
    }
    return sorted(near_pairs, key=lambda pair: (-near[pair], pair))


def _may_say_the_same(statement: Statement, other: Statement) -> bool:
    """Return whether the words agree and neither statement is a copy of the other."""
    shorter = min(len(statement.stems), len(other.stems))
    return (
        len(statement.stems & other.stems) >= SHARED * shorter
        and denies(statement.text) == denies(other.text)
        and _particulars_agree(statement, other)
        and not _is_copy(statement, other)
    )


def _particulars_agree(statement: Statement, other: Statement) -> bool:
    """Return whether they share a name or number, and the numbers of one include the other's."""
    numbers, other_numbers = numbers_in(statement.text), numbers_in(other.text)
    if numbers and other_numbers and not (numbers <= other_numbers or other_numbers <= numbers):
        return False
    return (
        bool(numbers & other_numbers)
        or not statement.names.isdisjoint(other.stems)
        or (not other.names.isdisjoint(statement.stems))
    )


def has_copies(articles: Sequence[Article]) -> bool:
    """Return whether a statement of one article is a copy of one of another."""
    statements = statements_of(articles)
    return any(
        first.aid != second.aid and _is_copy(first, second)
        for first, second in combinations(statements, 2)
    )


def _is_copy(statement: Statement, other: Statement) -> bool:
    first, second = set(words(statement.text)), set(words(other.text))
    return len(first & second) >= COPY * min(len(first), len(second))


def _stars(statements: Sequence[Statement], links: Links) -> list[tuple[int, ...]]:
    """Return groups of pairwise linked statements, at most one per article; the largest first."""
    remaining, groups = dict(links), []
    while remaining:
        stars = {centre: _star(centre, statements, remaining) for centre in remaining}
        best = max(stars.values(), key=lambda star: (len(star), -star[0]))
        if len(best) < 2:
            break
        groups.append(best)
        remaining = {
            place: {other: p for other, p in neighbours.items() if other not in best}
            for place, neighbours in remaining.items()
            if place not in best
        }
    return groups


def _star(centre: int, statements: Sequence[Statement], links: Links) -> tuple[int, ...]:
    members = [centre]
    for place, _ in sorted(links[centre].items(), key=lambda link: (-link[1], link[0])):
        other_articles = statements[place].aid not in {statements[m].aid for m in members}
        if other_articles and all(place in links.get(m, {}) for m in members):
            members.append(place)
    return tuple(members)


def _without_doubles(
    stars: Sequence[tuple[int, ...]], cosines: NDArray[np.float32]
) -> list[tuple[int, ...]]:
    """Return the stars that are not near an earlier one."""
    distinct: list[tuple[int, ...]] = []
    for star in stars:
        if all(cosines[np.ix_(star, other)].max() < DOUBLED for other in distinct):
            distinct.append(star)
    return distinct
