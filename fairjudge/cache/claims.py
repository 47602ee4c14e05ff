"""Cross-process locks on cache keys, so that two processes never pay for one request."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

if sys.platform != "win32":  # processes there may ask the same thing at the same time
    import fcntl

_FILE = "claims.lock"
_LOCK_HELD_ERRORS = {errno.EACCES, errno.EAGAIN}


class Claims:
    """Claims on keys by the processes of one machine, as locks on single bytes of one file.

    The kernel holds them: they cost no write, and those of a killed process end with it. Within a
    process every claim succeeds (there, `Caching` lets equal requests share one call). The file
    ``claims.lock`` in the cache's folder stays empty.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._file = -1

    def take(self, key: str) -> bool:
        """Claim `key` (hexadecimal); False while another process has it."""
        if sys.platform == "win32":
            return True
        try:
            if self._file < 0:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, short_key(key))
        except OSError as error:
            # A folder without locks or permissions: two calls are better than none.
            return error.errno not in _LOCK_HELD_ERRORS
        return True

    def release(self, key: str) -> None:
        """End the claim on `key`."""
        if sys.platform != "win32" and self._file >= 0:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, short_key(key))

    def close(self) -> None:
        """End every claim."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def short_key(key: str) -> int:
    """Return the first 60 bits of a hash: the file offset of its lock; a run may have millions."""
    return int(key[:15], 16)
