"""The packaged support model as an entailment model: no other weights, and no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairjudge.scorers._pretrained import encodable
from fairjudge.scorers.entailment import first_rows
from fairjudge.scorers.trained_models import (
    FIRST_TOKENS,
    MAX_TOKENS,
    TrainedModels,
    load_trained_models,
)

_METHOD = "entailment-v1"
_SPECIAL = 3
_OVERLAP = 32


def load_trained_entailment() -> TrainedEntailment:
    """Load the packaged model; for errors see `load_trained_models`."""
    return TrainedEntailment(load_trained_models())


class TrainedEntailment:
    """An `fairjudge.ports.EntailmentModel` over the packaged models.

    If a pair is too long, its premise is split into overlapping windows, of which the one with the
    largest P(entail) is used. Hypotheses are truncated to 96 tokens.
    """

    def __init__(self, models: TrainedModels) -> None:
        self._models = models
        self.fingerprint = f"{models.identity}:{_METHOD}"

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return shape (n, 3): P(entail), P(neutral), P(contradict) for (premise, hypothesis)."""
        if not pairs:
            return np.zeros((0, 3), dtype=np.float32)
        distinct = {pair: index for index, pair in enumerate(dict.fromkeys(pairs))}
        texts = list(dict.fromkeys(text for pair in distinct for text in pair))
        spans = dict(zip(texts, self._models.token_spans(texts), strict=True))
        queries = [
            ((piece, hypothesis), index)
            for (premise, hypothesis), index in distinct.items()
            for piece in _pieces(premise, spans[premise], len(spans[hypothesis]))
        ]
        rows = self._models.support([pair for pair, _ in queries])
        best = first_rows(rows, [index for _, index in queries], by=-rows[:, 0])
        scores: NDArray[np.float32] = best.astype(np.float32)[[distinct[pair] for pair in pairs]]
        return scores


def _pieces(premise: str, spans: Sequence[tuple[int, int]], n_hypothesis: int) -> Iterator[str]:
    """Yield windows of the premise that leave room for a hypothesis of `n_hypothesis` tokens."""
    max_tokens = MAX_TOKENS - _SPECIAL - min(n_hypothesis, FIRST_TOKENS)
    if len(spans) <= max_tokens:
        yield premise
        return
    text = encodable(premise)
    for start in range(0, len(spans) - _OVERLAP, max_tokens - _OVERLAP):
        last = min(start + max_tokens, len(spans)) - 1
        yield text[spans[start][0] : spans[last][1]]
