"""Readers of the JSON and JSONL files that commands write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_json(path: str | Path) -> Any:
    """Return the value in a JSON file."""
    return json.loads(Path(path).read_bytes())


def read_rows(path: str | Path) -> list[Any]:
    """Return the values in a JSONL file."""
    return [json.loads(line) for line in Path(path).read_bytes().splitlines()]


def read_judgements() -> list[dict[str, Any]]:
    """Return the rows of the judgements that `cli_tools.judging` writes."""
    return read_rows("judgements.jsonl")
