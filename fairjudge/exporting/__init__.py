"""Judgements and references in the formats of other tools."""

from fairjudge.exporting.targets import (
    REFERENCE_TARGETS,
    TARGETS,
    Exported,
    export_judgements,
    export_references,
)

__all__ = [
    "REFERENCE_TARGETS",
    "TARGETS",
    "Exported",
    "export_judgements",
    "export_references",
]
