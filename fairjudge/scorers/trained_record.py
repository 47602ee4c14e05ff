"""The record of the shipped weights: their training and measured figures.

Apart from the models, so that reports show it without loading them.
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
    """Return the folder of the models that a target or judge of this name uses."""
    return LARGE_FOLDER if name == LARGE else FOLDER


@cache
def trained_record(folder: Path = FOLDER) -> dict[str, Any]:
    """Return the record, read once; ``sha256`` is that of the weights."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return {**record, "sha256": str(record["sha256"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"cannot read the trained models' record: {error}") from error


def coverage_accuracy(folder: Path = FOLDER) -> float:
    """Return the balanced accuracy of covered or not, on held-out documents of REALSumm."""
    measured = trained_record(folder)["measured"]["coverage"]["realsumm"]
    return float(measured["balanced accuracy"]["value"])


def faithfulness_areas(folder: Path = FOLDER) -> tuple[float, float]:
    """Return the least and the largest area under the ROC, by data set, of held-out summaries."""
    measured = trained_record(folder)["measured"]["statements about documents"]
    areas = [
        float(figure["value"])
        for name, figure in measured.items()
        if name.endswith(": AUC") and "alone" not in name
    ]
    return min(areas), max(areas)
