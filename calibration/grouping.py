"""Grouping of judgements by judge, aspect, protocol and unit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fairjudge.domain import Judgement, ProtocolName
from fairjudge.protocols import as_pairs, protocol_label

WHOLE = "summary"


class GroupKey(NamedTuple):
    """Key of a group of judgements: judge, aspect, protocol and unit.

    ``unit`` is the kind of unit that was judged, or against which a summary was judged:
    ``"summary"``, ``"sentence"``, ``"article"`` or ``"answer"``. Some protocols of DiverseSumm's
    Table 5 differ only in their unit.
    """

    judge: str
    aspect: str
    protocol: ProtocolName
    unit: str

    @property
    def title(self) -> str:
        """The key as text for tables."""
        return f"{self.judge}, {self.aspect}, {protocol_label(self.protocol, self.unit)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFields:
    """Base class of records about one group: its judge, aspect, protocol and unit."""

    judge: str
    aspect: str
    protocol: ProtocolName
    unit: str

    @property
    def group(self) -> GroupKey:
        """The key of the group."""
        return GroupKey(self.judge, self.aspect, self.protocol, self.unit)


def unit_kind(unit: str) -> str:
    """Return a unit's kind: ``"sentence"`` for ``"sentence:3"``; ``"part"`` for other names."""
    kind, colon, _ = unit.partition(":")
    return kind if colon or unit == WHOLE else "part"


def group_judgements(rows: Iterable[Judgement]) -> dict[GroupKey, list[Judgement]]:
    """Group judgements by `GroupKey`, in order of appearance; rankings become pairs."""
    groups: dict[GroupKey, list[Judgement]] = defaultdict(list)
    for key, row in with_group_keys(as_pairs(rows)):
        groups[key].append(row)
    return groups


def with_group_keys(judgements: Iterable[Judgement]) -> Iterator[tuple[GroupKey, Judgement]]:
    """Yield each judgement with its group's key.

    Protocols for sentences judge a summary without sentences as a whole; its judgement is in the
    group of the sentences with the same signature.
    """
    rows = tuple(judgements)
    sentences = [row for row in rows if unit_kind(row.unit) == "sentence"]
    sentence_runs = {(row.judge, row.aspect, row.protocol, row.signature) for row in sentences}
    split_summaries = {
        (row.judge, row.aspect, row.protocol, row.eid, row.system) for row in sentences
    }
    for row in rows:
        group, unit = (row.judge, row.aspect, row.protocol), unit_kind(row.unit)
        is_unsplit = unit == WHOLE and (*group, row.eid, row.system) not in split_summaries
        if is_unsplit and (*group, row.signature) in sentence_runs:
            unit = "sentence"
        yield GroupKey(*group, unit), row
