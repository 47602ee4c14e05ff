"""The schema number of what commands write as JSON: added here, and checked here.

A higher number means that a reader of the lower one would go wrong: a field was renamed, removed
or means something else. A field more keeps the number. Files without a number are older than it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fairjudge.errors import InputError

SCHEMA: Final = 1
"""What this version writes; it reads this and all before."""
_KEY = "schema"


def with_schema(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return `report` as JSON that begins with its schema number."""
    return {_KEY: SCHEMA, **report}


def report_text(report: Mapping[str, Any], *, ascii_only: bool = False) -> str:
    """Return the text of a JSON file of `report`, with its schema number."""
    return json.dumps(with_schema(report), indent=1, ensure_ascii=ascii_only) + "\n"


def without_schema(report: Mapping[str, Any], path: Path | None = None) -> dict[str, Any]:
    """Return what was reported, if its schema is known; a file without a number is an older one.

    Raises
    ------
    InputError
        The number is newer than this version knows, or none at all.
    """
    found = report.get(_KEY, 0)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise InputError(f"expected a whole number, got {found!r}", path=path, field=_KEY)
    if found > SCHEMA:
        raise InputError(
            f"written by a newer FairJudge: its schema is {found}, and this version reads up to "
            f"{SCHEMA}; update fairjudge, or write the file again with this version",
            path=path,
        )
    return {key: value for key, value in report.items() if key != _KEY}
