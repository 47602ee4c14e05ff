"""Assessments of answers in tracing tools, by judges and by people."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fairjudge.importing.records import Entry, RecordedJudgement, Skipped, make_label
from fairjudge.importing.sources import Json, Source


def assessment_entry(
    source: Source,
    line: int,
    item: Json,
    value: object,
    *,
    tool: str,
    person: str | None,
    judge: str | None,
    by_code: bool = False,
    error: str | None = None,
    reason: str | None = None,
    probabilities: Mapping[str, float] | None = None,
) -> Entry:
    """Return one assessment as a label or a judgement; skipped if its value is not a number.

    `item` has eid, system, unit and aspect; `value` is the one in the file of `tool`. `person` is
    the annotator, None for an assessment by `judge` (by default named after tool and aspect).
    """
    number = source.score(value)
    hint = "; define the values of words with --options" if isinstance(value, str) else ""
    if person is not None:
        if number is None:
            return Skipped(line=line, why=f"the label is not a number{hint}")
        return make_label(**item, annotator=person, value=number)
    if value is not None and number is None and error is None:
        return Skipped(line=line, why=f"the feedback is not a number{hint}")
    return RecordedJudgement(
        line=line,
        **item,
        judge=judge or f"{tool.lower()}/{item['aspect']}",
        value=None if error is not None else number,
        unscored="backend" if error is not None else None,
        detail=error or f"{tool} has no value",
        probabilities=probabilities,
        scored_by="code" if by_code else "llm",
        extra={"reason": reason} if reason else {},
    )


def object_in(row: Json, name: str) -> Json:
    """Return the object under `name`, parsed if it is JSON text (as in CSV files), else ``{}``."""
    value = row.get(name)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}
