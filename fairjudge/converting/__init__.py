"""Data in other layouts, turned to our records."""

from fairjudge.converting.files import (
    command_for,
    convert_files,
    files_of,
    that_hold_data,
    why_not_read,
)
from fairjudge.converting.folders import text_folders
from fairjudge.converting.layouts import Settings
from fairjudge.converting.records import Converted

__all__ = [
    "Converted",
    "Settings",
    "command_for",
    "convert_files",
    "files_of",
    "text_folders",
    "that_hold_data",
    "why_not_read",
]
