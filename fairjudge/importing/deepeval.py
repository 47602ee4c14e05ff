"""DeepEval's test runs: one judgement per metric and test case.

Source: confident-ai/deepeval, ``deepeval/test_run/api.py`` and ``tracing/api.py``;
``.deepeval/.latest_run_full.json``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.importing.records import Entry, RecordedJudgement, Skipped
from fairjudge.importing.sources import (
    Ids,
    Json,
    Source,
    first_text,
    items,
    judged_item,
    mapping,
    non_null_fields,
    score,
    text,
)

_CASES = ("testCases", "conversationalTestCases")


def recognises(source: Source) -> bool:
    """Return whether the file is a run of test cases."""
    keys = source.first.keys()
    return "testCases" in keys and bool({"testPassed", "metricsScores"} & keys)


def read(source: Source) -> Iterator[Entry]:
    """Yield each metric of the test cases; metrics of traces and spans are skipped."""
    ids = Ids()
    number = 0
    for _, run in source.records():
        system = first_text(mapping(run, "hyperparameters"), "model") or first_text(
            run, "identifier"
        )
        for kind in _CASES:
            for case in items(run, kind):
                number += 1
                with source.locate_errors(number):
                    yield from _case(case, number, ids, system=system)


def _case(case: Json, number: int, ids: Ids, *, system: str | None) -> Iterator[Entry]:
    # Older versions write additionalMetadata.
    metadata = {**mapping(case, "additionalMetadata"), **mapping(case, "metadata")}
    item = judged_item(
        metadata,
        eid=lambda: ids.unique_id(text(case, "name"), str(case.get("input"))),
        system=system or "deepeval",
    )
    metrics = list(items(case, "metricsData"))
    if not metrics:
        yield Skipped(line=number, why="the test case has no metric")
    for metric in metrics:
        has_failed = metric.get("error") or metric.get("skipped") is True
        value = None if has_failed else score(metric.get("score"))
        yield RecordedJudgement(
            line=number,
            **item,
            aspect=text(metric, "name"),
            judge=first_text(metric, "evaluationModel") or "deepeval",
            value=value,
            unscored="backend" if metric.get("error") else None,
            detail=first_text(metric, "error")
            or ("DeepEval skipped it" if has_failed else "DeepEval has no score"),
            scored_by="llm" if metric.get("evaluationModel") else "code",
            extra=non_null_fields(metric, "reason", "threshold", "success"),
        )
    for _ in range(_count_metrics(case.get("trace"))):
        yield Skipped(line=number, why="a metric of a trace or a span")


def _count_metrics(value: object) -> int:
    """Return the number of metrics of a trace and all its spans."""
    if isinstance(value, list):
        return sum(map(_count_metrics, value))
    if not isinstance(value, dict):
        return 0
    metrics = value.get("metricsData")
    n_inner = sum(_count_metrics(item) for key, item in value.items() if key != "metricsData")
    return n_inner + (len(metrics) if isinstance(metrics, list) else 0)
