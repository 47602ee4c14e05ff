"""The spending of a run in a file, so that the calls of a killed start stay counted.

One line of fixed length, written in place before each request is sent and after it is answered: a
kill loses nothing, and the file does not grow. It is forced to disk when it is created; after that
a power cut loses what the operating system had not written yet.
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
from fairjudge.records.folder import replacing
from fairjudge.records.sealed import seal, unseal

FILE = "spending.json"
_LENGTH = 256
"""Length of the line in bytes; three numbers and a checksum take at most 150."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Base of dataclasses of numbers, which are added and subtracted field by field."""

    def __add__(self, other: Self) -> Self:
        return self._with(other, operator.add)

    def __sub__(self, other: Self) -> Self:
        return self._with(other, operator.sub)

    def _with(self, other: Self, operation: Callable[[Any, Any], Any]) -> Self:
        names = self.__dataclass_fields__
        return type(self)(
            **{name: operation(getattr(self, name), getattr(other, name)) for name in names}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending(Counts):
    """Requests, their cost in US dollars, and how many of them have an estimated price."""

    n_calls: int = 0
    cost_usd: float = 0.0
    n_unpriced: int = 0

    @property
    def known_cost_usd(self) -> float | None:
        """The cost, None where the price of a request is unknown."""
        return None if self.n_unpriced else self.cost_usd


NOTHING = Spending()


def read_spending(path: Path) -> Spending | None:
    """Read the file at `path`; return None where there is none.

    Raises `RunError` where `SpendingFile` did not write it: the spending is then unknown.
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
            f"{path}: does not say what earlier starts spent; delete it to count from nothing"
        ) from None


class SpendingFile:
    """The file at ``path``, created at the first spending.

    ``earlier`` is the spending of earlier starts as the file states it, `known` without a file.
    """

    def __init__(self, path: Path, *, known: Spending = NOTHING) -> None:
        self.path = path
        self.earlier = read_spending(path) or known
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
        """Close the file; `remove` it once its content is recorded elsewhere."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if remove:
            self.path.unlink(missing_ok=True)

    def _open(self, line: bytes) -> BinaryIO:
        """Open the file; a new one appears under its name only with `line` on disk."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as draft, draft.open("wb") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        return self.path.open("r+b", buffering=0)
