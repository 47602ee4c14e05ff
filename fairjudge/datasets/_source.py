"""A file's bytes, unpacked, or one clear error."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from fairjudge.errors import InputError

_GZIP_MAGIC = b"\x1f\x8b"
_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


def read_bytes(path: Path) -> bytes:
    """Return the content of ``path``, unpacked if it is gzip, without a UTF-8 byte order mark.

    Raises
    ------
    InputError
        No such file, a folder, not readable, a damaged gzip file, UTF-16, or nothing in it.
    """
    data = _read(path)
    if data.startswith(_GZIP_MAGIC):
        data = _unpack(data, path)
    elif path.suffix.lower() == ".gz":
        raise InputError("the name ends in .gz, but the content is not gzip", path=path)
    if data.startswith(_UTF16_BOMS):
        raise InputError("the file is UTF-16; save it as UTF-8", path=path)
    data = data.removeprefix(_UTF8_BOM)
    if not data.strip():
        raise InputError("the file is empty", path=path)
    return data


def kind_of(path: Path) -> str:
    """Return the extension that tells the format, lower case, with ``.gz`` taken off."""
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return path.suffix.lower()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except IsADirectoryError:
        raise InputError("expected a file, found a folder", path=path) from None
    except PermissionError:
        raise InputError("no permission to read the file", path=path) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot read the file: {reason}", path=path) from None
    except ValueError:  # a NUL in the name
        raise InputError("not a file name", path=repr(str(path))) from None


def _unpack(data: bytes, path: Path) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError:
        raise InputError("the gzip data are cut off", path=path) from None
    except (OSError, zlib.error):
        raise InputError("the gzip data are damaged", path=path) from None
