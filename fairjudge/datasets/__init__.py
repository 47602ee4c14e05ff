"""Readers and writers of the file formats."""

from fairjudge.datasets._loading import BadLine, Loaded, read_records
from fairjudge.datasets._source import read_json
from fairjudge.datasets.example import ExampleFile, example_path
from fairjudge.datasets.readers import (
    check_distinct,
    empty_articles,
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
    "BadLine",
    "ExampleFile",
    "Loaded",
    "check_distinct",
    "empty_articles",
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
