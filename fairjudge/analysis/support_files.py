"""Files of supports and scores from other programs or earlier runs: record kinds, a writer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Self

from pydantic import Field, model_validator

from fairjudge.datasets._loading import Kind
from fairjudge.datasets.writers import write_jsonl
from fairjudge.domain import Id, Record
from fairjudge.errors import InputError
from fairjudge.fairness.support import Support, SupportRecord


class ValueScoreRecord(Record):
    """A summary's score against the text of each attribute value, such as a BERTScore."""

    eid: Id
    system: Id
    scores: Mapping[str, float] = Field(min_length=1)


class ValueShareRecord(Record):
    """The human share of each attribute value in a summary, in any unit.

    Instead of ``shares``, ``facts`` has, per fact, the values whose sources contain it, or no value
    for a hallucinated fact (FairSumm, appendix E). Each value of a fact counts one, like a term in
    unigram matching. Alternatively the record is a label of ``annotate --task values``: whether
    sources of ``attribute_value`` support ``unit``.
    """

    eid: Id
    system: Id
    shares: Mapping[str, float] = Field(default_factory=dict)
    facts: tuple[tuple[str, ...], ...] = ()
    attribute_value: Id | None = None
    value: float | None = None
    unit: str = ""
    annotator: str = ""

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        is_label = self.attribute_value is not None and self.value is not None
        if bool(self.shares) + bool(self.facts) + is_label != 1:
            raise ValueError("expected 'shares', 'facts', or 'attribute_value' and 'value'")
        return self

    def counted(self) -> Mapping[str, float]:
        """Return the shares, or the number of facts per value; empty for a label."""
        return self.shares or Counter(value for fact in self.facts for value in sorted(set(fact)))


def shares_of_people(
    records: Iterable[ValueShareRecord],
) -> dict[tuple[str, str], Mapping[str, float]]:
    """Return the human shares of each value, by summary.

    With labels, a sentence comes from a value if more than half of its annotators say so; summaries
    without such sentences are omitted. Raises `InputError` for duplicate shares.
    """
    shares: dict[tuple[str, str], Mapping[str, float]] = {}
    votes_by_summary: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = {}
    for record in records:
        summary = record.eid, record.system
        if record.attribute_value is not None and record.value is not None:
            votes = votes_by_summary.setdefault(summary, defaultdict(list))
            votes[record.unit, record.attribute_value].append(record.value)
        elif summary in shares:
            raise InputError(f"two lines have the shares of {record.system!r} for {record.eid!r}")
        else:
            shares[summary] = record.counted()
    for summary, units in votes_by_summary.items():
        counts = Counter(value for (_, value), votes in units.items() if fmean(votes) > 0.5)
        if counts:
            shares[summary] = counts
    return shares


class LeaningRecord(Record):
    """The attribute value that a summary favours according to one annotator; ``fair`` for none."""

    eid: Id
    system: Id
    leaning: Id
    annotator: Id = "1"


class UnitsRecord(Record):
    """The content units of a summary, written by ``fairjudge fairness split``."""

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
    fields="shares by people with 'eid', 'system' and 'shares' by value, 'facts' or labels",
    unique=(*_SAMPLE, "unit", "annotator"),
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
    """Write supports, to be read by ``read_records(path, SUPPORTS)``."""
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
