"""MLflow's assessments of traces, by judges and people.

Source: mlflow/mlflow, ``mlflow/entities/assessment.py`` (``to_dictionary``) and
``genai/judges/decisions.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairjudge.importing.assessments import assessment_entry, object_in
from fairjudge.importing.records import Entry, Skipped
from fairjudge.importing.sources import (
    Json,
    Source,
    first_text,
    items,
    judged_item,
    mapping,
    score,
    text,
)

_NAMES = ("assessment_name", "name")
"""Fields of an assessment's name, in MLflow's files and in its classes."""
_PROBABILITY = "openai.decisions.probability"
_PROBABILITIES = "openai.decisions.probabilities"


def recognises(source: Source) -> bool:
    """Return whether the rows are assessments, or traces with assessments."""
    first = source.first
    info = first.get("info")
    return _is_assessment(first) or (isinstance(info, dict) and "assessments" in info)


def read(source: Source) -> Iterator[Entry]:
    """Yield each assessment; one that a later one overrides is skipped."""
    for line, row in source.records():
        with source.locate_errors(line):
            if _is_assessment(row):
                yield _entry(row, line, {}, source)
                continue
            info = mapping(row, "info")
            assessments = list(items(info, "assessments"))
            if not assessments:
                yield Skipped(line=line, why="the trace has no assessment")
            for assessment in assessments:
                yield _entry(assessment, line, info, source)


def _is_assessment(row: Json) -> bool:
    name_fields = {*_NAMES} & row.keys()
    return bool(name_fields) and "source" in row and bool({"feedback", "expectation"} & row.keys())


def _entry(assessment: Json, line: int, info: Json, source: Source) -> Entry:
    if assessment.get("valid") is False:
        return Skipped(line=line, why="a later assessment overrides it")
    judge_source = mapping(assessment, "source")
    kind, name = text(judge_source, "source_type").upper(), first_text(judge_source, "source_id")
    feedback = mapping(assessment, "feedback")
    value = (feedback or mapping(assessment, "expectation")).get("value")
    aspect = first_text(assessment, *_NAMES) or text(assessment, "name")
    if kind != "HUMAN" and not feedback and not assessment.get("error"):
        return Skipped(line=line, why="an expectation that is not by a person")
    error = mapping(assessment, "error") or mapping(feedback, "error")
    message = first_text(error, "error_message", "error_code") or "MLflow has no value"
    return assessment_entry(
        source,
        line,
        {**_item(assessment, info), "aspect": aspect},
        value,
        tool="MLflow",
        person=(name or "human") if kind == "HUMAN" else None,
        judge=name,
        by_code=kind == "CODE",
        error=message if error else None,
        reason=first_text(assessment, "rationale"),
        probabilities=_probabilities(mapping(assessment, "metadata")),
    )


def _item(assessment: Json, info: Json) -> dict[str, str]:
    """Return the judged item, from tags and metadata of the trace and the assessment."""
    trace_metadata = mapping(info, "trace_metadata")
    tags = {**mapping(info, "tags"), **trace_metadata, **mapping(assessment, "metadata")}
    trace = first_text(assessment, "trace_id") or first_text(info, "trace_id", "request_id")
    return judged_item(
        tags,
        eid=lambda: trace or text(assessment, "trace_id"),
        system=first_text(trace_metadata, "mlflow.modelId") or "mlflow",
        unit=first_text(assessment, "span_id"),
    )


def _probabilities(metadata: Json) -> Mapping[str, float] | None:
    """Return the distribution of a decision model, which is stored as JSON text."""
    if distribution := object_in(metadata, _PROBABILITIES):
        numbers = {str(answer): score(probability) for answer, probability in distribution.items()}
        valid = {
            answer: probability
            for answer, probability in numbers.items()
            if probability is not None
        }
        return valid if len(valid) == len(numbers) else None
    probability = score(metadata.get(_PROBABILITY))
    return None if probability is None else {"yes": probability, "no": 1.0 - probability}
