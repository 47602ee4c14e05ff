"""The system that a file is named after."""

from __future__ import annotations

from pathlib import Path

DOCUMENTS, TARGETS = ("src", "source"), ("tgt", "target")
OUTPUTS = ("hypo", "hyp", "out", "pred", "decoded", "txt")
"""Ends of names of files of lines."""
TABLES = ("json", "jsonl", "ndjson", "csv", "tsv", "parquet")
_SUFFIXES = frozenset((*DOCUMENTS, *TARGETS, *OUTPUTS, *TABLES, "gz", "md", "text", "cleaned"))


def system_of(path: Path) -> str:
    """Return a file's name without known extensions: ``gpt-3.5.jsonl.gz`` is of ``gpt-3.5``."""
    name = path.name
    while "." in name.strip("."):
        base, _, suffix = name.rpartition(".")
        if suffix.lower() not in _SUFFIXES:
            break
        name = base
    return name
