"""The labels file: at any time exactly the labels that stand, each a line, for others to read."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from fairjudge.errors import InputError, RunError


class LabelsFile:
    """Appends with fsync; writes anew, whole or not at all, where a label was taken back.

    The store is the truth: what a killed process left is put right by `rewrite` on opening. A file
    with a line that the store does not know is never overwritten.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1

    def open(
        self,
        lines: Sequence[bytes],
        *,
        known: Callable[[bytes], bool],
        torn: Callable[[bytes], bool],
    ) -> None:
        """Make the file hold `lines`.

        ``known`` says whether this job may have written a line, ``torn`` whether bytes may be the
        beginning of one that a kill cut off.

        Raises
        ------
        InputError
            The file has other content, or cannot be used.
        """
        try:
            found = self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror}", path=self.path) from None
        for number, line in enumerate(found.splitlines(keepends=True), 1):
            if not known(line) and (line.endswith(b"\n") or not torn(line)):
                raise InputError(
                    "this line was not written by this job; name another --output, or move the "
                    "file away (the labels of the job are all in its store)",
                    path=self.path,
                    line=number,
                )
        if found != b"".join(lines) or not self.path.exists():
            self.rewrite(lines)
        else:
            self._reopen()

    def append(self, lines: Sequence[bytes]) -> None:
        """Add lines; they are on disk when this returns."""
        data = b"".join(lines)
        try:
            _write_whole(self._descriptor, data)
            os.fsync(self._descriptor)
        except OSError as error:
            raise RunError(f"{self.path}: cannot write: {error}") from None

    def rewrite(self, lines: Sequence[bytes]) -> None:
        """Put a file of `lines` in the place of this one, in one step."""
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            with draft.open("wb") as raw:
                raw.writelines(lines)
                raw.flush()
                os.fsync(raw.fileno())
            draft.replace(self.path)
            self._reopen()
        except OSError as error:
            raise RunError(f"{self.path}: cannot write: {error.strerror}") from None
        finally:
            draft.unlink(missing_ok=True)

    def _reopen(self) -> None:
        self.close()
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _write_whole(descriptor: int, data: bytes) -> None:
    if os.write(descriptor, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
