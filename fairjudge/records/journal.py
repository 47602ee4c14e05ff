"""An append-only file: rows with checksums, each on disk before `Journal.append` returns."""

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

    A torn row at the end, left by a killed process, is overwritten by the next one; any other
    corrupt row raises `InputError`.
    """

    def __init__(self, path: Path) -> None:
        """Store the path; the file need not exist yet."""
        self.path = path

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows; an empty list where the file is missing or empty."""
        check_regular(self.path)
        rows = [dict(row) for row in kept_rows(self.path)]
        if not rows and self.path.exists() and self.path.stat().st_size:
            raise InputError("holds no whole row: not such a record; name another", path=self.path)
        return rows

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
        """Return the size of the file up to the end of its last complete row."""
        return self.path.read_bytes().rfind(b"\n") + 1
