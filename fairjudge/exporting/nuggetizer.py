"""Nuggetizer's nuggets (groups of answers) and their assignments (coverage checklists).

Source: castorini/nuggetizer d00dc3e, ``src/nuggetizer/cli/adapters.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairjudge.datasets.writers import json_line
from fairjudge.domain import Judgement, Reference
from fairjudge.errors import InputError
from fairjudge.exporting.targets import ExportResult, Request, group_text
from fairjudge.importing.nuggetizer import ASSIGNMENT_VALUES, PEER

_ASSIGNMENTS = {value: word for word, value in ASSIGNMENT_VALUES.items()}


def write(references: Sequence[Reference]) -> tuple[Iterator[bytes], ExportResult]:
    """Return one query per line, with the groups of all its questions as nuggets."""
    rows = (
        {**_query(reference), "nuggets": list(_nuggets(reference).values())}
        for reference in references
    )
    return map(json_line, rows), ExportResult(n_rows=len(references))


def write_assignments(request: Request) -> tuple[Iterator[bytes], ExportResult]:
    """Return one coverage checklist per line; other judgements are omitted."""
    rows = [
        _assignments(judgement, request)
        for judgement in request.judgements
        if judgement.checklist is not None
    ]
    if not rows:
        raise InputError("assignments require coverage checklists; there is none to export")
    n_left_out = len(request.judgements) - len(rows)
    return map(json_line, rows), ExportResult(n_rows=len(rows), n_left_out=n_left_out)


def _assignments(judgement: Judgement, request: Request) -> dict[str, Any]:
    reference = request.references.get(judgement.eid)
    if reference is None:
        raise InputError(f"no reference {judgement.eid!r}", field="--references")
    nuggets = _nuggets(reference)
    entries = judgement.checklist or ()
    unknown_unit = next((entry.unit for entry in entries if entry.unit not in nuggets), None)
    if unknown_unit is not None:
        raise InputError(f"the reference {judgement.eid!r} has no group {unknown_unit!r}")
    text = request.texts.get((judgement.eid, str(judgement.system)), "")
    length = (judgement.model_extra or {}).get("response_length", len(text.split()))
    return {
        **_query(reference),
        "answer_text": text,
        "response_length": length,
        "run_id": judgement.system,
        "nuggets": [
            {**nuggets[entry.unit], "assignment": _ASSIGNMENTS[float(entry.covered)]}
            for entry in entries
        ],
    }


def _query(reference: Reference) -> dict[str, Any]:
    """Return the query: the only question, or else the cluster id."""
    questions = reference.question_answers
    return {
        "query": questions[0].question if len(questions) == 1 else reference.eid,
        "qid": reference.eid,
    }


def _nuggets(reference: Reference) -> Mapping[str, dict[str, Any]]:
    """Return the nuggets by unit, such as ``answer:0.1``."""
    return {
        f"answer:{q}.{g}": {
            "text": group_text(group),
            **({} if group.importance is None else {"importance": group.importance}),
            **((question.model_extra or {}).get(PEER) or {g: {}})[g],
        }
        for q, question in enumerate(reference.question_answers)
        for g, group in enumerate(question.groups())
        if group_text(group)
    }
