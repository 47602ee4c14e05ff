"""Decompressing gzip files of others, up to a bound."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from fairjudge.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
_PART_BYTES = 1 << 20
_ALWAYS_UNPACKED_BYTES = 1 << 30
_MAX_TIMES = 200
"""How many times its size a larger content may be: judgements without texts reach about 90, and
gzip itself about 1,030."""


def unpacked_limit(n_packed: int) -> int:
    """Return how many bytes a file of `n_packed` may hold unpacked: 1 GiB, or 200 times as many."""
    return max(_ALWAYS_UNPACKED_BYTES, _MAX_TIMES * n_packed)


def unpack(data: bytes, *, path: str | Path) -> bytes:
    """Return what the gzip `data` of the file at `path` hold.

    `InputError` where they are damaged, cut off, or hold more than `unpacked_limit`.
    """
    max_bytes = unpacked_limit(len(data))
    unpacked = io.BytesIO()
    try:
        with gzip.open(io.BytesIO(data)) as packed:
            while part := packed.read(_PART_BYTES):
                unpacked.write(part)
                if unpacked.tell() > max_bytes:
                    raise InputError(
                        f"{len(data):,} bytes of gzip hold more than {max_bytes:,}, as no records "
                        "of ours do; if you trust the file, unpack it yourself",
                        path=path,
                    )
    except EOFError:
        raise InputError("the gzip data are cut off", path=path) from None
    except (OSError, zlib.error):
        raise InputError("the gzip data are damaged", path=path) from None
    return unpacked.getvalue()
