"""Data in other layouts, turned to our records."""

from fairjudge.converting.files import DATA, command_for, convert_files, that_hold_data
from fairjudge.converting.layouts import Settings
from fairjudge.converting.records import Converted

__all__ = [
    "DATA",
    "Converted",
    "Settings",
    "command_for",
    "convert_files",
    "that_hold_data",
]
