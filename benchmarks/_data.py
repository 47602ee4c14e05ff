"""The data sets beside the project, and how their rows are read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CONVERSATIONS = DATA / "coverage" / "summhay_conversations.jsonl.gz"
RECORDED_JUDGES = DATA / "recorded_judges"


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the records of a JSONL file, compressed by gzip or not."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]
