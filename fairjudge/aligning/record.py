"""The tests that ``calibrate align`` has opened so far: ``align.json``, one entry an opening."""

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
    """One opening of a test.

    ``test`` is a hash of its items and labels, ``documents`` are its documents, ``candidates`` is a
    hash of all that was tried with the old prompt and the model, ``chosen`` the one that the test
    was opened for. ``report`` is missing until the test is judged whole.
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
        """Say whether both open one test for one candidate of one set."""
        names = ("test", "candidates", "chosen")
        return all(getattr(self, name) == getattr(other, name) for name in names)


class AlignRecord(BaseModel):
    """The content of ``align.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fairjudge_align: Literal[1] = 1
    openings: tuple[Opening, ...] = ()

    def sharing(self, documents: Iterable[str]) -> tuple[Opening, ...]:
        """Return the openings that have read one of `documents`."""
        test = set(documents)
        return tuple(entry for entry in self.openings if test.intersection(entry.documents))

    def before(self, opening: Opening) -> tuple[Opening, ...]:
        """Return the other openings that have read a document of this test."""
        entries = self.sharing(opening.documents)
        return tuple(earlier for earlier in entries if not earlier.same_as(opening))

    def find(self, opening: Opening) -> Opening | None:
        """Return the recorded entry of this opening; None if it is new."""
        return next((earlier for earlier in self.openings if earlier.same_as(opening)), None)

    def with_opening(self, opening: Opening) -> AlignRecord:
        """Return a copy with `opening` added, or replaced where it exists."""
        openings = tuple(earlier for earlier in self.openings if not earlier.same_as(opening))
        return self.model_copy(update={"openings": (*openings, opening)})


def read_record(folder: Path) -> AlignRecord:
    """Read the record of test sets opened in `folder`; empty where there is no file."""
    path = folder / FILE
    if not path.exists():
        return AlignRecord()
    try:
        return AlignRecord.model_validate(read_json(path))
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(
            f"not a record of align: {error.errors()[0]['msg']}; another record does not make a "
            "used test set unused",
            path=path,
            field=where or None,
        ) from None


def write_record(folder: Path, record: AlignRecord) -> None:
    """Write `record` whole or not at all."""
    write_atomically(folder / FILE, record.model_dump_json(indent=1) + "\n")


def check_sealed(
    record: AlignRecord, documents: Iterable[str], *, reopen: bool, **known: str
) -> None:
    """Reject a test that was opened before, for other candidates or in another split.

    `documents` are those of the test. ``known`` is what is known so far of the opening (``test``,
    ``candidates``, ``chosen``): a recorded one that agrees in all of it may be this very one.
    `reopen` opens the test again; it is counted then.
    """
    before = record.sharing(documents)
    if reopen or not before:
        return
    if not any(all(getattr(entry, n) == value for n, value in known.items()) for entry in before):
        raise RunError(
            f"documents of this test set were used {pluralize(len(before), 'time')} before (last "
            f"for {before[-1].chosen!r}, {before[-1].when}): a test set that selects is no longer "
            "held-out. Label new documents, or use it again with --reopen, which is counted"
        )
