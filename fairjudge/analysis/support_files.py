"""Scores that other programs, or an earlier run, found: kinds of records, and a writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from fairjudge.datasets._loading import Kind
from fairjudge.datasets.writers import write_jsonl
from fairjudge.domain import Id, Record
from fairjudge.fairness.support import Support, SupportRecord


class ValueScoreRecord(Record):
    """A summary's score against the text of each attribute value, such as a BERTScore."""

    eid: Id
    system: Id
    scores: Mapping[str, float] = Field(min_length=1)


class ValueShareRecord(Record):
    """How much of a summary people give to each attribute value, in any unit.

    ``facts`` say it fact by fact, in place of ``shares``: the values whose sources have it, none
    for one that is made up (FairSumm, appendix E). Each value of a fact counts one, as a term does
    in unigram matching.
    """

    eid: Id
    system: Id
    shares: Mapping[str, float] = Field(default_factory=dict)
    facts: tuple[tuple[str, ...], ...] = ()

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if bool(self.shares) == bool(self.facts):
            raise ValueError("expected either 'shares' or 'facts'")
        return self

    def counted(self) -> Mapping[str, float]:
        """Return the shares, or how many facts each value has."""
        return self.shares or Counter(value for fact in self.facts for value in sorted(set(fact)))

    @property
    def n_made_up(self) -> int:
        """How many facts no source has."""
        return sum(not fact for fact in self.facts)


class LeaningRecord(Record):
    """Which attribute value a summary leans to, by one annotator; ``fair`` for none."""

    eid: Id
    system: Id
    leaning: Id
    annotator: Id = "1"


class UnitsRecord(Record):
    """The content units of a summary, as ``fairjudge fairness split`` writes them."""

    eid: Id
    system: Id
    units: tuple[str, ...]


_SAMPLE = ("eid", "system")
SUPPORTS = Kind(
    model=SupportRecord,
    name="supports",
    fields="a support with 'eid', 'system', 'aids', 'units' and 'support'",
    unique=_SAMPLE,
)
VALUE_SCORES = Kind(
    model=ValueScoreRecord,
    name="scores",
    fields="a score with 'eid', 'system' and 'scores' by value",
    unique=_SAMPLE,
)
VALUE_SHARES = Kind(
    model=ValueShareRecord,
    name="shares",
    fields="shares by people with 'eid', 'system' and 'shares' by value, or 'facts'",
    unique=_SAMPLE,
)
LEANINGS = Kind(
    model=LeaningRecord,
    name="leanings",
    fields="a leaning with 'eid', 'system' and 'leaning', a value or 'fair'",
    unique=(*_SAMPLE, "annotator"),
)
UNITS = Kind(
    model=UnitsRecord,
    name="units",
    fields="units with 'eid', 'system' and 'units'",
    unique=_SAMPLE,
)


def write_supports(path: str | Path, supports: Iterable[Support]) -> None:
    """Write supports so that ``read_records(path, SUPPORTS)`` gives them back."""
    write_jsonl(path, (_row(support) for support in supports))


def _row(support: Support) -> dict[str, object]:
    row: dict[str, object] = {
        "eid": support.eid,
        "system": support.system,
        "aids": list(support.aids),
        "units": list(support.units),
        "support": support.probabilities.tolist(),
        "kind": support.kind,
    }
    if support.arg_max is not None:
        row["arg_max"] = support.arg_max.tolist()
    if support.between_units is not None:
        row["between_units"] = support.between_units.tolist()
    return row
