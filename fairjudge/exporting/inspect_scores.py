"""Scores for Inspect's ``precomputed_scores(scores=..., on_missing="unscored")``, one per sample.

Source: UKGovernmentBEIS/inspect_ai, ``src/inspect_ai/scorer/_precomputed.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fairjudge.datasets.writers import json_line
from fairjudge.domain import Judgement
from fairjudge.errors import InputError
from fairjudge.exporting.targets import ExportResult, Request

_SINGLE_VALUED = ("system", "aspect", "judge", "unit")
"""Fields that must have the same value in all rows: Inspect has one answer per sample."""


def write(request: Request) -> tuple[Iterator[bytes], ExportResult]:
    """Return one JSON object per scored judgement; Inspect requires unscored ones to be omitted.

    Raises `InputError` for judgements of pairs, for several systems, aspects, judges or units, and
    for two judgements of one sample with the same ``repeat``.
    """
    rows = request.judgements
    _check(rows)
    scored_rows = [row for row in rows if row.unscored is None]
    result = ExportResult(n_rows=len(scored_rows), n_left_out=len(rows) - len(scored_rows))
    return map(json_line, map(_record, scored_rows)), result


def _check(rows: Sequence[Judgement]) -> None:
    if any(row.system is None for row in rows):
        raise InputError("Inspect scores one answer per sample; these are judgements of pairs")
    for name in _SINGLE_VALUED:
        values = sorted({str(getattr(row, name)) for row in rows})
        if len(values) > 1:
            names = ", ".join(map(repr, values[:5])) + (", ..." if len(values) > 5 else "")
            raise InputError(f"Inspect's scores are for one {name}; choose one of {names}")
    keys: set[tuple[str, int]] = set()
    for row in rows:
        key = (row.eid, row.repeat or 0)
        if key in keys:
            raise InputError(f"two judgements of {row.eid!r}, repeat {row.repeat or 0}")
        keys.add(key)


def _record(judgement: Judgement) -> dict[str, Any]:
    metadata = {
        name: getattr(judgement, name) for name in (*_SINGLE_VALUED, "protocol", "signature")
    }
    return {
        "id": judgement.eid,
        "value": judgement.value,
        **({} if judgement.repeat is None else {"epoch": judgement.repeat + 1}),
        **({} if judgement.raw is None else {"explanation": judgement.raw}),
        "metadata": metadata,
    }
