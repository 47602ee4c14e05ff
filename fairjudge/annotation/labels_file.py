"""The labels file: the current labels, one per line, consistent at any time."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from fairjudge.annotation.board import Event
from fairjudge.annotation.items import Item
from fairjudge.datasets.writers import json_line
from fairjudge.domain import Value
from fairjudge.errors import InputError, RunError
from fairjudge.files import check_regular
from fairjudge.records.folder import atomic_replacement


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelWriter:
    """Formats an event as a line of the labels file.

    ``probabilities`` are the items' probabilities of being drawn, None if all are labelled;
    ``adjudicated`` is true if items were chosen by the gap between judge and people. ``leanings``
    maps the values of labels to words, which are written with them.
    """

    items: Sequence[Item]
    leanings: Mapping[Value, str] = field(default_factory=dict)
    probabilities: Sequence[float] | None = None
    adjudicated: bool = False

    def record(self, event: Event) -> dict[str, Any]:
        """Return the label record of an event of kind "label"."""
        item = self.items[event.item]
        names = ("system",) if len(item.systems) == 1 else ("system_a", "system_b")
        value = event.value
        optional = {
            "attribute_value": item.value or None,
            "leaning": self.leanings.get(value) if value is not None else None,
            "order": event.shown,
            "note": event.note or None,
            "probability": self.probabilities and self.probabilities[event.item],
            "adjudicated": self.adjudicated or None,
        }
        return {
            "eid": item.eid,
            **dict(zip(names, item.systems, strict=True)),
            "aspect": item.aspect,
            "annotator": event.annotator,
            "value": int(value) if isinstance(value, float) and value.is_integer() else value,
            "unit": item.unit,
            **{name: field for name, field in optional.items() if field is not None},
        }

    def line(self, event: Event) -> bytes:
        """Return the record as a line of JSON."""
        return json_line(self.record(event))


def without_probability(line: bytes) -> str | None:
    """Return a line's record without its probability, as canonical JSON; None for other lines."""
    try:
        row = json.loads(line)
        row.pop("probability", None)
        return json.dumps(row, sort_keys=True)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return None


class Projection:
    """The lines of the current labels, in the order of their events.

    Excludes controls, since they test annotators, not judges, and items that only an earlier,
    larger draw contained.
    """

    def __init__(self, writer: LabelWriter, items: Sequence[int]) -> None:
        self._writer = writer
        self._n_required = items
        self._lines: dict[tuple[str, int], bytes] = {}

    def apply(self, event: Event) -> bytes | None:
        """Apply one event; return the line that it removes from the file, or None."""
        if event.kind == "assign":
            return None
        key = event.annotator, event.item
        former_line = self._lines.pop(key, None)
        if event.kind == "label" and self._n_required[event.item]:
            self._lines[key] = self._writer.line(event)
        return former_line

    def line(self, event: Event) -> bytes | None:
        """Return the current line of an event's annotator and item, or None."""
        return self._lines.get((event.annotator, event.item))

    def lines(self) -> list[bytes]:
        """Return all lines."""
        return list(self._lines.values())


class LabelsFile:
    """A file that is appended to with fsync, and replaced atomically when a label is removed.

    The store is authoritative: on opening, `rewrite` repairs what a killed process left. Lines that
    are not in the store are from other programs: a file with such lines is rejected when it is
    first opened, but lines that another program appends later are preserved.
    """

    def __init__(self, path: Path, *, is_own: Callable[[bytes], bool]) -> None:
        """Initialise with the path; `is_own` returns whether this job may have written a line."""
        self.path = path
        self._is_own = is_own
        self._descriptor = -1
        self._was_opened = False

    def open(self, lines: Sequence[bytes], *, is_partial: Callable[[bytes], bool]) -> None:
        """Open the file and make `lines` its content.

        `is_partial` returns whether bytes may be the start of a line that a killed process did not
        finish. Raises InputError if the file has other content when first opened, or is unusable.
        """
        if self._was_opened:  # after a failure to write: keep lines that others appended
            self.rewrite(lines, is_partial=is_partial)
            return
        check_regular(self.path)
        try:
            content = self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror}", path=self.path) from None
        for number, line in enumerate(content.splitlines(keepends=True), 1):
            if not self._is_own(line) and (line.endswith(b"\n") or not is_partial(line)):
                raise InputError(
                    "this line was not written by this job; choose another --output, or move the "
                    "file away (the labels of the job are all in its store)",
                    path=self.path,
                    line=number,
                )
        if content != b"".join(lines) or not self.path.exists():
            self.rewrite(lines, is_partial=is_partial)
        else:
            self._reopen()
        self._was_opened = True

    def append(self, lines: Sequence[bytes]) -> None:
        """Append lines; they are on disk when this returns. Raises RunError."""
        data = b"".join(lines)
        try:
            if not self._ends_with_newline():  # another program is in the middle of a line
                data = b"\n" + data
            _write_all(self._descriptor, data)
            os.fsync(self._descriptor)
        except OSError as error:
            raise RunError(f"{self.path}: cannot write: {error}") from None

    def rewrite(
        self, lines: Sequence[bytes], *, is_partial: Callable[[bytes], bool] = lambda _part: False
    ) -> None:
        """Replace the file atomically by `lines` and the lines of other programs."""
        try:
            with ExitStack() as stack:
                former = stack.enter_context(self.path.open("rb")) if self.path.exists() else None
                with atomic_replacement(self.path) as draft, draft.open("wb") as raw:
                    raw.writelines([*lines, *self._foreign_lines(former, is_partial)])
                    raw.flush()
                    os.fsync(raw.fileno())
                self._reopen()
                if new_lines := self._foreign_lines(
                    former, is_partial
                ):  # appended since it was read
                    _write_all(self._descriptor, b"".join(new_lines))
                    os.fsync(self._descriptor)
        except OSError as error:
            raise RunError(f"{self.path}: cannot write: {error.strerror}") from None

    def _foreign_lines(
        self, former: BinaryIO | None, is_partial: Callable[[bytes], bool]
    ) -> list[bytes]:
        """Return other programs' lines from the current position of `former` to its end."""
        lines = former.read().splitlines(keepends=True) if former else []
        complete_lines = (line if line.endswith(b"\n") else line + b"\n" for line in lines)
        return [
            line
            for line in complete_lines
            if line.strip() and not self._is_own(line) and not is_partial(line.removesuffix(b"\n"))
        ]

    def _ends_with_newline(self) -> bool:
        with self.path.open("rb") as file:
            if file.seek(0, os.SEEK_END) == 0:
                return True
            file.seek(-1, os.SEEK_END)
            return file.read() == b"\n"

    def _reopen(self) -> None:
        self.close()
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _write_all(descriptor: int, data: bytes) -> None:
    if os.write(descriptor, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
