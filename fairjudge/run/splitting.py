"""Split every summary of a file into units."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from fairjudge.datasets import Loaded, write_jsonl
from fairjudge.domain import Summary
from fairjudge.engine.coroutines import run_to_end
from fairjudge.engine.models import open_models
from fairjudge.engine.runs import check_writable
from fairjudge.judges.units import UnitSplit, split_units
from fairjudge.options.models import Model


def split_file(
    summaries: Loaded[Summary], output: Path, *, model: Model
) -> tuple[tuple[Summary, UnitSplit], ...]:
    """Split the summaries, and write ``{eid, system, units, split_by}`` per line to `output`."""
    loaded = summaries.records
    check_writable(output)

    async def split_all() -> list[UnitSplit]:
        async with open_models(model) as models:
            llm = models.llm
            return await asyncio.gather(
                *(
                    split_units(
                        summary.text,
                        backend=None if llm is None else llm.backend,
                        target=None if llm is None else llm.target,
                        **model.sampling,
                    )
                    for summary in loaded
                )
            )

    splits = run_to_end(split_all())
    rows: list[dict[str, Any]] = [
        {
            "eid": summary.eid,
            "system": summary.system,
            "units": list(split.units),
            "split_by": split.split_by,
            **({"why": split.why} if split.why else {}),
        }
        for summary, split in zip(loaded, splits, strict=True)
    ]
    write_jsonl(output, rows)
    return tuple(zip(loaded, splits, strict=True))
