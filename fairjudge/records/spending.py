"""The spending of a run in a file, so that the calls of killed processes are counted.

The file is one line of fixed length, overwritten before each request is sent and after it is
answered, so that a kill loses nothing. It is synced to disk when it is created; after that, a power
cut loses what the operating system has not written yet.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

from fairjudge.errors import RunError
from fairjudge.files import read_file
from fairjudge.records.folder import atomic_replacement
from fairjudge.records.sealed import seal, unseal

FILE = "spending.json"
_LENGTH = 256
"""Length of the line in bytes; three numbers and a checksum need at most 150."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Base class of dataclasses of numbers, which are added and subtracted field by field."""

    def __add__(self, other: Self) -> Self:
        return self._combine(other, operator.add)

    def __sub__(self, other: Self) -> Self:
        return self._combine(other, operator.sub)

    def _combine(self, other: Self, operation: Callable[[Any, Any], Any]) -> Self:
        names = self.__dataclass_fields__
        return type(self)(
            **{name: operation(getattr(self, name), getattr(other, name)) for name in names}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending(Counts):
    """Number of requests, their cost in US dollars, and the number without a known price."""

    n_calls: int = 0
    cost_usd: float = 0.0
    n_unpriced: int = 0

    @property
    def known_cost_usd(self) -> float | None:
        """The cost, or None if the price of a request is unknown."""
        return None if self.n_unpriced else self.cost_usd


NO_SPENDING = Spending()


def read_spending(path: Path) -> Spending | None:
    """Return the spending in the file at `path`, or None if there is no file.

    `RunError` if `SpendingFile` did not write the file: the spending is then unknown.
    """
    if not path.exists():
        return None
    row = unseal(read_file(path).rstrip()) or {}
    try:
        return Spending(
            n_calls=int(row["n_calls"]),
            cost_usd=float(row["cost_usd"]),
            n_unpriced=int(row["n_unpriced"]),
        )
    except (KeyError, TypeError, ValueError):
        raise RunError(
            f"{path}: does not contain the spending of earlier runs of the command; delete it to "
            "count from 0"
        ) from None


class SpendingFile:
    """The spending file at ``path``, created at the first spending.

    ``earlier`` is the spending in the file at the start, or `default` if there is no file.
    """

    def __init__(self, path: Path, *, default: Spending = NO_SPENDING) -> None:
        self.path = path
        self.earlier = read_spending(path) or default
        self._file: BinaryIO | None = None

    def write(self, spending: Spending) -> None:
        """Write `spending` as the new total; raise `RunError` if that fails."""
        line = seal(asdict(spending)).ljust(_LENGTH - 1) + b"\n"
        try:
            if self._file is None:
                self._file = self._open(line)
            self._file.seek(0)
            self._file.write(line)
        except OSError as error:
            raise RunError(f"{self.path}: cannot write: {error.strerror}") from None

    def close(self, *, remove: bool) -> None:
        """Close the file, and delete it if `remove`."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if remove:
            self.path.unlink(missing_ok=True)

    def _open(self, line: bytes) -> BinaryIO:
        """Open the file; create it atomically, with `line` already written."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_replacement(self.path) as draft, draft.open("wb") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        return self.path.open("r+b", buffering=0)
