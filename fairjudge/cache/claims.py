"""Cross-process locks on cache keys, so that two processes never pay for one request."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

if sys.platform != "win32":  # without claims, two processes may make the same call
    import fcntl

_FILE = "claims.lock"
_LOCK_HELD_ERRORS = {errno.EACCES, errno.EAGAIN}


class Claims:
    """Claims on keys by the processes of one machine, as locks on single bytes of one file.

    The kernel manages the locks: they need no write, and those of a killed process are released.
    Within a process every claim succeeds (there, `Caching` shares one call among equal requests).
    The file ``claims.lock`` in the cache's folder remains empty.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._file = -1

    def claim(self, key: str) -> bool:
        """Claim `key` (hexadecimal); return False if another process has claimed it."""
        if sys.platform == "win32":
            return True
        try:
            if self._file < 0:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, short_key(key))
        except OSError as error:
            # Without locks or permissions, duplicate calls are better than none.
            return error.errno not in _LOCK_HELD_ERRORS
        return True

    def release(self, key: str) -> None:
        """Release the claim on `key`."""
        if sys.platform != "win32" and self._file >= 0:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, short_key(key))

    def close(self) -> None:
        """Release all claims."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def short_key(key: str) -> int:
    """Return the first 60 bits of a hash, the file offset of its lock."""
    return int(key[:15], 16)
