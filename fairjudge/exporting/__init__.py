"""Judgements, references and summaries in the formats of other tools."""

from fairjudge.exporting.targets import (
    REFERENCE_TARGETS,
    SUMMARY_TARGETS,
    TARGETS,
    ExportResult,
    export_judgements,
    export_records,
)

__all__ = [
    "REFERENCE_TARGETS",
    "SUMMARY_TARGETS",
    "TARGETS",
    "ExportResult",
    "export_judgements",
    "export_records",
]
