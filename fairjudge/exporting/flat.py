"""CSV and Parquet with one row per judgement and one column per field."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from fairjudge.domain import Judgement, replace_lone_surrogates
from fairjudge.errors import needs_extra
from fairjudge.exporting.targets import ExportResult, Request, csv_line, extra_text

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
"""Type of each column. ``value`` is a number; ``verdict`` is a, b or tie. One of the two is empty,
or both if there is no score. ``probabilities`` is JSON."""


def row(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement's cells; None for missing values."""
    cells = {name: getattr(judgement, name) for name in COLUMNS if hasattr(judgement, name)}
    value, probabilities = judgement.value, judgement.probabilities
    return cells | {
        "value": None if value is None or isinstance(value, str) else float(value),
        "verdict": value if isinstance(value, str) else None,
        "detail": extra_text(judgement, "detail"),
        "probabilities": None if probabilities is None else json.dumps(dict(probabilities)),
    }


def write_csv(request: Request) -> tuple[Iterator[bytes], ExportResult]:
    """Return CSV with a header. Missing values are empty cells."""
    rows = ([cells[name] for name in COLUMNS] for cells in map(row, request.judgements))
    lines = map(csv_line, chain([list(COLUMNS)], rows))
    return lines, ExportResult(n_rows=len(request.judgements))


def write_parquet(request: Request) -> tuple[list[bytes], ExportResult]:
    """Return a Parquet file with typed columns; requires pyarrow."""
    with needs_extra("data export --to parquet", extra="parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    rows = [row(judgement) for judgement in request.judgements]
    columns = {
        name: pa.array([replace_lone_surrogates(cells[name]) for cells in rows], type=kind)
        for name, kind in COLUMNS.items()
    }
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return [buffer.getvalue()], ExportResult(n_rows=len(rows))
