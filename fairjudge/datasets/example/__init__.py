"""The bundled example: two invented news events, with references, summaries and labels."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

ExampleFile: TypeAlias = Literal[
    "clusters.json", "references.json", "summaries.jsonl", "labels.jsonl", "README.md"
]


def example_path(name: ExampleFile) -> Path:
    """Return the path of a file of the bundled example.

    Its README describes how each file was made.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.example_path("clusters.json").name
    'clusters.json'
    """
    return Path(__file__).with_name(name)
