"""The record of tests used by ``calibrate align``: ``align.json``, one entry per use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairjudge.datasets import read_json
from fairjudge.errors import InputError, RunError
from fairjudge.records.folder import write_atomically
from fairjudge.text.counting import pluralize

FILE = "align.json"


class Opening(BaseModel):
    """One use of a test.

    ``test`` is a hash of its items and labels, ``documents`` are its documents, ``candidates`` is a
    hash of all candidates with the old prompt and the model, ``chosen`` is the tested candidate.
    ``report`` is missing until the test is completely judged.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    when: str
    test: str = Field(pattern=r"^[0-9a-f]{64}$")
    documents: tuple[str, ...]
    candidates: str = Field(pattern=r"^[0-9a-f]{64}$")
    names: tuple[str, ...]
    chosen: str
    report: Mapping[str, Any] | None = None

    def same_as(self, other: Opening) -> bool:
        """Whether both are of the same test, set of candidates and chosen candidate."""
        names = ("test", "candidates", "chosen")
        return all(getattr(self, name) == getattr(other, name) for name in names)


class AlignRecord(BaseModel):
    """The content of ``align.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fairjudge_align: Literal[1] = 1
    openings: tuple[Opening, ...] = ()

    def openings_with(self, documents: Iterable[str]) -> tuple[Opening, ...]:
        """Return the openings whose test has one of `documents`."""
        test = set(documents)
        return tuple(entry for entry in self.openings if test.intersection(entry.documents))

    def other_openings(self, opening: Opening) -> tuple[Opening, ...]:
        """Return the other openings whose test shares a document with this one."""
        entries = self.openings_with(opening.documents)
        return tuple(entry for entry in entries if not entry.same_as(opening))

    def find(self, opening: Opening) -> Opening | None:
        """Return the recorded entry of this opening, or None if it is new."""
        return next((entry for entry in self.openings if entry.same_as(opening)), None)

    def with_opening(self, opening: Opening) -> AlignRecord:
        """Return a copy with `opening` added, or replaced where it exists."""
        openings = tuple(entry for entry in self.openings if not entry.same_as(opening))
        return self.model_copy(update={"openings": (*openings, opening)})


def read_record(folder: Path) -> AlignRecord:
    """Read the record of tests used in `folder`; empty if there is no file."""
    path = folder / FILE
    if not path.exists():
        return AlignRecord()
    try:
        return AlignRecord.model_validate(read_json(path))
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(
            f"not a record of align: {error.errors()[0]['msg']}; another record does not make a "
            "used test set unused",
            path=path,
            field=field or None,
        ) from None


def write_record(folder: Path, record: AlignRecord) -> None:
    """Write `record` atomically."""
    write_atomically(folder / FILE, record.model_dump_json(indent=1) + "\n")


def check_sealed(
    record: AlignRecord, documents: Iterable[str], *, reopen: bool, **known: str
) -> None:
    """Raise an error if the test was used before, for other candidates or in another split.

    `documents` are the documents of the test. ``known`` are the known fields of the current opening
    (``test``, ``candidates``, ``chosen``): a recorded opening that matches all of them may be the
    same one. `reopen` allows another use, which is counted.
    """
    earlier = record.openings_with(documents)
    if reopen or not earlier:
        return
    if not any(
        all(getattr(entry, name) == value for name, value in known.items()) for entry in earlier
    ):
        raise RunError(
            f"documents of this test set were used {pluralize(len(earlier), 'time')} before (last "
            f"for {earlier[-1].chosen!r}, {earlier[-1].when}): a test set that selects is no "
            "longer held-out. Label new documents, or use it again with --reopen, which is counted"
        )
