"""Demographic bias in summaries and in judges' inputs."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any

_PUBLIC = ("annotate", "distinguishability", "entities", "inputs", "quality", "words")
"""Offered here by name; they read files and load models, which this package itself must not."""


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(_import_module("fairjudge.api.bias"), name)
    raise AttributeError(f"module 'fairjudge.bias' has no attribute {name!r}")
