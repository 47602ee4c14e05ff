"""What was spent on a run, in a file: what a start that is killed has sent stays counted.

One line of fixed length, written in place before each request is sent and after it is answered: a
kill loses nothing, and no record grows. It is forced to disk when it is made; after that a loss of
power loses what the system had not written yet.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from fairjudge.errors import RunError
from fairjudge.files import read_file
from fairjudge.records.folder import replacing
from fairjudge.records.sealed import seal, unseal

FILE = "spending.json"
_LENGTH = 256
"""Bytes of the line: three numbers and a checksum are at most 150."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Requests, US dollars, and requests of unknown price, which the dollars hold by estimate."""

    n_calls: int = 0
    cost_usd: float = 0.0
    n_unpriced: int = 0

    def __add__(self, other: Spending) -> Spending:
        return Spending(
            n_calls=self.n_calls + other.n_calls,
            cost_usd=self.cost_usd + other.cost_usd,
            n_unpriced=self.n_unpriced + other.n_unpriced,
        )

    def __sub__(self, other: Spending) -> Spending:
        return Spending(
            n_calls=self.n_calls - other.n_calls,
            cost_usd=self.cost_usd - other.cost_usd,
            n_unpriced=self.n_unpriced - other.n_unpriced,
        )


NOTHING = Spending()


def read_spending(path: Path) -> Spending | None:
    """Return what the file at `path` says; None where there is none.

    `RunError` where it is not as `SpendingFile` wrote it: what was spent is then not known.
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
    """The file at ``path``, which is made when something is first spent.

    ``earlier`` is what it said before, the spending of other starts; `known` where there was none.
    """

    def __init__(self, path: Path, *, known: Spending = NOTHING) -> None:
        self.path = path
        self.earlier = read_spending(path) or known
        self._file: BinaryIO | None = None

    def write(self, spending: Spending) -> None:
        """Say that `spending` was spent in all; `RunError` where that cannot be written."""
        line = seal(asdict(spending)).ljust(_LENGTH - 1) + b"\n"
        try:
            if self._file is None:
                self._file = self._made(line)
            self._file.seek(0)
            self._file.write(line)
        except OSError as error:
            raise RunError(f"{self.path}: cannot write: {error.strerror}") from None

    def close(self, *, remove: bool) -> None:
        """Close the file; `remove` it where all of it is written down elsewhere."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if remove:
            self.path.unlink(missing_ok=True)

    def _made(self, line: bytes) -> BinaryIO:
        """Open the file; where it is new, with `line` on disk before it has its name."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as draft, draft.open("wb") as made:
                made.write(line)
                made.flush()
                os.fsync(made.fileno())
        return self.path.open("r+b", buffering=0)
