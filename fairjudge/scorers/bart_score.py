"""BARTScore: likelihood of a summary under a sequence-to-sequence model (Yuan et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairjudge.scorers._pretrained import PretrainedModel, batches, load_pretrained, windows

DEFAULT_MODEL = "facebook/bart-large-cnn"
_IGNORE_INDEX = -100
_OVERLAP = 64


def load_bart_score(model: str | None = None) -> BartScore:
    """Load a sequence-to-sequence model by hub id or folder; for errors see `load_pretrained`."""
    return BartScore(
        load_pretrained(
            model or DEFAULT_MODEL, auto_class="AutoModelForSeq2SeqLM", method="bart_score-v1"
        )
    )


class BartScore:
    """Mean log-likelihood (nats) of the summary's tokens given the source.

    A source longer than the model's window is split into overlapping windows, of which the one with
    the largest likelihood is used; a longer summary is scored in pieces, averaged over tokens.
    Nothing is dropped. A pair's score does not depend on other pairs (up to rounding, below 1e-3).
    """

    def __init__(self, pretrained: PretrainedModel) -> None:
        self._pretrained = pretrained
        self.fingerprint = pretrained.fingerprint

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n,): the score of each (source, summary), at most 0.

        Raises `InputError` for a text without a token in the model's vocabulary.
        """
        distinct = {pair: index for index, pair in enumerate(dict.fromkeys(pairs))}
        rows: list[tuple[list[int], list[int]]] = []
        owners: list[tuple[int, int]] = []
        texts = {text: self._pretrained.tokens(text) for pair in distinct for text in pair}
        max_tokens = self._pretrained.max_text_tokens
        prefix, suffix = self._pretrained.special_tokens
        for (source, summary), number in distinct.items():
            for piece, target in enumerate(windows(texts[summary], max_tokens, overlap=0)):
                for window in windows(
                    texts[source], max_tokens, overlap=min(_OVERLAP, max_tokens // 8)
                ):
                    rows.append(([*prefix, *window, *suffix], [*prefix, *target, *suffix]))
                    owners.append((number, piece))
        likelihoods = self._log_likelihoods(rows)
        best: dict[tuple[int, int], tuple[float, int]] = {}
        for owner, (_, target), value in zip(owners, rows, likelihoods, strict=True):
            if owner not in best or value > best[owner][0]:
                best[owner] = (value, len(target))
        sums = np.zeros((len(distinct), 2))
        for (number, _), (value, n_tokens) in best.items():
            sums[number] += value * n_tokens, n_tokens
        scores: NDArray[np.float64] = sums[:, 0] / np.maximum(1.0, sums[:, 1])
        return scores[[distinct[pair] for pair in pairs]]

    def _log_likelihoods(self, rows: list[tuple[list[int], list[int]]]) -> list[float]:
        """Return the mean log-likelihood of each row's target tokens."""
        import torch

        likelihoods = [0.0] * len(rows)
        for batch in batches([len(source) + len(target) for source, target in rows]):
            ids, mask = self._pretrained.pad([rows[i][0] for i in batch])
            labels, target_mask = self._pretrained.pad([rows[i][1] for i in batch])
            labels = labels.masked_fill(target_mask == 0, _IGNORE_INDEX)
            with torch.inference_mode():
                output = self._pretrained.model(input_ids=ids, attention_mask=mask, labels=labels)
                logits = output.logits.float()
                losses = torch.nn.functional.cross_entropy(
                    logits.transpose(1, 2), labels, ignore_index=_IGNORE_INDEX, reduction="none"
                )
                means = (losses.sum(dim=1) / target_mask.sum(dim=1)).cpu().numpy()
            for i, mean in zip(batch, means, strict=True):
                likelihoods[i] = -float(mean)
        return likelihoods
