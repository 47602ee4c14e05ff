"""Judgements in the formats of other tools."""

from fairjudge.exporting.targets import TARGETS, Exported, export_judgements

__all__ = ["TARGETS", "Exported", "export_judgements"]
