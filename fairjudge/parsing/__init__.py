"""Reads what models write: a judge's verdict, or why there is none, and the items of a list."""

from fairjudge.parsing._clean import without_reasoning
from fairjudge.parsing._lists import read_list, read_object, without_bullet
from fairjudge.parsing._reader import PARSER_VERSION, Reading, locate_verdict, read_verdict

__all__ = [
    "PARSER_VERSION",
    "Reading",
    "locate_verdict",
    "read_list",
    "read_object",
    "read_verdict",
    "without_bullet",
    "without_reasoning",
]
