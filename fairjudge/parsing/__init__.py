"""Parse replies of models: the verdict of a judge or the reason for its absence, and lists."""

from fairjudge.parsing._lists import (
    indices_in,
    read_entries,
    read_list,
    read_object,
    read_objects,
    whole_number,
    without_bullet,
)
from fairjudge.parsing._reader import PARSER_VERSION, Reading, locate_verdict, read_verdict
from fairjudge.parsing._several import read_verdicts
from fairjudge.parsing._thoughts import without_reasoning

__all__ = [
    "PARSER_VERSION",
    "Reading",
    "indices_in",
    "locate_verdict",
    "read_entries",
    "read_list",
    "read_object",
    "read_objects",
    "read_verdict",
    "read_verdicts",
    "whole_number",
    "without_bullet",
    "without_reasoning",
]
