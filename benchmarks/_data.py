"""The folders of the shared data sets, and a reader of their rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CONVERSATIONS = DATA / "coverage" / "summhay_conversations.jsonl.gz"
RECORDED_JUDGES = DATA / "recorded_judges"


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the records of a JSONL file, which may be gzip-compressed."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]
