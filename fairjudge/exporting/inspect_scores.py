"""Scores for Inspect's ``precomputed_scores(scores=..., on_missing="unscored")``: one a sample.

Source: UKGovernmentBEIS/inspect_ai, ``src/inspect_ai/scorer/_precomputed.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fairjudge.datasets.writers import json_line
from fairjudge.domain import Judgement
from fairjudge.errors import InputError
from fairjudge.exporting.targets import ExportResult, Request

_ONE = ("system", "aspect", "judge", "unit")
"""Of each of these Inspect's file has room for one value, as its samples are answered once."""


def write(request: Request) -> tuple[Iterator[bytes], ExportResult]:
    """Return one object a scored judgement. Those without a score are left out: Inspect asks so.

    Refused are judgements of pairs; of several systems, aspects, judges or units; and two of one
    sample that no ``repeat`` tells apart.
    """
    rows = request.judgements
    _check(rows)
    scored = [row for row in rows if row.unscored is None]
    exported = ExportResult(n_rows=len(scored), n_left_out=len(rows) - len(scored))
    return map(json_line, map(_record, scored)), exported


def _check(rows: Sequence[Judgement]) -> None:
    if any(row.system is None for row in rows):
        raise InputError("Inspect scores one answer a sample; these are judgements of pairs")
    for name in _ONE:
        values = sorted({str(getattr(row, name)) for row in rows})
        if len(values) > 1:
            listed = ", ".join(map(repr, values[:5])) + (", ..." if len(values) > 5 else "")
            raise InputError(f"Inspect's scores are of one {name}, here are {listed}; choose one")
    keys: set[tuple[str, int]] = set()
    for row in rows:
        key = (row.eid, row.repeat or 0)
        if key in keys:
            raise InputError(f"two judgements of {row.eid!r}, repeat {row.repeat or 0}")
        keys.add(key)


def _record(judgement: Judgement) -> dict[str, Any]:
    metadata = {name: getattr(judgement, name) for name in (*_ONE, "protocol", "signature")}
    return {
        "id": judgement.eid,
        "value": judgement.value,
        **({} if judgement.repeat is None else {"epoch": judgement.repeat + 1}),
        **({} if judgement.raw is None else {"explanation": judgement.raw}),
        "metadata": metadata,
    }
