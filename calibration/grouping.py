"""Which judgements belong together: one judge, aspect, protocol and unit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fairjudge.domain import Judgement, ProtocolName
from fairjudge.protocols import as_pairs, protocol_label

WHOLE = "summary"


class GroupKey(NamedTuple):
    """Key of a group of judgements: judge, aspect, protocol, unit and settings.

    ``unit`` is the kind of unit that was judged or that it was judged against: ``"summary"``,
    ``"sentence"``, ``"article"``, ``"answer"``. Some protocols of DiverseSumm's Table 5 differ in
    nothing else.
    """

    judge: str
    aspect: str
    protocol: ProtocolName
    unit: str

    @property
    def title(self) -> str:
        """Return the key in words."""
        return f"{self.judge}, {self.aspect}, {protocol_label(self.protocol, self.unit)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfGroup:
    """What is of one judge, aspect, protocol and unit."""

    judge: str
    aspect: str
    protocol: ProtocolName
    unit: str

    @property
    def group(self) -> GroupKey:
        """What the judgements are of."""
        return GroupKey(self.judge, self.aspect, self.protocol, self.unit)


def kind_of(unit: str) -> str:
    """Return ``"sentence"`` for ``"sentence:3"``; other files' names of parts are ``"part"``."""
    kind, colon, _ = unit.partition(":")
    return kind if colon or unit == WHOLE else "part"


def by_group(rows: Iterable[Judgement]) -> dict[GroupKey, list[Judgement]]:
    """Return judgements, rankings as pairs, by `GroupKey` in order of appearance."""
    groups: dict[GroupKey, list[Judgement]] = defaultdict(list)
    for key, row in keyed(as_pairs(rows)):
        groups[key].append(row)
    return groups


def keyed(judgements: Iterable[Judgement]) -> Iterator[tuple[GroupKey, Judgement]]:
    """Yield each judgement after its key.

    A summary in which no sentence is found is judged whole where sentences are judged: it belongs
    with the sentences of the same signature.
    """
    rows = tuple(judgements)
    sentences = [row for row in rows if kind_of(row.unit) == "sentence"]
    runs = {(row.judge, row.aspect, row.protocol, row.signature) for row in sentences}
    split = {(row.judge, row.aspect, row.protocol, row.eid, row.system) for row in sentences}
    for row in rows:
        of, unit = (row.judge, row.aspect, row.protocol), kind_of(row.unit)
        unsplit = unit == WHOLE and (*of, row.eid, row.system) not in split
        if unsplit and (*of, row.signature) in runs:
            unit = "sentence"
        yield GroupKey(*of, unit), row
