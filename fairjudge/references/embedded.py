"""Group answers by sentence embeddings.

Every pair of answers to a question has a score, from which a partition is computed, as in Discord
Questions (Laban et al. 2022, section 3.3) but with sentence embeddings instead of a trained pair
model. Constants were chosen on the four development questions of NAnCo by ``benchmarks/nanco.py``,
which reports the results on the other questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.spatial.distance import squareform

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.ports import Embedder
from fairjudge.references.ports import AnswerSet, Consolidator, Grouping, Groups, sort_groups
from fairjudge.text.counting import pluralize
from fairjudge.text.particulars import numbers_in
from fairjudge.text.tokens import words

Matrix: TypeAlias = NDArray[np.float64]

THRESHOLD = 0.457
"""Minimum score of equivalent answers: the mean of the best thresholds of NAnCo's four development
questions."""

VIEW_WEIGHTS = (1.0, 0.75, 0.75)
"""Weights of the embeddings of the answer, of its sentence, and of question plus answer."""
NUMBER_PENALTY = 0.2
"""Subtracted from the similarity of two answers with numbers but without a common number."""
PRIOR_SIMILARITY = 0.31
"""Mean similarity of two answers to one question (development questions)."""
PRIOR_SPREAD = 0.23
"""Standard deviation of the similarities within one question (development questions)."""
PRIOR_PAIRS = 10
"""Weight of the prior mean and variance, in pairs of answers."""
MAX_MEAN_SIMILARITY = 0.45
"""Maximum of a question's mean similarity, so that agreeing answers are not separated."""


def equivalence(
    question: str,
    answers: Sequence[str],
    *,
    embedder: Embedder,
    contexts: Sequence[str | None] | None = None,
) -> Matrix:
    """Return scores of equal meaning for all pairs of n answers: shape (n, n), symmetric, n >= 0.

    The score is the pair's similarity in standard deviations above the mean of this question,
    because answers to a narrow question are all similar. The similarity is a weighted mean of three
    cosines, each without the component along the question's embedding: of the answers, of their
    sentences (see `sentence_around`; `contexts` has a text or None for each answer), and of
    question plus answer. Different numbers lower it, equal wording sets it to 1. It is averaged
    with the similarity at which average linkage joins the two, so that third answers contribute.
    Mean and deviation are shrunk to prior values (`PRIOR_SIMILARITY`), so that two or three answers
    can be compared.
    """
    n = len(answers)
    contexts = [None] * n if contexts is None else contexts
    if len(contexts) != n:
        raise ValueError(f"{pluralize(n, 'answer')} but {len(contexts)} contexts")
    if not answers:
        return np.zeros((0, 0))
    sentences = [sentence_around(a.strip(), c) for a, c in zip(answers, contexts, strict=True)]
    with_question = [f"{question} {answer}" for answer in answers]
    rows = embedder.embed([question, *answers, *sentences, *with_question]).astype(np.float64)
    residual = rows[1:] - np.outer(rows[1:] @ rows[0], rows[0])
    views = [_cosines(residual[start : start + n]) for start in (0, n, 2 * n)]
    mean = np.average(views, axis=0, weights=VIEW_WEIGHTS)
    plain = np.array([" ".join(words(answer)) or answer for answer in answers])
    similarity = mean - NUMBER_PENALTY * _contradicting_numbers(answers)
    similarity = np.where(plain[:, None] == plain[None, :], 1.0, similarity)
    return _standardise((similarity + _joining_similarity(similarity)) / 2)


def partition(scores: Matrix, *, threshold: float) -> Groups:
    """Group by average linkage; groups are merged while their mean score is >= `threshold`.

    `scores` has shape (n, n). The result is a partition of ``range(n)``: largest group first, ties
    by first member; members ascending.
    """
    if len(scores) < 2:
        return tuple((index,) for index in range(len(scores)))
    # Linkage requires nonnegative distances; the shift by the top score cancels out.
    top = max(float(scores.max()), threshold)
    tree = linkage(_condense(top - scores), method="average")
    labels = fcluster(tree, t=top - threshold + 1e-12, criterion="distance")
    return sort_groups([np.flatnonzero(labels == n).tolist() for n in np.unique(labels)])


