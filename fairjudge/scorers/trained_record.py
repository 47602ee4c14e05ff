"""The record of the released weights: their training and accuracy.

Separate from the models, so that reports need not load them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from fairjudge.errors import ConfigurationError

FOLDER = Path(__file__).parent / "trained"
LARGE_FOLDER = Path(__file__).parent / "trained_large"
RECORD = "record.json"
LARGE = "local-large"
"""Name of the larger models, as a target and as a judge."""


def trained_folder(name: str) -> Path:
    """Return the folder of the models of the target or judge `name`."""
    return LARGE_FOLDER if name == LARGE else FOLDER


@cache
def trained_record(folder: Path = FOLDER) -> dict[str, Any]:
    """Return the record, read once; ``sha256`` is the digest of the weights."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return {**record, "sha256": str(record["sha256"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"cannot read the trained models' record: {error}") from error


def coverage_accuracy(folder: Path = FOLDER) -> float:
    """Return the balanced accuracy of coverage, on held-out documents of REALSumm."""
    results = trained_record(folder)["measured"]["coverage"]["realsumm"]
    return float(results["balanced accuracy"]["value"])


def faithfulness_aucs(folder: Path = FOLDER) -> tuple[float, float]:
    """Return the minimum and maximum ROC AUC over data sets, on held-out summaries."""
    results = trained_record(folder)["measured"]["statements about documents"]
    aucs = [
        float(figure["value"])
        for name, figure in results.items()
        if name.endswith(": AUC") and "alone" not in name
    ]
    return min(aucs), max(aucs)
