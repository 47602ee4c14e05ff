"""Readers and writers of the file formats."""

from fairjudge.datasets._loading import Loaded, read_records
from fairjudge.datasets._source import read_json
from fairjudge.datasets.example import example_path
from fairjudge.datasets.readers import (
    check_distinct,
    match_summaries,
    read_clusters,
    read_judgements,
    read_labels,
    read_references,
    read_replies,
    read_summaries,
    why_not_buildable,
)
from fairjudge.datasets.writers import write_jsonl, write_records

__all__ = [
    "Loaded",
    "check_distinct",
    "example_path",
    "match_summaries",
    "read_clusters",
    "read_json",
    "read_judgements",
    "read_labels",
    "read_records",
    "read_references",
    "read_replies",
    "read_summaries",
    "why_not_buildable",
    "write_jsonl",
    "write_records",
]
