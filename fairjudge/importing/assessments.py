"""What tracing tools keep of an answer: a judge's feedback, and people's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairjudge.importing.records import Entry, RecordedJudgement, Skipped, make_label


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """One assessment, by a person or a judge.

    ``item`` has eid, system, unit and aspect; ``value`` is as the tool wrote it, ``number`` what it
    is as a score. ``person`` is who gave it, where it was a person; else it is ``judge``'s.
    """

    line: int
    item: Mapping[str, Any]
    value: object
    number: float | None
    person: str | None
    judge: str
    tool: str
    by_code: bool = False
    error: str | None = None
    reason: str | None = None
    probabilities: Mapping[str, float] | None = field(default=None)

    def entry(self) -> Entry:
        """Return the assessment as a label or a judgement; skipped if its value is not a number."""
        words = "; --options gives words their values" if isinstance(self.value, str) else ""
        if self.person is not None:
            if self.number is None:
                return Skipped(line=self.line, why=f"a label that is no number{words}")
            return make_label(**self.item, annotator=self.person, value=self.number)
        if self.value is not None and self.number is None and self.error is None:
            return Skipped(line=self.line, why=f"feedback that is no number{words}")
        return RecordedJudgement(
            line=self.line,
            **self.item,
            judge=self.judge,
            value=None if self.error is not None else self.number,
            unscored="backend" if self.error is not None else None,
            detail=self.error or f"{self.tool} has no value",
            probabilities=self.probabilities,
            scored_by="code" if self.by_code else "llm",
            extra={"reason": self.reason} if self.reason else {},
        )


def object_in(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object under `name`, also where it stands as JSON text, as in a CSV file."""
    value = row.get(name)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}
