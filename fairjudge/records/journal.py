"""A file that is only ever added to: rows with checksums, each on disk before it counts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairjudge.errors import InputError
from fairjudge.files import check_regular
from fairjudge.records.folder import kept_rows
from fairjudge.records.sealed import seal


class Journal:
    """Rows of one file, oldest first.

    A row that a killed process left torn at the end never counted, and gives way to the next one;
    any other that is not as it was written raises `InputError`.
    """

    def __init__(self, path: Path) -> None:
        """Take the path; there need be no file yet."""
        self.path = path

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows, none where there is no file, or an empty one."""
        check_regular(self.path)
        found = [dict(row) for row in kept_rows(self.path)]
        if not found and self.path.exists() and self.path.stat().st_size:
            raise InputError("holds no whole row: not such a record; name another", path=self.path)
        return found

    def append(self, *rows: Mapping[str, Any]) -> None:
        """Add rows in one write; they are on disk when this returns."""
        data = b"".join(seal(row) + b"\n" for row in rows)
        try:
            with self.path.open("ab") as file:
                whole = self._whole_bytes()
                if whole < file.tell():
                    file.truncate(whole)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", path=self.path) from None

    def _whole_bytes(self) -> int:
        """Return where the last whole row ends."""
        return self.path.read_bytes().rfind(b"\n") + 1
