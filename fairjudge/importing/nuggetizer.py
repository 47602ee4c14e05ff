"""Nuggetizer's nuggets, and their assignments to a run's answers.

The nuggets of a query are the groups of one question, which is the query's text. An assignment is a
checklist, with the answer as a summary.

Source: castorini/nuggetizer d00dc3e, ``src/nuggetizer/cli/adapters.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any, TypeAlias

from fairjudge.domain import Reference, Summary
from fairjudge.errors import InputError
from fairjudge.importing.nuggetbank import NO_DOCUMENT
from fairjudge.importing.records import Entry, Recorded, make
from fairjudge.importing.sources import Source, given, items, present, text, text_or_none

Json: TypeAlias = Mapping[str, Any]
PEER = "nuggetizer"
"""Where a question keeps what is a nugget's alone."""
ASSIGNED = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def recognises(source: Source) -> bool:
    """Say whether the first row has the nuggets of a query."""
    return {"qid", "nuggets"} <= source.first.keys()


def read(source: Source) -> Iterator[Entry]:
    """Yield a reference for each query; for each assignment a summary and a judgement."""
    references: dict[str, Reference] = {}
    for line, row in source.records():
        with source.at(line):
            eid = text(row, "qid")
            nuggets = list(items(row, "nuggets"))
            reference = _reference(eid, row, nuggets)
            if references.setdefault(eid, reference) != reference:
                raise InputError(
                    f"other nuggets of {eid!r} than in an earlier row", field="nuggets"
                )
            assigned = any("assignment" in nugget for nugget in nuggets)
            found = list(_assignment(line, eid, row, nuggets)) if assigned else []
            if references[eid] is reference:
                yield reference
            yield from found


def _reference(eid: str, row: Json, nuggets: list[Json]) -> Reference:
    words = [text(nugget, "text") for nugget in nuggets]
    if not words:
        raise InputError("missing", field="nuggets")
    said = [text_or_none(nugget, "importance") for nugget in nuggets]
    importance = [one if one in ("vital", "okay") else None for one in said]
    kept = [{"importance": one} if one and one not in ("vital", "okay") else {} for one in said]
    question = {
        "question": given(row, "query", "text") or eid,
        "answer_groups": [[{"aid": NO_DOCUMENT["aid"], "answer": one}] for one in words],
        **({"group_importance": importance} if any(importance) else {}),
        **({PEER: kept} if any(kept) else {}),
    }
    return make(Reference, {"eid": eid, "articles": [NO_DOCUMENT], "question_answers": [question]})


def _assignment(line: int, eid: str, row: Json, nuggets: list[Json]) -> Iterator[Entry]:
    """Yield what was assigned: an answer of a run, or a document that was retrieved."""
    system = given(row, "run_id", "docid")
    if system is None:
        raise InputError("missing", field="run_id")
    said = text_or_none(row, "answer_text") or text_or_none(row, "candidate_text")
    if said:
        yield make(Summary, {"eid": eid, "system": system, "text": said})
    covered = [ASSIGNED.get(text_or_none(nugget, "assignment") or "") for nugget in nuggets]
    known = [one for one in covered if one is not None]
    checklist = [{"unit": f"answer:0.{n}", "covered": one} for n, one in enumerate(covered)]
    scored = len(known) == len(covered)
    yield Recorded(
        line=line,
        eid=eid,
        system=system,
        aspect="coverage",
        protocol="checklist",
        judge=given(row, "judge") or "nuggetizer",
        value=fmean(known) if scored else None,
        detail="a nugget has no assignment",
        extra={**({"checklist": checklist} if scored else {}), **present(row, "response_length")},
    )
