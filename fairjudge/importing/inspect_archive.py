"""Inspect's ``.eval`` logs: a ZIP of JSON members, deflated or, in newer versions, zstd.

The zipfile module reads zstd (method 93) from Python 3.14 on; earlier versions need the package
zstandard (extra ``fairjudge[inspect]``).
"""

from __future__ import annotations

import io
import lzma
import struct
import sys
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from fairjudge.datasets._json import JsonError, parse, replace_surrogate_escapes
from fairjudge.errors import InputError, needs_extra
from fairjudge.files import check_regular, read_file, unpacked_limit

_MAGIC = b"PK\x03\x04"
_ZSTD = 93
_ARCHIVE_ERRORS = (
    zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, zlib.error, lzma.LZMAError, struct.error,
    OSError, ValueError, LookupError, OverflowError, RuntimeError,
)  # fmt: skip
"""Errors of zipfile and its decompressors for damaged sizes, offsets, names and data.

OSError is raised by bzip2, since nothing is read from disk here; RuntimeError for encryption, and
its subclass NotImplementedError for unknown versions and methods.
"""
_LIMIT_MEMBERS = 1_000_000
_PART_BYTES = 1 << 20
_HEADERS = ("header.json", "_journal/start.json")
"""Names of the header of a finished and of a killed run."""
_SAMPLE_FIELDS = ("id", "epoch", "scores", "metadata", "output", "error", "attachments")
"""The fields read from a sample; its events and messages are many times larger."""


def is_archive(path: Path) -> bool:
    """Return whether the file at `path` begins like a ZIP archive."""
    check_regular(path)
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:  # its reader reports the problem
        return False


def read_archive(path: Path) -> dict[str, Any]:
    """Return the log in the layout of Inspect's JSON logs: ``eval``, ``samples`` and so on.

    Raises `InputError` if it unpacks to more than 1 GiB and more than 200 times its size.
    """
    data = read_file(path)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _log(_Members(archive, data, path))
    except _ARCHIVE_ERRORS as error:
        raise InputError(f"the archive is damaged: {error}", path=path) from None


def _log(members: _Members) -> dict[str, Any]:
    headers = [name for name in _HEADERS if name in members.names]
    if not headers:
        raise InputError("not an Inspect log: the archive has no header.json", path=members.path)
    header = members.parse_member(headers[0])
    samples = []
    for name in members.names:
        if name.startswith("samples/") and name.endswith(".json"):
            sample = members.parse_member(name)
            samples.append({key: sample[key] for key in _SAMPLE_FIELDS if key in sample})
    return {**header, "samples": samples}


class _Members:
    """The members of an archive; all together unpack to at most one limit."""

    def __init__(self, archive: zipfile.ZipFile, data: bytes, path: Path) -> None:
        self.path = path
        self._archive = archive
        self._data = data
        self._remaining_bytes = self._limit = unpacked_limit(len(data))
        self.names = tuple(dict.fromkeys(archive.namelist()))
        if len(self.names) > _LIMIT_MEMBERS:
            raise InputError(f"more than {_LIMIT_MEMBERS:,} members", path=path)

    def parse_member(self, name: str) -> Mapping[str, Any]:
        """Return the JSON object in a member."""
        try:
            text = self._unpack(name).decode("utf-8")
            value, _ = replace_surrogate_escapes(text, parse(text, nan_as_null=True))
        except UnicodeDecodeError:
            raise self._error(name, "not UTF-8 text") from None
        except JsonError as error:
            raise self._error(name, error.problem) from None
        if not isinstance(value, dict):
            raise self._error(name, "expected an object")
        return value

    def _unpack(self, name: str) -> bytes:
        member = self._archive.getinfo(name)
        if member.flag_bits & 1:
            raise self._error(name, "encrypted")
        if member.compress_type == _ZSTD and sys.version_info < (3, 14):
            content = self._decompress_zstd(_compressed_bytes(self._data, member))
            if zlib.crc32(content) != member.CRC:
                raise self._error(name, "its checksum does not match")
            return content
        try:
            with self._archive.open(member) as stream:
                return self._read_within_limit(stream)
        except NotImplementedError as error:
            raise self._error(name, str(error)) from None

    def _decompress_zstd(self, compressed: bytes) -> bytes:
        feature = f"{self.path}, whose members are packed with zstd,"
        with needs_extra(feature, extra="inspect"):
            import zstandard
        stream = zstandard.ZstdDecompressor().stream_reader(compressed, read_across_frames=True)
        try:
            return self._read_within_limit(stream)
        except zstandard.ZstdError as error:
            raise zipfile.BadZipFile(str(error)) from None

    def _read_within_limit(self, stream: IO[bytes]) -> bytes:
        content = io.BytesIO()
        while part := stream.read(min(_PART_BYTES, self._remaining_bytes + 1)):
            self._remaining_bytes -= len(part)
            if self._remaining_bytes < 0:
                raise InputError(
                    f"an archive of {len(self._data):,} bytes that unpacks to more than "
                    f"{self._limit:,}; if you trust it, run 'inspect log convert --to json'",
                    path=self.path,
                )
            content.write(part)
        return content.getvalue()

    def _error(self, name: str, problem: str) -> InputError:
        return InputError(f"{name[:80]!r} in the archive: {problem}", path=self.path)


def _compressed_bytes(data: bytes, member: zipfile.ZipInfo) -> bytes:
    """Return a member's compressed bytes, which follow its local header."""
    offset = member.header_offset
    name_length, extra_length = struct.unpack_from("<HH", data, offset + 26)
    start = offset + 30 + name_length + extra_length
    if data[offset : offset + 4] != _MAGIC or start + member.compress_size > len(data):
        raise zipfile.BadZipFile("a member extends beyond its end")
    return data[start : start + member.compress_size]
