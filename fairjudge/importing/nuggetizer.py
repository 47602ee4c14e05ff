"""Nuggetizer's nuggets, and their assignments to a run's answers.

The nuggets of a query are the groups of one question, the query's text. An assignment is a
checklist, with the run's answer as a summary.

Source: castorini/nuggetizer d00dc3e, ``src/nuggetizer/cli/adapters.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from fairjudge.datasets._problems import validate_record
from fairjudge.domain import Reference, Summary
from fairjudge.errors import InputError
from fairjudge.importing.nuggetbank import NO_DOCUMENT
from fairjudge.importing.records import Entry, RecordedJudgement
from fairjudge.importing.sources import (
    Json,
    Source,
    first_text,
    items,
    non_null_fields,
    text,
    text_or_none,
)

PEER = "nuggetizer"
"""Key of the nuggets' own fields in a question."""
ASSIGNMENT_VALUES = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def recognises(source: Source) -> bool:
    """Return whether the first row has the nuggets of a query."""
    return {"qid", "nuggets"} <= source.first.keys()


def read(source: Source) -> Iterator[Entry]:
    """Yield a reference per query, and a summary and a judgement per assignment."""
    references: dict[str, Reference] = {}
    for line, row in source.records():
        with source.locate_errors(line):
            eid = text(row, "qid")
            nuggets = list(items(row, "nuggets"))
            reference = _reference(eid, row, nuggets)
            if references.setdefault(eid, reference) != reference:
                raise InputError(
                    f"the nuggets of {eid!r} differ from an earlier row", field="nuggets"
                )
            has_assignments = any("assignment" in nugget for nugget in nuggets)
            assignments = list(_assignment(line, eid, row, nuggets)) if has_assignments else []
            if references[eid] is reference:
                yield reference
            yield from assignments


def _reference(eid: str, row: Json, nuggets: list[Json]) -> Reference:
    texts = [text(nugget, "text") for nugget in nuggets]
    if not texts:
        raise InputError("missing", field="nuggets")
    importances = [text_or_none(nugget, "importance") for nugget in nuggets]
    known_importances = [word if word in ("vital", "okay") else None for word in importances]
    peers = [
        {"importance": word} if word and word not in ("vital", "okay") else {}
        for word in importances
    ]
    question = {
        "question": first_text(row, "query", "text") or eid,
        "answer_groups": [[{"aid": NO_DOCUMENT["aid"], "answer": word}] for word in texts],
        **({"group_importance": known_importances} if any(known_importances) else {}),
        **({PEER: peers} if any(peers) else {}),
    }
    return validate_record(
        Reference, {"eid": eid, "articles": [NO_DOCUMENT], "question_answers": [question]}
    )


def _assignment(line: int, eid: str, row: Json, nuggets: list[Json]) -> Iterator[Entry]:
    """Yield the summary and judgement of an assignment to a run's answer or a document."""
    system = first_text(row, "run_id", "docid")
    if system is None:
        raise InputError("missing", field="run_id")
    answer = text_or_none(row, "answer_text") or text_or_none(row, "candidate_text")
    if answer:
        yield validate_record(Summary, {"eid": eid, "system": system, "text": answer})
    nugget_values = [
        ASSIGNMENT_VALUES.get(text_or_none(nugget, "assignment") or "") for nugget in nuggets
    ]
    values = [value for value in nugget_values if value is not None]
    checklist = [
        {"unit": f"answer:0.{n}", "covered": value} for n, value in enumerate(nugget_values)
    ]
    is_complete = len(values) == len(nugget_values)
    yield RecordedJudgement(
        line=line,
        eid=eid,
        system=system,
        aspect="coverage",
        protocol="checklist",
        judge=first_text(row, "judge") or "nuggetizer",
        value=fmean(values) if is_complete else None,
        detail="a nugget has no assignment",
        extra={
            **({"checklist": checklist} if is_complete else {}),
            **non_null_fields(row, "response_length"),
        },
    )
