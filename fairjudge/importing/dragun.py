"""DRAGUN's assessments of whether a run's report covers each answer of the rubric.

Rows with ``auto_assessment`` or ``assessment`` are judgements by its AutoJudge, those with
``annotation`` are labels by its assessors. A report that contradicts an answer does not cover it:
the value is 0, and ``contradicted`` is true.

Source: trec-dragun/resources 4b60fb6, ``auto_judge/output`` and ``utils/score.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fairjudge.errors import InputError
from fairjudge.importing.records import Entry, RecordedJudgement, make_label
from fairjudge.importing.sources import Json, Source, first_text, text, text_or_none

_VALUES = {"supports": 1.0, "partial": 0.5, "none": 0.0, "contradicts": 0.0}
_VERDICTS = ("auto_assessment", "assessment", "annotation")
_ASPECT = "coverage"
_ITEM = ("topic_id", "run_tag", "answer_id")


def recognises(source: Source) -> bool:
    """Return whether the rows are assessments of reports by answer."""
    return source.first.keys() >= {*_ITEM} and not {*_VERDICTS}.isdisjoint(source.first)


def read(source: Source) -> Iterator[Entry]:
    """Yield a judgement or a label per row; ``unit`` is the answer's id."""
    for line, row in source.records():
        with source.locate_errors(line):
            name = next((name for name in _VERDICTS if row.get(name) is not None), _VERDICTS[0])
            yield _entry(line, row, name)


def _entry(line: int, row: Json, name: str) -> Entry:
    eid, system, unit = (text(row, item_field) for item_field in _ITEM)
    verdict_text = text_or_none(row, name)
    verdict = (verdict_text or "").strip().casefold()
    if verdict_text and verdict not in _VALUES:
        expected = f"expected one of {', '.join(_VALUES)}"
        raise InputError(f"{expected}, not {verdict_text[:20]!r}", field=name)
    value = _VALUES.get(verdict)
    extra: dict[str, Any] = {"contradicted": True} if verdict == "contradicts" else {}
    extra |= {"question_id": question_id} if (question_id := first_text(row, "question_id")) else {}
    if name == "annotation":
        annotator = first_text(row, "assessor", "annotator") or "assessor"
        item = {"eid": eid, "system": system, "aspect": _ASPECT, "unit": unit}
        return make_label(**item, annotator=annotator, value=value, **extra)
    return RecordedJudgement(
        line=line,
        eid=eid,
        system=system,
        aspect=_ASPECT,
        unit=unit,
        judge=first_text(row, "judge") or "dragun",
        value=value,
        detail="the file has no verdict",
        reply=text_or_none(row, name.replace("assessment", "rationale")),
        extra=extra,
    )
