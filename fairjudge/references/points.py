"""Points: equivalent statements of different articles, and statements of one article only.

Two statements are equivalent if their embeddings are similar, each covers the other according to
the coverage head, neither contradicts the other, and their words agree: most words of the shorter
statement and a name or number are common, no numbers differ, and both or neither contain a denial.
(The models rate a claim and its refutation as similar; the words distinguish them.) A point is a
set of pairwise equivalent statements of different articles. Precision has priority over the number
of points: a statement that is similar but perhaps not equivalent to a point is no separate point.
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

MIN_COSINE = 0.65
"""Minimum cosine of two statements to be compared by the models."""
NEAREST, MAX_PAIRS = 4, 600
"""Maximum numbers of neighbours per statement and of compared pairs per cluster."""
MIN_SCORE = 1.05
"""Minimum score of equivalent statements: cosine plus mean P(covered) over both directions."""
MIN_COVERAGE = 0.12
"""Minimum P(covered) in each direction of equivalent statements."""
MAX_CONTRADICTION = 0.6
"""Upper bound of P(contradicted) in each direction of equivalent statements."""
COPY_SHARE = 0.8
"""Minimum share of common words of copies."""
MIN_COMMON_STEMS = 0.55
"""Minimum share of the shorter statement's stems that occur in an equivalent statement."""
MAX_SINGLE_COSINE = 0.6
"""Upper bound of the cosine of a single statement to statements of other articles."""
DUPLICATE_COSINE = 0.65
"""Minimum cosine of duplicate points; the point with fewer sources is dropped."""


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
        """Return the points by number of sources, descending, then single statements by cosine."""
        statements = statements_of(articles)
        if len({statement.aid for statement in statements}) < 2:
            return ()
        vectors = self.embedder.embed([statement.text for statement in statements])
        cosines: NDArray[np.float32] = vectors @ vectors.T
        aids = np.array([statement.aid for statement in statements])
        cosines_between_articles = np.where(aids[:, None] == aids[None, :], np.float32(-1), cosines)
        links = self._links(statements, _pairs(cosines_between_articles), cosines_between_articles)
        stars = _stars(statements, links)
        max_cosines = cosines_between_articles.max(axis=1)
        ranking = np.argsort(-max_cosines, kind="stable").tolist()
        singletons = [(index,) for index in ranking if max_cosines[index] < MAX_SINGLE_COSINE]
        return tuple(
            Point(tuple(statements[index] for index in star))
            for star in _drop_duplicates([*stars, *singletons], cosines)
        )

    def _links(
        self, statements: Sequence[Statement], pairs: Sequence[Pair], cosines: NDArray[np.float32]
    ) -> Links:
        """Return the links between equivalent statements among `pairs`."""
        links: Links = defaultdict(dict)
        candidates = [p for p in pairs if _may_be_equivalent(statements[p[0]], statements[p[1]])]
        candidates = candidates[:MAX_PAIRS]
        if not candidates:
            return links
        coverage = self._measure_both_directions(
            statements, candidates, self.models.coverage_probabilities
        )
        scores = coverage.mean(axis=0) + np.array([cosines[pair] for pair in candidates])
        rows = np.flatnonzero(
            (scores >= MIN_SCORE) & (coverage.min(axis=0) >= MIN_COVERAGE)
        ).tolist()
        equivalent_pairs = [candidates[row] for row in rows]
        contradictions = self._measure_both_directions(
            statements, equivalent_pairs, lambda texts: self.models.support(texts)[:, 2]
        )
        for row, (i, j), contradiction in zip(
            rows, equivalent_pairs, contradictions.max(axis=0), strict=True
        ):
            if contradiction < MAX_CONTRADICTION:
                links[i][j] = links[j][i] = float(scores[row])
        return links

    def _measure_both_directions(
        self,
        statements: Sequence[Statement],
        pairs: Sequence[Pair],
        measure: Callable[[Sequence[tuple[str, str]]], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Return the values of `measure` for each pair and for its reverse, shape (2, n)."""
        forward = [(statements[i].text, statements[j].text) for i, j in pairs]
        return measure([*forward, *((second, first) for first, second in forward)]).reshape(2, -1)


def _pairs(cosines: NDArray[np.float32]) -> list[Pair]:
    """Return the pairs with a cosine of at least `MIN_COSINE`, the nearest first."""
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :NEAREST]
    pairs = {
        (min(i, j), max(i, j))
        for i, row in enumerate(nearest.tolist())
        for j in row
        if cosines[i, j] >= MIN_COSINE
    }
    return sorted(pairs, key=lambda pair: (-cosines[pair], pair))


def _may_be_equivalent(first: Statement, second: Statement) -> bool:
    """Return whether the words agree and neither statement is a copy of the other."""
    shorter = min(len(first.stems), len(second.stems))
    return (
        len(first.stems & second.stems) >= MIN_COMMON_STEMS * shorter
        and denies(first.text) == denies(second.text)
        and _particulars_agree(first, second)
        and not _is_copy(first, second)
    )


def _particulars_agree(first: Statement, second: Statement) -> bool:
    """Return whether both share a name or number, and one's numbers include the other's."""
    first_numbers, second_numbers = numbers_in(first.text), numbers_in(second.text)
    if (
        first_numbers
        and second_numbers
        and not (first_numbers <= second_numbers or second_numbers <= first_numbers)
    ):
        return False
    return (
        bool(first_numbers & second_numbers)
        or not first.names.isdisjoint(second.stems)
        or (not second.names.isdisjoint(first.stems))
    )


def has_copies(articles: Sequence[Article]) -> bool:
    """Return whether a statement is a copy of a statement of another article."""
    statements = statements_of(articles)
    return any(
        first.aid != second.aid and _is_copy(first, second)
        for first, second in combinations(statements, 2)
    )


def _is_copy(a: Statement, b: Statement) -> bool:
    first, second = set(words(a.text)), set(words(b.text))
    return len(first & second) >= COPY_SHARE * min(len(first), len(second))


def _stars(statements: Sequence[Statement], links: Links) -> list[tuple[int, ...]]:
    """Return groups of pairwise linked statements, at most one per article; the largest first."""
    free_links, groups = dict(links), []
    while free_links:
        stars = {centre: _star(centre, statements, free_links) for centre in free_links}
        best = max(stars.values(), key=lambda star: (len(star), -star[0]))
        if len(best) < 2:
            break
        groups.append(best)
        free_links = {
            index: {neighbour: p for neighbour, p in neighbours.items() if neighbour not in best}
            for index, neighbours in free_links.items()
            if index not in best
        }
    return groups


def _star(centre: int, statements: Sequence[Statement], links: Links) -> tuple[int, ...]:
    members = [centre]
    for index, _ in sorted(links[centre].items(), key=lambda link: (-link[1], link[0])):
        other_articles = statements[index].aid not in {statements[m].aid for m in members}
        if other_articles and all(index in links.get(m, {}) for m in members):
            members.append(index)
    return tuple(members)


def _drop_duplicates(
    stars: Sequence[tuple[int, ...]], cosines: NDArray[np.float32]
) -> list[tuple[int, ...]]:
    """Return the stars that are not similar to an earlier star."""
    distinct_stars: list[tuple[int, ...]] = []
    for star in stars:
        if all(
            cosines[np.ix_(star, earlier_star)].max() < DUPLICATE_COSINE
            for earlier_star in distinct_stars
        ):
            distinct_stars.append(star)
    return distinct_stars
