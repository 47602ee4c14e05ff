"""What tracing tools keep of an answer: a judge's feedback, and people's."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fairjudge.importing.records import Entry, RecordedJudgement, Skipped, make_label
from fairjudge.importing.sources import Json, Source


def assessed(
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

    `item` has eid, system, unit and aspect; `value` is as the `tool` wrote it. `person` is who gave
    it, where it was a person; else it is the `judge`'s, which is named after the tool by default.
    """
    number = source.score(value)
    words = "; --options gives words their values" if isinstance(value, str) else ""
    if person is not None:
        if number is None:
            return Skipped(line=line, why=f"a label that is no number{words}")
        return make_label(**item, annotator=person, value=number)
    if value is not None and number is None and error is None:
        return Skipped(line=line, why=f"feedback that is no number{words}")
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
    """Return the object under `name`, also where it stands as JSON text, as in a CSV file."""
    value = row.get(name)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}
