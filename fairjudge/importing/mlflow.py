"""MLflow's assessments of traces: judges' feedback, and people's.

Source: mlflow/mlflow, ``mlflow/entities/assessment.py`` (``to_dictionary``) and
``genai/judges/decisions.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fairjudge.importing.assessments import Assessment
from fairjudge.importing.records import Entry, Skipped
from fairjudge.importing.sources import Source, given, items, mapping, score, text

_NAMES = ("assessment_name", "name")
"""The former is what MLflow writes, the latter its classes' own word."""
_PROBABILITY = "openai.decisions.probability"
_PROBABILITIES = "openai.decisions.probabilities"


def recognises(source: Source) -> bool:
    """Say whether the rows are assessments, or traces with them."""
    first = source.first
    info = first.get("info")
    return _is_assessment(first) or (isinstance(info, dict) and "assessments" in info)


def read(source: Source) -> Iterator[Entry]:
    """Yield each assessment. One that a later one overrides is skipped."""
    for line, row in source.records():
        with source.at(line):
            if _is_assessment(row):
                yield _entry(row, line, {}, source)
                continue
            info = mapping(row, "info")
            found = list(items(info, "assessments"))
            if not found:
                yield Skipped(line=line, why="the trace has no assessment")
            for one in found:
                yield _entry(one, line, info, source)


def _is_assessment(row: Mapping[str, Any]) -> bool:
    named = {*_NAMES} & row.keys()
    return bool(named) and "source" in row and bool({"feedback", "expectation"} & row.keys())


def _entry(found: Mapping[str, Any], line: int, info: Mapping[str, Any], source: Source) -> Entry:
    if found.get("valid") is False:
        return Skipped(line=line, why="a later assessment overrides it")
    who = mapping(found, "source")
    kind, name = text(who, "source_type").upper(), given(who, "source_id")
    feedback = mapping(found, "feedback")
    value = (feedback or mapping(found, "expectation")).get("value")
    aspect = given(found, *_NAMES) or text(found, "name")
    if kind != "HUMAN" and not feedback and not found.get("error"):
        return Skipped(line=line, why="an expectation that no person stated")
    error = mapping(found, "error") or mapping(feedback, "error")
    message = given(error, "error_message", "error_code") or "MLflow has no value"
    return Assessment(
        line=line,
        item={**_item(found, info), "aspect": aspect},
        value=value,
        number=source.score(value),
        person=(name or "human") if kind == "HUMAN" else None,
        judge=name or f"mlflow/{aspect}",
        tool="MLflow",
        by_code=kind == "CODE",
        error=message if error else None,
        reason=given(found, "rationale"),
        probabilities=_probabilities(mapping(found, "metadata")),
    ).entry()


def _item(found: Mapping[str, Any], info: Mapping[str, Any]) -> dict[str, str]:
    """Return what was judged; ``eid`` and ``system`` of tags and metadata go before."""
    traces = mapping(info, "trace_metadata")
    named = {**mapping(info, "tags"), **traces, **mapping(found, "metadata")}
    trace = given(found, "trace_id") or given(info, "trace_id", "request_id")
    return {
        "eid": given(named, "eid") or trace or text(found, "trace_id"),
        "system": given(named, "system") or given(traces, "mlflow.modelId") or "mlflow",
        "unit": given(named, "unit") or given(found, "span_id") or "summary",
    }


def _probabilities(metadata: Mapping[str, Any]) -> Mapping[str, float] | None:
    """Return the distribution that a decision model gave, which stands as JSON text."""
    stated = metadata.get(_PROBABILITIES)
    try:
        found = json.loads(stated) if isinstance(stated, str) else None
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict):
        numbers = {str(answer): score(chance) for answer, chance in found.items()}
        known = {answer: chance for answer, chance in numbers.items() if chance is not None}
        return known if len(known) == len(numbers) else None
    chance = score(metadata.get(_PROBABILITY))
    return None if chance is None else {"yes": chance, "no": 1.0 - chance}
