"""Data in other layouts, turned to our records."""

from fairjudge.converting.columns import column_map
from fairjudge.converting.files import DATA, command_for, convert_files, holds_data
from fairjudge.converting.layouts import Settings
from fairjudge.converting.records import Converted

__all__ = [
    "DATA",
    "Converted",
    "Settings",
    "column_map",
    "command_for",
    "convert_files",
    "holds_data",
]
