"""One row a judgement, one column a field: CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from fairjudge.domain import Judgement, replace_lone_surrogates
from fairjudge.errors import needs_extra
from fairjudge.exporting.targets import ExportResult, Request

COLUMNS: Mapping[str, str] = {
    "eid": "string",
    "system": "string",
    "system_a": "string",
    "system_b": "string",
    "order": "string",
    "aspect": "string",
    "protocol": "string",
    "unit": "string",
    "judge": "string",
    "repeat": "int64",
    "variant": "string",
    "value": "float64",
    "verdict": "string",
    "unscored": "string",
    "detail": "string",
    "scored_by": "string",
    "probabilities": "string",
    "raw": "string",
    "signature": "string",
}
"""Column to its type. ``value`` is a number, ``verdict`` a, b or tie; one is empty, or both where
there is no score. ``probabilities`` is JSON."""


def row(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement's cells; None for missing values."""
    verdict = judgement.value if isinstance(judgement.value, str) else None
    cells = {name: getattr(judgement, name) for name in COLUMNS if hasattr(judgement, name)}
    detail = (judgement.model_extra or {}).get("detail")
    return cells | {
        "value": None if verdict is not None or judgement.value is None else float(judgement.value),
        "verdict": verdict,
        "detail": detail if isinstance(detail, str) and detail else None,
        "probabilities": (
            None if judgement.probabilities is None else json.dumps(dict(judgement.probabilities))
        ),
    }


def write_csv(request: Request) -> tuple[Iterator[bytes], ExportResult]:
    """Return CSV with a header. Missing values are empty cells."""
    rows = ([cells[name] for name in COLUMNS] for cells in map(row, request.judgements))
    lines = map(_line, chain([list(COLUMNS)], rows))
    return lines, ExportResult(n_rows=len(request.judgements))


def _line(cells: list[Any]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(map(replace_lone_surrogates, cells))
    return text.getvalue().encode()


def write_parquet(request: Request) -> tuple[list[bytes], ExportResult]:
    """Return a Parquet file with typed columns; it takes pyarrow."""
    with needs_extra("data export --to parquet", extra="parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    rows = [row(judgement) for judgement in request.judgements]
    columns = {
        name: pa.array([replace_lone_surrogates(cells[name]) for cells in rows], type=kind)
        for name, kind in COLUMNS.items()
    }
    packed = io.BytesIO()
    pq.write_table(pa.table(columns), packed)
    return [packed.getvalue()], ExportResult(n_rows=len(rows))
