"""The larger network: all-mpnet-base-v2 with low-rank updates of its layers, and the same heads.

Imports torch and transformers: import it inside functions only. The package contains the updates
(LoRA, arXiv 2106.09685), biases, norms and heads; the weights that they update are from the
published packages. Word embeddings are in the order of all-MiniLM-L6-v2's vocabulary, which differs
only in its special tokens, so that both networks share one tokenizer.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from transformers import MPNetConfig, MPNetModel

from fairjudge.scorers._trained_network import N_TYPES, Heads

RANK = 64
"""Rank of the update of each matrix."""
_SPECIAL_TOKENS = {0: 1, 100: 3, 101: 0, 102: 2}
"""Map from ids of [PAD], [UNK], [CLS] and [SEP] in BERT's vocabulary to ids in MPNet's."""
_OFFSET = 4
"""Difference of the ids of all other tokens: MPNet's minus BERT's."""
_CONFIG = {
    "vocab_size": 30527,
    "max_position_embeddings": 514,
    "relative_attention_num_buckets": 32,
    "layer_norm_eps": 1e-5,
}


class _LowRankUpdate(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """The update ``W + up @ down`` of rank `rank`; initially 0."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        self.down = nn.Parameter(torch.empty(rank, weight.shape[1]))
        self.up = nn.Parameter(torch.zeros(weight.shape[0], rank))
        nn.init.normal_(self.down, std=weight.shape[1] ** -0.5)

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.up @ self.down


class LargeNetwork(Heads):
    """MPNet as an encoder of pairs, with the heads of `TrainedNetwork`.

    `config` changes the sizes, for tests; the default sizes are those of all-mpnet-base-v2.
    """

    def __init__(self, config: Any = None, *, rank: int = RANK) -> None:
        config = config or MPNetConfig(**_CONFIG)
        super().__init__(config.hidden_size)
        self.encoder = MPNetModel(config, add_pooling_layer=False)
        self.types = nn.Embedding(N_TYPES, config.hidden_size)
        nn.init.zeros_(self.types.weight)
        for module in list(self.encoder.encoder.layer.modules()):
            if isinstance(module, nn.Linear):
                update = _LowRankUpdate(module.weight, rank)
                parametrize.register_parametrization(module, "weight", update)

    @property
    def word_embeddings(self) -> Tensor:
        """Vectors of the vocabulary, shape (vocabulary, width)."""
        weights: Tensor = self.encoder.embeddings.word_embeddings.weight
        return weights

    def load_published_weights(self, state: dict[str, Tensor]) -> None:
        """Load the published weights, by their names in transformers."""
        shapes = dict(self.encoder.state_dict())
        weights = {}
        for name, tensor in state.items():
            original = f"{name.removesuffix('weight')}parametrizations.weight.original"
            weights[original if original in shapes else name] = tensor
        name = "embeddings.word_embeddings.weight"
        weights[name] = in_bert_order(state[name], shapes[name].shape[0])
        missing_names, _ = self.encoder.load_state_dict(weights, strict=False)
        missing_weights = [
            name for name in missing_names if not name.endswith((".0.up", ".0.down"))
        ]
        if missing_weights:
            raise ValueError(f"the published weights lack {', '.join(sorted(missing_weights)[:3])}")

    def merge(self) -> None:
        """Merge the trained updates into the matrices."""
        for module in list(self.encoder.encoder.layer.modules()):
            if parametrize.is_parametrized(module, "weight"):
                parametrize.remove_parametrizations(module, "weight")

    def encode(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return token vectors (n, length, width) and pooled vectors (n, 2 width).

        `types` is 2 * task + segment, `mask` is 1 at tokens and 0 at padding.
        """
        inputs = self.encoder.embeddings.word_embeddings(ids) + self.types(types)
        hidden = self.encoder(inputs_embeds=inputs, attention_mask=mask).last_hidden_state
        return hidden, self.pool(hidden, mask)


def in_bert_order(words: Tensor, size: int) -> Tensor:
    """Return `size` rows of MPNet's word embeddings in the order of BERT's vocabulary.

    Rows beyond BERT's vocabulary do not change.
    """
    rows = words[:size].clone()
    n = min(size, words.shape[0] - _OFFSET)
    rows[:n] = words[_OFFSET : _OFFSET + n]
    for bert, mpnet in _SPECIAL_TOKENS.items():
        if bert < size:
            rows[bert] = words[mpnet]
    return rows


def is_released(name: str) -> bool:
    """Return whether a weight is trained and released, rather than from the published model."""
    is_published = name.endswith("weight.original") or "word_embeddings" in name
    return not (is_published or "position_embeddings" in name)
