"""Read files of users: regular files, gzip up to a size limit, numbers in the range of floats."""

from __future__ import annotations

import gzip
import io
import stat
import sys
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairjudge.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
_PART_BYTES = 1 << 20
_MIN_UNPACKED_LIMIT = 1 << 30
_MAX_COMPRESSION = 200
"""Maximum ratio of unpacked to packed size for larger files; judgements without texts reach
about 90, gzip itself about 1,030."""


def file_mode(path: Path) -> int | None:
    """Return the `os.stat` mode of ``path``, or None if it does not exist.

    `InputError` if no file can have such a name.
    """
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as error:
        name = f"{str(path)[:60]}..." if len(str(path)) > 200 else path
        raise InputError(f"cannot be used: {error.strerror}", path=name) from None
    except ValueError:  # a NUL in the name
        raise InputError("not a file name", path=repr(str(path))) from None


def check_regular(path: Path) -> None:
    """Reject a path that is neither file nor folder; a missing path is left to the reader.

    A pipe or device may never end or block forever, and can be read only once.
    `InputError` for a pipe, a socket, a device, or a name that no file can have.
    """
    mode = file_mode(path)
    if mode is not None and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(
            "expected a file, found a pipe or a device; write its content to a file first",
            path=path,
        )


def read_file(path: Path) -> bytes:
    """Return the content of the regular file at ``path``.

    `InputError` if it is missing, not a regular file, or not readable.
    """
    check_regular(path)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except IsADirectoryError:
        raise InputError("expected a file, found a folder; name a file in it", path=path) from None
    except PermissionError:
        raise InputError("no permission to read the file", path=path) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot read the file: {reason}", path=path) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of the TOML file at ``path``.

    `InputError` if it cannot be read, is not TOML, or contains an integer too large for a float.
    """
    try:
        table = tomllib.loads(read_file(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not TOML: {error}", path=path) from None
    if any(map(beyond_floats, _whole_numbers(table))):
        raise InputError("a number has too many digits", path=path)
    return table


def whole_number(literal: str) -> int:
    """Parse an integer of a JSON text, as the ``parse_int`` of a JSON decoder.

    `ValueError` if it is too large for a float.
    """
    number = int(literal)
    if beyond_floats(number):
        raise ValueError("a number has too many digits")
    return number


def beyond_floats(number: int) -> bool:
    """Return whether `number` is too large for a float."""
    return abs(number) > sys.float_info.max


def _whole_numbers(value: object) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _whole_numbers(item)


def unpacked_limit(n_packed: int) -> int:
    """Return the maximum unpacked size, in bytes, of `n_packed` bytes: 1 GiB or 200 times."""
    return max(_MIN_UNPACKED_LIMIT, _MAX_COMPRESSION * n_packed)


def unpack(data: bytes, *, path: str | Path) -> bytes:
    """Unpack the gzip `data` of the file at `path`.

    `InputError` if they are damaged, truncated, or larger than `unpacked_limit` when unpacked.
    """
    max_bytes = unpacked_limit(len(data))
    content = io.BytesIO()
    try:
        with gzip.open(io.BytesIO(data)) as gzip_file:
            while part := gzip_file.read(_PART_BYTES):
                content.write(part)
                if content.tell() > max_bytes:
                    raise InputError(
                        f"{len(data):,} bytes of gzip hold more than {max_bytes:,}, as no records "
                        "of ours do; if you trust the file, unpack it yourself",
                        path=path,
                    )
    except EOFError:
        raise InputError("the gzip data are cut off; copy the file again", path=path) from None
    except (OSError, zlib.error):
        raise InputError("the gzip data are damaged; copy the file again", path=path) from None
    return content.getvalue()
