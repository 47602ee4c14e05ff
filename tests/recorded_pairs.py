"""GPT-3.5's recorded pairwise replies on SummEval, as rows of judgements."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any


def recorded_pairs(path: Path) -> list[dict[str, Any]]:
    """Return one row per reply; its first letter is the side in the order shown."""
    rows = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            reply = json.loads(line)
            letter = re.match(r"\s*\(?([ABC])\b", reply["response"])
            assert letter is not None
            sides = ("b", "a", "tie") if reply["swapped"] else ("a", "b", "tie")
            row = {name: reply[name] for name in ("eid", "system_a", "system_b", "aspect", "judge")}
            row |= {"protocol": "pairwise", "order": "ba" if reply["swapped"] else "ab"}
            rows.append(row | {"value": sides["ABC".index(letter[1])]})
    return rows
