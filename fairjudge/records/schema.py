"""The schema number of the commands' JSON output.

The number is increased if a field is renamed or removed, or changes its meaning, but not if a field
is added. Files without a number are older than schema 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fairjudge.errors import InputError

SCHEMA: Final = 1
"""The schema number of this version, which reads this and all lower ones."""
_KEY = "schema"


def with_schema(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return `report` with the schema number as its first key."""
    return {_KEY: SCHEMA, **report}


def report_text(report: Mapping[str, Any], *, ascii_only: bool = False) -> str:
    """Return `report` as the text of a JSON file, with the schema number."""
    return json.dumps(with_schema(report), indent=1, ensure_ascii=ascii_only) + "\n"


def without_schema(report: Mapping[str, Any], path: Path | None = None) -> dict[str, Any]:
    """Return `report` without its schema number, after checking it; a missing number counts as 0.

    Raises
    ------
    InputError
        If the number is higher than `SCHEMA`, or not a whole number.
    """
    number = report.get(_KEY, 0)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise InputError(f"expected a whole number, got {number!r}", path=path, field=_KEY)
    if number > SCHEMA:
        raise InputError(
            f"written by a newer FairJudge: its schema is {number}, and this version reads up to "
            f"{SCHEMA}; update fairjudge, or write the file again with this version",
            path=path,
        )
    return {key: value for key, value in report.items() if key != _KEY}
