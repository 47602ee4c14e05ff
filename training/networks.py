"""The published encoders from which training starts, and their trainable weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from safetensors.torch import load
from torch import Tensor, nn

from fairjudge.scorers import large_package
from fairjudge.scorers._large_network import LargeNetwork, is_released
from fairjudge.scorers._trained_network import FROZEN, LAYERS, Heads, TrainedNetwork
from fairjudge.scorers.embedding import PACKAGE_SHA256, check_sha256, packaged_model_folder

SMALL, LARGE = "all-MiniLM-L6-v2", large_package.BASE


@dataclass(frozen=True, slots=True)
class Base:
    """A published encoder: a reader of its weights file, SHA-256, and the initial network."""

    read: Callable[[], bytes]
    sha256: str
    begin: Callable[[dict[str, Tensor]], Heads]


def new_network(base: str, *, seed: int) -> Heads:
    """Return the network at step 0: the published encoder, and heads initialised with `seed`."""
    content = BASES[base].read()
    torch.manual_seed(seed)
    return BASES[base].begin(load(content))


def trainable(network: nn.Module) -> dict[str, Tensor]:
    """Return the trainable weights by name, and disable the gradients of the others."""
    for name, value in network.named_parameters():
        value.requires_grad_(is_trained(name))
    return {name: value for name, value in network.named_parameters() if value.requires_grad}


def is_trained(name: str) -> bool:
    """Return whether a weight is trained and released."""
    return name != FROZEN and is_released(name)


def _packaged_model() -> bytes:
    path = packaged_model_folder() / "model.safetensors"
    check_sha256(path, PACKAGE_SHA256)
    return path.read_bytes()


def _small(state: dict[str, Tensor]) -> TrainedNetwork:
    network = TrainedNetwork()
    network.load_state_dict(_from_bert(state), strict=False)
    return network


def _large(state: dict[str, Tensor]) -> LargeNetwork:
    network = LargeNetwork()
    network.load_published_weights(state)
    return network


def _from_bert(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return this network's weights without heads, from those of a BERT in transformers."""
    weights = {
        "embeddings.words.weight": state["embeddings.word_embeddings.weight"],
        "embeddings.positions.weight": state["embeddings.position_embeddings.weight"],
        "embeddings.types.weight": state["embeddings.token_type_embeddings.weight"][[0] * 6],
    }
    names = {
        "attended": "attention.output.dense",
        "attended_norm": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "outer_norm": "output.LayerNorm",
    }
    for part in ("weight", "bias"):
        weights[f"embeddings.norm.{part}"] = state[f"embeddings.LayerNorm.{part}"]
        for number in range(LAYERS):
            old = f"encoder.layer.{number}"
            weights[f"layers.{number}.attention.{part}"] = torch.cat(
                [state[f"{old}.attention.self.{kind}.{part}"] for kind in ("query", "key", "value")]
            )
            for new, name in names.items():
                weights[f"layers.{number}.{new}.{part}"] = state[f"{old}.{name}.{part}"]
    return weights


BASES = {
    SMALL: Base(_packaged_model, PACKAGE_SHA256, _small),
    LARGE: Base(large_package.published_weights, large_package.SHA256, _large),
}
