"""What a reply's prose prefers of two summaries, all its clauses weighed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fairjudge.parsing._answers import Answer
from fairjudge.parsing._pairs import Statement as Preference
from fairjudge.parsing._pairs import pair_statements
from fairjudge.parsing._stated import Rank, Statement, several
from fairjudge.scales import Scale


def preferences(text: str, scale: Scale) -> Iterator[Statement]:
    """Yield the preference that the prose concludes with; several that disagree are no verdict."""
    offered = {level.value for level in scale.levels}
    stated = [s for s in pair_statements(text) if s.position in offered]
    yield from (stating(s, Rank.FINAL) for s in stated if s.labelled)
    found = [s for s in stated if not s.labelled]
    if not found:
        return
    concluding = [s for s in found if s.concludes]
    last = (concluding or found)[-1]
    disagree = len({s.position for s in concluding or found}) > 1
    one = stating(last, Rank.MENTIONED)
    if disagree and not (concluding and last.turns):
        one = replace(one, answer=several(one.answer, last.end))
    yield one


def stating(said: Preference, rank: Rank) -> Statement:
    answer = Answer(start=said.start, end=said.end, value=said.position)
    return Statement(answer=answer if said.position else several(answer, said.end), rank=rank)
