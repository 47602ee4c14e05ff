"""Fairness of summaries over social attributes of their sources."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any

_PUBLIC = {
    "agreement": "fairness_comparing",
    "people": "fairness_people",
    "temperature": "fairness_people",
    "chunk_size": "fairness_checks",
    "compare": "fairness_comparing",
    "coverage": "fairness",
    "oracle": "fairness_checks",
    "overall": "fairness_comparing",
    "proportionality": "fairness",
}
"""Offered here by name; they read files and load models, which this package itself must not."""


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(_import_module(f"fairjudge.api.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'fairjudge.fairness' has no attribute {name!r}")
