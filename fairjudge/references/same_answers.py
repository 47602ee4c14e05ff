"""Whether short answers to one question are the same, by a trained model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from fairjudge.protocols import TrainedModels
from fairjudge.references.consolidation import Matrix

SAME = 0.5
"""P(same) below which two answers differ; it is calibrated."""


def p_same(question: str, answers: Sequence[str], *, models: TrainedModels) -> Matrix:
    """Return P(same) of each two of n answers, shape (n, n), symmetric; 1 for equal wording.

    Each two wordings are compared once.
    """
    plain = [" ".join(answer.casefold().split()) for answer in answers]
    wordings = dict(zip(plain, answers, strict=True))
    row = {key: number for number, key in enumerate(wordings)}
    pairs = list(combinations(wordings.values(), 2))
    scores = np.eye(len(wordings))
    if pairs:
        places = np.array(list(combinations(range(len(wordings)), 2))).T
        found = models.same_answer([(question, a, b) for a, b in pairs])
        scores[places[0], places[1]] = scores[places[1], places[0]] = found
    order = [row[key] for key in plain]
    matrix: Matrix = scores[np.ix_(order, order)]
    return matrix
