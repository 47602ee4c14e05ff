"""Reads the verdict out of a judge's reply, or says why there is none."""

from fairjudge.parsing._reader import PARSER_VERSION, Reading, locate_verdict, read_verdict

__all__ = ["PARSER_VERSION", "Reading", "locate_verdict", "read_verdict"]
