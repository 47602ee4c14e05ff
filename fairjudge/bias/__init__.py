"""Demographic bias in summaries and in judges' inputs."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairjudge.api.bias import annotate, distinguishability, entities, inputs, quality, words

# Imported on access: they read files and load models, which importing this package must not.
__all__ = ["annotate", "distinguishability", "entities", "inputs", "quality", "words"]

if not TYPE_CHECKING:  # a type checker would accept any attribute

    def __getattr__(name: str) -> Any:
        if name in __all__:
            return getattr(_import_module("fairjudge.api.bias"), name)
        raise AttributeError(f"module 'fairjudge.bias' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
