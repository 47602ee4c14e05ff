"""Tasks of Label Studio's JSON export as rows, one for each annotation, as its JSON-MIN has them.

Source: the JSON task format of labelstud.io/guide/task_format.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fairjudge.datasets._source import Row
from fairjudge.importing import label_studio
from fairjudge.importing.records import Skipped
from fairjudge.importing.sources import Json, Source, items, mapping, name_in

_OF_RESULTS = ("lead_time", "created_at", "updated_at")


def as_rows(source: Source) -> Source:
    """Return `source` with a row for each annotation, where it holds tasks on single summaries.

    Annotations of pairs, and those whose task names their aspect, stay for `fairjudge.importing`.
    """
    data = source.first.get("data")
    if not label_studio.recognises(source) or {"system_a", "aspect"} & {*(data or ())}:
        return source
    rows = [
        row
        for line, task in source.records()
        for row in _rows(line, task, mapping(task, "data"), source)
    ]
    return replace(source, rows=tuple(rows))


def _rows(line: int, task: Json, data: Json, source: Source) -> Iterator[Row]:
    of_task = {"id": task.get("id"), **data}
    rated = False
    with source.at(line):
        for annotation in items(task, "annotations"):
            if annotation.get("was_cancelled"):
                source.bad.append(Skipped(line=line, why="the annotation was cancelled"))
                continue
            rated = True
            yield Row(line=line, value={**of_task, **_of_annotation(annotation)})
        for _ in items(task, "predictions"):
            why = "a judgement: 'fairjudge data import' reads it"
            source.bad.append(Skipped(line=line, why=why))
    if not rated:
        yield Row(line=line, value=of_task)


def _of_annotation(annotation: Json) -> dict[str, Any]:
    """Return the values of an annotation by the names of their controls, and who made it."""
    annotator = name_in(annotation, "completed_by", "email", "id")
    values = {
        name: mapping(result, "value").get(str(result.get("type")))
        for result in items(annotation, "result")
        if isinstance(name := result.get("from_name"), str)  # relations have none
    }
    times = {name: annotation.get(name) for name in _OF_RESULTS}
    return {**values, "annotator": annotator, "annotation_id": annotation.get("id"), **times}