def sentence_around(answer: str, context: str | None) -> str:
    """Return the sentences of `context` that contain `answer`.

    Returns the answer itself if there is no context or it does not contain the answer.
    """
    match = re.search(re.escape(answer), context or "", re.IGNORECASE) if answer else None
    if context is None or match is None:
        return answer
    start, end = match.span()
    breaks = [match.end() for match in _SENTENCE_BREAK.finditer(context)]
    first = max((position for position in breaks if position <= start), default=0)
    last = min((position for position in breaks if position >= end), default=len(context))
    return context[first:last].strip()


_SENTENCE_BREAK = re.compile(r"[.!?][\"'\u201d\u2019)]*\s+(?=[A-Z\"\u201c\u2018])|\n+")


def _cosines(rows: Matrix) -> Matrix:
    """Return the cosine of each two rows; a row of zeros is orthogonal to all."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 1e-9)
    product: Matrix = unit @ unit.T
    return (product + product.T) / 2


def _contradicting_numbers(answers: Sequence[str]) -> Matrix:
    numbers_by_answer = [numbers_in(answer) for answer in answers]
    return np.array(
        [
            [float(bool(a and b) and a.isdisjoint(b)) for b in numbers_by_answer]
            for a in numbers_by_answer
        ]
    )


def _joining_similarity(similarity: Matrix) -> Matrix:
    """Return the similarity at which average linkage joins each two answers (cophenetic)."""
    if len(similarity) < 2:
        return similarity
    tree = linkage(_condense(1.0 - similarity), method="average")
    heights: Matrix = squareform(cophenet(tree))
    return 1.0 - heights


def _standardise(similarity: Matrix) -> Matrix:
    """Return similarities in standard deviations above this question's mean, with shrinkage.

    Mean and variance are posterior means under a prior with the weight of `PRIOR_PAIRS` pairs.
    """
    similarities = similarity[np.triu_indices(len(similarity), 1)]
    weight = similarities.size + PRIOR_PAIRS
    mean = (similarities.sum() + PRIOR_PAIRS * PRIOR_SIMILARITY) / weight
    variance = (((similarities - mean) ** 2).sum() + PRIOR_PAIRS * PRIOR_SPREAD**2) / weight
    scores: Matrix = (similarity - min(mean, MAX_MEAN_SIMILARITY)) / np.sqrt(variance)
    return scores


def _condense(distances: Matrix) -> Matrix:
    """Return the upper triangle in scipy's condensed form, clipped at 0."""
    return np.maximum(distances[np.triu_indices(len(distances), 1)], 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConsolidator:
    """Groups answers by sentence embeddings; the context of an answer is its gloss or its article.

    `load` returns the embedding model; it is called only if there are answers to group.
    """

    load: Callable[[], Embedder]

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """See `fairjudge.references.ports.Consolidator`."""
        content = {article.aid: article.content for article in articles}
        scores = equivalence(
            question,
            [answer.answer for answer in answers],
            contexts=[answer.gloss or content[answer.aid] for answer in answers],
            embedder=self.load(),
        )
        return partition(scores, threshold=THRESHOLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlabelledGrouper:
    """A `Grouper` whose results have no labels and no invalid answers."""

    consolidator: Consolidator

    async def group(
        self,
        answer_sets: Sequence[AnswerSet],
        questions: Sequence[str],
        articles: Sequence[Article],
    ) -> tuple[Grouping | Unscored, ...]:
        """See `fairjudge.references.ports.Grouper`."""
        groupings = [
            await self.consolidator.group(questions[answer_set.index], answer_set.answers, articles)
            for answer_set in answer_sets
        ]
        return tuple(
            groups if isinstance(groups, Unscored) else Grouping(groups=groups)
            for groups in groupings
        )
