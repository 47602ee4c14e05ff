"""The network of the trained models: MiniLM's layers, begun anew for pairs, and four heads.

Imports torch: import it inside functions only. Layers, names and sizes are those of
all-MiniLM-L6-v2 (BERT, 6 layers of width 384), whose word embeddings stay as they are and come
from its package; what differs is the types of tokens, of which each task has two of its own.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, LAYERS, ATTENTION_HEADS, INNER, POSITIONS = 384, 6, 12, 1536, 512
PAIR, READING, SAME = 0, 1, 2
"""The questions about a pair; support and coverage share one pass."""
N_TYPES = 6
"""Types of tokens: two of each task."""
FROZEN = "embeddings.words.weight"


class _Layer(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """One block of BERT: attention, then a feed-forward net, each added and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.Linear(WIDTH, 3 * WIDTH)
        self.attended = nn.Linear(WIDTH, WIDTH)
        self.attended_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.inner = nn.Linear(WIDTH, INNER)
        self.outer = nn.Linear(INNER, WIDTH)
        self.outer_norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        rows, length, _ = hidden.shape
        size = WIDTH // ATTENTION_HEADS
        parts = self.attention(hidden).view(rows, length, 3, ATTENTION_HEADS, size)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        attended = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=bias.to(query.dtype)
        )
        attended = attended.transpose(1, 2).reshape(rows, length, WIDTH)
        hidden = self.attended_norm(hidden + self.attended(attended))
        outer: Tensor = self.outer(functional.gelu(self.inner(hidden)))
        normed: Tensor = self.outer_norm(hidden + outer)
        return normed


class _Embeddings(nn.Module):  # type: ignore[misc]  # torch is untyped here
    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.types = nn.Embedding(N_TYPES, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, ids: Tensor, types: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        summed = self.words(ids) + self.positions(places) + self.types(types)
        normed: Tensor = self.norm(summed)
        return normed


class Heads(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """Four heads over an encoder of pairs whose token vectors have `width` elements."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.1)
        self.support = nn.Linear(2 * width, 3)
        self.coverage = nn.Linear(2 * width, 1)
        self.answered = nn.Linear(2 * width, 1)
        self.span = nn.Linear(width, 2)
        self.same = nn.Linear(2 * width, 1)

    def pool(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return the first token's vector and the mean over tokens, (n, 2 width)."""
        tokens = mask[:, :, None].to(hidden.dtype)
        mean = (hidden * tokens).sum(dim=1) / tokens.sum(dim=1)
        pooled: Tensor = self.dropout(torch.cat((hidden[:, 0], mean), dim=1))
        return pooled


class TrainedNetwork(Heads):
    """An encoder of pairs and four heads over it; `vocabulary` is the rows of word embeddings."""

    def __init__(self, vocabulary: int = 30522) -> None:
        super().__init__(WIDTH)
        self.embeddings = _Embeddings(vocabulary)
        self.layers = nn.ModuleList(_Layer() for _ in range(LAYERS))

    @property
    def word_embeddings(self) -> Tensor:
        """Vectors of the vocabulary, shape (vocabulary, width)."""
        weights: Tensor = self.embeddings.words.weight
        return weights

    def encode(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return token vectors (n, length, width) and pooled ones (n, 2 width).

        `types` is 2 * task + segment, `mask` is 1 at tokens and 0 at padding.
        """
        hidden = self.dropout(self.embeddings(ids, types))
        bias = (1.0 - mask[:, None, None, :].to(hidden.dtype)) * -1e4
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return hidden, self.pool(hidden, mask)


def quantised(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return weights in 8 bits with a float16 scale a row for matrices of layers, else float16."""
    small: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if name == FROZEN:
            continue
        if "layer" in name and tensor.ndim == 2:
            scale = (tensor.abs().amax(dim=1, keepdim=True) / 127).clamp(min=1e-6).half()
            small[name] = (tensor / scale.float()).round().clamp(-127, 127).to(torch.int8)
            small[f"{name}.scale"] = scale
        else:
            small[name] = tensor.half()
    return small


def restored(small: dict[str, Tensor]) -> dict[str, Any]:
    """Return float32 weights from what `quantised` gave."""
    return {
        name: tensor.float() * small[f"{name}.scale"].float()
        if tensor.dtype == torch.int8
        else tensor.float()
        for name, tensor in small.items()
        if not name.endswith(".scale")
    }
