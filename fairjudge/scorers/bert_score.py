"""BERTScore precision of a summary given a source (Zhang et al. 2020), with any encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairjudge.scorers._pretrained import PretrainedModel, batches, load_pretrained, windows

DEFAULT_MODEL = "roberta-large"
_LAYERS: Mapping[str, int] = {
    "roberta-large": 17,
    "roberta-base": 10,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "distilbert-base-uncased": 5,
    "microsoft/deberta-xlarge-mnli": 40,
    "microsoft/deberta-large-mnli": 18,
}
"""The layers selected by BERTScore's authors; other models use their last layer."""
_BASELINES: Mapping[tuple[str, int], float] = {("roberta-large", 17): 0.83150584}
"""Precision of random English sentence pairs, from BERTScore's authors; rescaling maps it to 0."""
_Matrix: TypeAlias = NDArray[np.float32]


def load_bert_score(model: str | None = None) -> BertScore:
    """Load an encoder by hub id or folder; for errors see `load_pretrained`."""
    name = model or DEFAULT_MODEL
    pretrained = load_pretrained(name, auto_class="AutoModel", method="bert_score-v1")
    n_layers = int(pretrained.model.config.num_hidden_layers)
    layer = min(_LAYERS.get(name, n_layers), n_layers)
    baseline = 0.0 if Path(name).is_dir() else _BASELINES.get((name, layer), 0.0)
    return BertScore(pretrained, layer=layer, baseline=baseline)


class BertScore:
    """Mean over summary tokens of the largest cosine with any source token.

    A text longer than the model's window is encoded in windows. All tokens are used except special
    tokens. The score is rescaled to ``(x - baseline) / (1 - baseline)``. A pair's score does not
    depend on other pairs (up to rounding, below 1e-3). Vectors are from the hidden layer ``layer``;
    0 are the embeddings.
    """

    def __init__(self, pretrained: PretrainedModel, *, layer: int, baseline: float = 0.0) -> None:
        self._pretrained = pretrained
        self._layer = layer
        self._baseline = baseline
        self.fingerprint = f"{pretrained.fingerprint}+layer{layer}+baseline{baseline:g}"

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n,): the precision of each (source, summary), at most 1.

        Raises `InputError` for a text without a token in the model's vocabulary.
        """
        vectors = self._vectors(list(dict.fromkeys(text for pair in pairs for text in pair)))
        raw = [
            float((vectors[summary] @ vectors[source].T).max(axis=1).mean(dtype=np.float64))
            for source, summary in pairs
        ]
        return (np.array(raw, dtype=np.float64) - self._baseline) / (1.0 - self._baseline)

    def _vectors(self, texts: list[str]) -> dict[str, _Matrix]:
        """Return the unit vectors of each text's tokens, shape (n_tokens, d)."""
        pieces: list[list[int]] = []
        owners: list[str] = []
        for text in texts:
            for window in windows(
                self._pretrained.tokens(text), self._pretrained.max_text_tokens, overlap=0
            ):
                pieces.append(window)
                owners.append(text)
        piece_vectors = self._encode(pieces)
        matrices: dict[str, list[_Matrix]] = {}
        for owner, rows in zip(owners, piece_vectors, strict=True):
            matrices.setdefault(owner, []).append(rows)
        return {text: np.concatenate(rows) for text, rows in matrices.items()}

    def _encode(self, pieces: list[list[int]]) -> list[_Matrix]:
        """Return each piece's token vectors, without special tokens."""
        import torch

        prefix, suffix = self._pretrained.special_tokens
        rows = [[*prefix, *piece, *suffix] for piece in pieces]
        results: list[_Matrix] = [np.zeros((0, 0), dtype=np.float32)] * len(rows)
        for batch in batches([len(row) for row in rows]):
            ids, mask = self._pretrained.pad([rows[i] for i in batch])
            with torch.inference_mode():
                output = self._pretrained.model(
                    input_ids=ids, attention_mask=mask, output_hidden_states=True
                )
                hidden = output.hidden_states[self._layer].float()
                unit_vectors = torch.nn.functional.normalize(hidden, dim=-1).cpu().numpy()
            for i, vectors in zip(batch, unit_vectors, strict=True):
                results[i] = vectors[len(prefix) : len(prefix) + len(pieces[i])]
        return results
