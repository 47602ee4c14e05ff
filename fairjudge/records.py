"""Run folders: manifest, append-only JSONL, and a lock; a killed run leaves nothing half-written.

A run folder belongs to one command with one set of arguments and inputs. Rows are appended with a
single write each, so a kill loses at most the row being written; a torn last line is cut off when
the folder is opened again.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout

from fairjudge.errors import RunError

SCHEMA_VERSION = 1
_MANIFEST = "manifest.json"


class RunFolder:
    """One run's folder, locked while open.

    Parameters
    ----------
    path : Path
        The folder; made if it does not exist.
    identity : mapping
        What this run is: command, arguments that change results, hashes of inputs. A folder made
        for another identity is refused.

    Raises
    ------
    RunError
        If the folder is in use, belongs to another run, or cannot be written.
    """

    def __init__(self, path: Path, *, identity: Mapping[str, Any]) -> None:
        self.path = self.shown = path
        self._identity = json.loads(json.dumps(identity))
        self._lock = FileLock(path / ".lock", timeout=0)
        self._files: dict[str, int] = {}

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout:
            raise RunError(f"{self.path}: another run is using this folder") from None
        except OSError as error:
            raise RunError(f"{self.path}: cannot use this run folder: {error.strerror}") from None
        try:
            self._check_manifest()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()
        self._lock.release()

    def _check_manifest(self) -> None:
        file = self.path / _MANIFEST
        if not file.exists():
            manifest = {"schema": SCHEMA_VERSION, "identity": self._identity}
            write_atomically(file, json.dumps(manifest, indent=1) + "\n")
            return
        try:
            found = dict(json.loads(file.read_text("utf-8"))["identity"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise RunError(f"{file}: not a run's manifest; choose another --run folder") from None
        if found != self._identity:
            raise RunError(
                f"{self.path}: this folder holds another run (it differs in "
                f"{', '.join(differences(found, self._identity))}); "
                "give the same arguments to resume it, or another --run folder"
            )

    def append(self, name: str, row: Mapping[str, Any]) -> None:
        """Append one row to ``<name>.jsonl`` in a single write."""
        data = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
        try:
            if name not in self._files:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                self._files[name] = os.open(self._file(name), flags, 0o644)
            _write_whole(self._files[name], data.encode("utf-8", errors="replace"))
        except OSError as error:
            raise RunError(f"{self._file(name)}: cannot write: {error.strerror}") from None

    def read(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of ``<name>.jsonl``; cut off a torn last line first."""
        file = self._file(name)
        if not file.exists():
            return
        try:
            data = file.read_bytes()
        except OSError as error:
            raise RunError(f"{file}: cannot read: {error.strerror}") from None
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            os.truncate(file, whole)
        for number, line in enumerate(data[:whole].split(b"\n")[:-1], start=1):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                raise RunError(
                    f"{file}:{number}: not a row that this run wrote; remove that line, or choose "
                    "another --run folder (the cache keeps every reply)"
                ) from None

    def thread(self, name: str) -> str:
        """Return what the checkpoints of this run's `name` are kept under."""
        return name

    def sync(self) -> None:
        """Force what was appended to disk."""
        for descriptor in list(self._files.values()):
            os.fsync(descriptor)

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.jsonl"


@contextmanager
def own_rows(run: object) -> Iterator[None]:
    """End in one error where the rows of `run` lack what its program writes."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError):
        raise RunError(
            f"{run}: holds a row that this run did not write; choose another --run (the cache "
            "keeps every reply)"
        ) from None


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Name what differs between two identities, with both values where these can be read."""
    named = []
    both = {*found, *wanted}
    told = ["command"] if found.get("command") != wanted.get("command") else sorted(both)
    for key in told:
        before, now = found.get(key), wanted.get(key)
        if before == now:
            continue
        if isinstance(before, dict) and isinstance(now, dict):
            named += [f"{key}: {inner}" for inner in differences(before, now)]
        elif _readable(before) and _readable(now):
            named.append(f"{key} ({_said(before)} there, now {_said(now)})")
        else:
            named.append(key)
    return named


def _said(value: object) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list) else repr(value)


def _readable(value: object) -> bool:
    """Say whether `value` is short and no digest."""
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value) and len(value) < 10
    return value is None or (isinstance(value, str | int | float) and len(str(value)) < 60)


def _write_whole(descriptor: int, data: bytes) -> None:
    """Write all of `data` or, on a full disk, none of it."""
    written = os.write(descriptor, data)
    if written != len(data):
        os.ftruncate(descriptor, os.lseek(descriptor, 0, os.SEEK_END) - written)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def write_atomically(path: Path, text: str) -> None:
    """Write `path` whole or not at all: a temporary file beside it, then a rename."""
    with replacing(path) as temporary:
        temporary.write_text(text, "utf-8")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it there if the block succeeds."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
