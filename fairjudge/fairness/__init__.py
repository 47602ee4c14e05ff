"""Fairness of summaries over social attributes of their sources."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairjudge.api.fairness import coverage as coverage
    from fairjudge.api.fairness import proportionality as proportionality
    from fairjudge.api.fairness_checks import chunk_size as chunk_size
    from fairjudge.api.fairness_checks import oracle as oracle
    from fairjudge.api.fairness_comparing import agreement as agreement
    from fairjudge.api.fairness_comparing import compare as compare
    from fairjudge.api.fairness_comparing import overall as overall
    from fairjudge.api.fairness_people import people as people
    from fairjudge.api.fairness_people import temperature as temperature

_NAMES = {
    "fairness": ("coverage", "proportionality"),
    "fairness_checks": ("chunk_size", "oracle"),
    "fairness_comparing": ("agreement", "compare", "overall"),
    "fairness_people": ("people", "temperature"),
}
"""Imported on access: they read files and load models, which importing this package must not."""
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
__all__ = [*_HOMES]  # noqa: PLE0604  # keys, which are strings

if not TYPE_CHECKING:  # a type checker would accept any attribute

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            return getattr(_import_module(f"fairjudge.api.{_HOMES[name]}"), name)
        raise AttributeError(f"module 'fairjudge.fairness' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
