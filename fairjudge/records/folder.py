"""Run folders: a manifest, append-only JSONL files and a lock, safe against kills.

A run folder belongs to one command with one set of arguments and inputs. Rows are appended with a
single write each and have a checksum, so that a kill loses at most the row being written. An
incomplete or changed row is removed when the run is resumed, and its work is repeated.
"""

from __future__ import annotations

import errno
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self

from filelock import FileLock, Timeout

from fairjudge.errors import InputError, RunError
from fairjudge.files import check_regular, read_file
from fairjudge.records.sealed import seal, unseal

SCHEMA_VERSION = 1
_MANIFEST = "manifest.json"
CORRUPT_ROW_MESSAGE = (
    "that was changed after it was written; rerun the run's command to repeat its work (cached "
    "replies cost nothing)"
)
"""End of the error message on a corrupt row, for callers that only read rows."""


class RunStore(ABC):
    """The storage of a run, locked while open: rows by name, in the order of appending.

    ``path`` is the run's folder, or its name as a path; ``display_name`` is its name in messages.
    ``identity`` contains the command, the arguments that change results, and hashes of the inputs.
    A run that is in use, has another identity, or cannot be written raises `RunError`.
    """

    def __init__(
        self, path: Path, *, display_name: Path | str, identity: Mapping[str, Any]
    ) -> None:
        self.path = path
        self.display_name = display_name
        self._identity = json.loads(json.dumps(identity))

    def __enter__(self) -> Self:
        self._open()
        try:
            self._check_identity()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __str__(self) -> str:
        return str(self.display_name)

    @abstractmethod
    def _open(self) -> None:
        """Acquire the run's lock."""

    @abstractmethod
    def _close(self) -> None:
        """Release the lock."""

    @abstractmethod
    def _manifest(self, manifest: str) -> str:
        """Return the stored manifest, after storing `manifest` if there was none."""

    @abstractmethod
    def append(self, name: str, row: Mapping[str, Any]) -> int:
        """Append one row to the rows called `name` and return its position, for `rows_at`."""

    @abstractmethod
    def rows_with_offsets(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (position, row) of the rows called `name`.

        Invalid rows are skipped, so that their work is repeated.
        """

    @abstractmethod
    def rows_at(self, name: str, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Return the rows called `name` at `positions`, in that order; the run need not be open.

        A missing or changed row raises `RunError`.
        """

    @abstractmethod
    def sync(self) -> None:
        """Force the appended rows to disk."""

    def may_contain(self, name: str) -> bool:  # noqa: ARG002  # used by subclasses
        """Return whether there may be rows called `name`; may be called before the run is open."""
        return True

    def thread(self, name: str) -> str:
        """Return the thread id of this run's checkpoints called `name`."""
        return name

    def read(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the rows called `name`; see `rows_with_offsets`."""
        return (row for _, row in self.rows_with_offsets(name))

    def _check_identity(self) -> None:
        text = self._manifest(json.dumps({"schema": SCHEMA_VERSION, "identity": self._identity}))
        try:
            identity = dict(json.loads(text)["identity"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RunError(f"{self}: not a run's manifest; choose another --run") from None
        if identity != self._identity:
            raise RunError(
                f"{self}: this is another run (it differs in "
                f"{', '.join(differences(identity, self._identity))}); "
                "use the same arguments to resume it, or choose another --run"
            )


class RunFolder(RunStore):
    """One run's folder; created if it does not exist. See `RunStore`."""

    def __init__(self, path: Path, *, identity: Mapping[str, Any]) -> None:
        super().__init__(path, display_name=path, identity=identity)
        self._lock = FileLock(path / ".lock")
        self._files: dict[str, int] = {}

    def _open(self) -> None:
        unusable = f"{self}: cannot use this run folder"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{unusable}: {error.strerror}") from None
        acquire_lock(
            self._lock, busy=f"{self}: another run is using this folder", unusable=unusable
        )

    def _close(self) -> None:
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()
        self._lock.release()

    def _manifest(self, manifest: str) -> str:
        file = self.path / _MANIFEST
        if not file.exists():
            write_atomically(file, manifest + "\n")
        check_regular(file)
        try:
            return file.read_text("utf-8")
        except (OSError, ValueError):
            raise RunError(f"{self}: not a run's manifest; choose another --run") from None

    def append(self, name: str, row: Mapping[str, Any]) -> int:
        """See `RunStore`; a row is one write, and its position the offset in the file."""
        data = seal(row) + b"\n"
        try:
            if name not in self._files:
                check_regular(self._file(name))
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                self._files[name] = os.open(self._file(name), flags, 0o644)
            return _append_all(self._files[name], data)
        except OSError as error:
            raise RunError(f"{self._file(name)}: cannot write: {error.strerror}") from None

    def rows_with_offsets(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """See `RunStore`; a position is an offset. Invalid rows are also removed from the file."""
        file = self._file(name)
        if not file.exists():
            return
        offset = 0
        while True:
            with self._open_rows(file) as lines:
                lines.seek(offset)
                for line in lines:
                    row = _row(line) if line.endswith(b"\n") else None
                    if row is None:
                        break
                    yield offset, row
                    offset += len(line)
                else:
                    return
            self._remove_invalid_rows(file)  # rows yielded so far keep their offsets

    def rows_at(self, name: str, positions: Sequence[int]) -> list[dict[str, Any]]:
        """See `RunStore`."""
        rows = []
        with self._open_rows(self._file(name)) as lines:
            for position in positions:
                lines.seek(position)
                rows.append(_row(lines.readline()))
        valid_rows = [row for row in rows if row is not None]
        if len(valid_rows) < len(rows):
            raise RunError(f"{self._file(name)}: contains a row {CORRUPT_ROW_MESSAGE}")
        return valid_rows

    @contextmanager
    def _open_rows(self, file: Path) -> Iterator[BinaryIO]:
        check_regular(file)
        try:
            with file.open("rb") as lines:
                yield lines
        except OSError as error:
            raise RunError(f"{file}: cannot read: {error.strerror}") from None

    def _remove_invalid_rows(self, file: Path) -> None:
        if (descriptor := self._files.pop(file.stem, None)) is not None:
            os.close(descriptor)
        try:
            with (
                atomic_replacement(file) as draft,
                draft.open("wb") as valid_lines,
                file.open("rb") as lines,
            ):
                for line in lines:
                    if _row(line) is not None:
                        valid_lines.write(line.removesuffix(b"\n") + b"\n")
        except OSError as error:
            raise RunError(f"{file}: cannot write: {error.strerror}") from None

    def may_contain(self, name: str) -> bool:
        """See `RunStore`."""
        return self._file(name).exists()

    def sync(self) -> None:
        """See `RunStore`."""
        for descriptor in list(self._files.values()):
            os.fsync(descriptor)

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.jsonl"


@contextmanager
def reject_foreign_rows(run: RunStore) -> Iterator[None]:
    """Raise `RunError` if the block fails on a row of `run` written by another program."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError):
        raise RunError(
            f"{run}: contains a row that this run did not write; choose another --run (all "
            "replies remain in the cache)"
        ) from None


def differences(stored: Mapping[str, Any], current: Mapping[str, Any]) -> list[str]:
    """Return the keys in which two identities differ, with both values if they are short."""
    phrases = []
    other_command = stored.get("command") != current.get("command")
    for key in ["command"] if other_command else sorted({*stored, *current}):
        stored_value, current_value = stored.get(key), current.get(key)
        if stored_value == current_value:
            continue
        if isinstance(stored_value, dict) and isinstance(current_value, dict):
            phrases += [f"{key}: {inner}" for inner in differences(stored_value, current_value)]
        elif _readable(stored_value) and _readable(current_value):
            phrases.append(
                f"{key} ({_value_text(stored_value)} there, now {_value_text(current_value)})"
            )
        else:
            phrases.append(key)
    return phrases


def _value_text(value: object) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list) else repr(value)


def _readable(value: object) -> bool:
    """Return whether `value` is short enough to print, and not a hash."""
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value) and len(value) < 10
    return value is None or (isinstance(value, str | int | float) and len(str(value)) < 60)


def run_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of one of a run's files; none if the file is missing.

    The last row of a killed run may be incomplete and is skipped; any other corrupt row raises
    `InputError`.
    """
    if not path.is_file():
        return
    lines = read_file(path).split(b"\n")
    for number, line in enumerate(lines, start=1):
        row = unseal(line)
        if row is not None:
            yield row
        elif number != len(lines):
            raise InputError(f"a row {CORRUPT_ROW_MESSAGE}", path=path, line=number)


def _row(line: bytes) -> dict[str, Any] | None:
    return unseal(line.removesuffix(b"\n"))


def _append_all(descriptor: int, data: bytes) -> int:
    """Append all of `data` or, on a full disk, none of it; return the offset of its start."""
    n_written = os.write(descriptor, data)
    offset = os.lseek(descriptor, 0, os.SEEK_END) - n_written
    if n_written != len(data):
        os.ftruncate(descriptor, offset)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return offset


def acquire_lock(lock: FileLock, *, busy: str, unusable: str) -> None:
    """Acquire `lock` without waiting.

    Raises
    ------
    RunError
        With the message `busy` if another process holds the lock, or with `unusable` and the reason
        if its file cannot be used.
    """
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(busy) from None
    except OSError as error:
        raise RunError(f"{unusable}: {error.strerror}") from None


def write_atomically(path: Path, text: str) -> None:
    """Write `path` atomically: to a temporary file beside it, which is then renamed."""
    with atomic_replacement(path) as temporary:
        temporary.write_text(text, "utf-8")


def write_output(path: Path, text: str) -> None:
    """Write a user's output file atomically; raise `InputError` if that fails."""
    try:
        write_atomically(path, text)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=path) from None


@contextmanager
def atomic_replacement(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block succeeds."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
