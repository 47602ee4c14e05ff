"""The record of a study: ``study.json`` in its folder, one entry per step."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from fairjudge.datasets import read_json
from fairjudge.errors import InputError
from fairjudge.files import read_file
from fairjudge.records.folder import acquire_lock, run_rows, write_atomically
from fairjudge.records.spending import FILE as SPENDING
from fairjudge.records.spending import Spending, SpendingFile

FILE = "study.json"
_FORM = "fairjudge_study"
_LOCK = ".lock"
KEY_LENGTH = 16
"""Number of hexadecimal digits of a step's key, the last part of its run folder's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """The result of a step.

    ``told`` is the result in a few words, ``findings`` are sentences, ``next_step`` suggests a
    command. ``n_lost`` of ``n_items`` failed, were refused or are empty; the next run repeats the
    ``n_again`` of these that may succeed.
    """

    told: str
    findings: tuple[str, ...] = ()
    next_step: str = ""
    n_items: int = 0
    n_lost: int = 0
    n_again: int = 0


@dataclass(slots=True)
class StudyRecord:
    """The entries of ``study.json``, by step."""

    folder: Path
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        path = self.folder / FILE
        if not path.exists():
            self._check_empty()
            return
        record = read_json(path)
        if not isinstance(record, dict) or not isinstance(record.get(_FORM), dict):
            raise InputError("not the record of a study; choose another folder", path=path)
        self.entries = record[_FORM]

    def _check_empty(self) -> None:
        """Reject a folder with other files, which steps might overwrite."""
        if any(file.name != _LOCK for file in self.folder.iterdir()):
            raise InputError(
                "this folder contains other files than a study's; choose another with -o",
                path=self.folder,
            )

    def get(self, step: str, *, key: str) -> StepRecord | None:
        """Return the recorded result of `step`; None if its inputs or outputs have changed."""
        entry = self.entries.get(step)
        if entry is None or entry["key"] != key or entry.get("n_again", entry["n_lost"]):
            return None
        if any(_digest(self.folder / name) != digest for name, digest in entry["makes"].items()):
            return None
        fields = {name: entry[name] for name in ("told", "next_step", "n_items", "n_lost")}
        return StepRecord(findings=tuple(entry["findings"]), **fields)

    def add(
        self, step: str, record: StepRecord, *, key: str, makes: Sequence[Path], seconds: float
    ) -> None:
        """Record the result of `step`."""
        digests = {path.relative_to(self.folder).as_posix(): _digest(path) for path in makes}
        self.entries[step] = {"key": key, "makes": digests, "seconds": round(seconds, 1)}
        self.entries[step] |= asdict(record)
        self._write()

    def keep_only(self, steps: Sequence[str]) -> None:
        """Remove the entries of steps other than `steps`."""
        self.entries = {name: self.entries[name] for name in steps if name in self.entries}
        self._write()

    def _write(self) -> None:
        text = json.dumps({_FORM: self.entries}, indent=1, ensure_ascii=False)
        write_atomically(self.folder / FILE, text + "\n")


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a study's folder against a second run."""
    lock = FileLock(folder / _LOCK)
    busy = f"{folder}: this study is running already"
    acquire_lock(lock, busy=busy, unusable=f"{folder}: cannot use this folder")
    try:
        yield
    finally:
        lock.release()


def content_key(settings: Mapping[str, Any], reads: Sequence[Path]) -> str:
    """Return a key that changes with a step's settings and the content of its inputs."""
    content = {"settings": settings, "reads": [_digest(path) for path in reads]}
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]


def spending_file(folder: Path, runs: Path) -> SpendingFile:
    """Return the file that records the cost of all runs of the study in `folder`.

    Studies of earlier versions have no such file; their costs are read from the folder `runs`.
    """
    n_calls, cost, n_unpriced = 0, 0.0, 0
    for path in sorted(runs.rglob("spent.jsonl")):
        for row in run_rows(path):
            n_calls += row["n_calls"]
            cost += row["cost_usd"] or 0.0
            n_unpriced += row["cost_usd"] is None
    recorded_spending = Spending(n_calls=n_calls, cost_usd=cost, n_unpriced=n_unpriced)
    return SpendingFile(folder / SPENDING, default=recorded_spending)


def _digest(path: Path) -> str | None:
    """Return the file's SHA-256, or None if it does not exist."""
    return hashlib.sha256(read_file(path)).hexdigest() if path.is_file() else None
