"""Signatures: the settings behind a number in one line, as in sacreBLEU."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fairjudge import __version__


def signature(parts: Mapping[str, str | float | None]) -> str:
    """Return ``key:value|...|version:X`` in the order of `parts`; values of None are omitted.

    `parts` should contain everything that can change the number: judge, model, prompt hash, parser,
    scale, scorer, seed. Separators inside a value are replaced, so that a signature can be split.
    """
    fields = [f"{key}:{_plain(str(value))}" for key, value in parts.items() if value is not None]
    return "|".join([*fields, f"version:{__version__}"])


def _plain(value: str) -> str:
    return re.sub(r"[|\s]+", "_", value)
