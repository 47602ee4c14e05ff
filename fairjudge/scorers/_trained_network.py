"""The network of the trained models: MiniLM's layers, retrained for pairs, and four heads.

Imports torch: import it inside functions only. Layers, names and sizes are those of
all-MiniLM-L6-v2 (BERT, 6 layers of width 384). Its word embeddings are unchanged and loaded from
its package; only the token types differ, since each task has two.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, LAYERS, ATTENTION_HEADS, INNER, POSITIONS = 384, 6, 12, 1536, 512
PAIR, READING, SAME = 0, 1, 2
"""The tasks on a pair; support and coverage share one pass."""
N_TYPES = 6
"""Number of token types: two per task."""
FROZEN = "embeddings.words.weight"


class _Layer(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """One block of BERT: attention, then a feed-forward net, with residuals and layer norms."""

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
        context = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=bias.to(query.dtype)
        )
        context = context.transpose(1, 2).reshape(rows, length, WIDTH)
        hidden = self.attended_norm(hidden + self.attended(context))
        outer: Tensor = self.outer(functional.gelu(self.inner(hidden)))
        output: Tensor = self.outer_norm(hidden + outer)
        return output


class _Embeddings(nn.Module):  # type: ignore[misc]  # torch is untyped here
    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.types = nn.Embedding(N_TYPES, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, ids: Tensor, types: Tensor) -> Tensor:
        positions = torch.arange(ids.shape[1], device=ids.device)
        total = self.words(ids) + self.positions(positions) + self.types(types)
        output: Tensor = self.norm(total)
        return output


class Heads(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """Four heads on an encoder of pairs with token vectors of `width` elements."""

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
        vectors: Tensor = self.dropout(torch.cat((hidden[:, 0], mean), dim=1))
        return vectors


class TrainedNetwork(Heads):
    """An encoder of pairs with four heads; `vocabulary` is the number of word embeddings."""

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
        """Return token vectors (n, length, width) and pooled vectors (n, 2 width).

        `types` is 2 * task + segment, `mask` is 1 at tokens and 0 at padding.
        """
        hidden = self.dropout(self.embeddings(ids, types))
        bias = (1.0 - mask[:, None, None, :].to(hidden.dtype)) * -1e4
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return hidden, self.pool(hidden, mask)


def quantise(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Quantise matrices of layers to 8 bits with a float16 scale per row, the rest to float16."""
    weights: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if name == FROZEN:
            continue
        if "layer" in name and tensor.ndim == 2:
            scale = (tensor.abs().amax(dim=1, keepdim=True) / 127).clamp(min=1e-6).half()
            weights[name] = (tensor / scale.float()).round().clamp(-127, 127).to(torch.int8)
            weights[f"{name}.scale"] = scale
        else:
            weights[name] = tensor.half()
    return weights


def dequantise(weights: dict[str, Tensor]) -> dict[str, Any]:
    """Return the float32 weights of a result of `quantise`."""
    return {
        name: tensor.float() * weights[f"{name}.scale"].float()
        if tensor.dtype == torch.int8
        else tensor.float()
        for name, tensor in weights.items()
        if not name.endswith(".scale")
    }
