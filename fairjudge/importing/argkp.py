"""ArgKP: human labels of which arguments make which key points.

A topic with a stance is a cluster: its arguments are the articles, its key points the answer groups
of one question, the topic. Each label is for an argument (a summary) and a key point. The input is
a file with an argument and a key point per row, or a folder with ``arguments*.csv``,
``key_points*.csv`` and ``labels*.csv``.

Source: IBM/KPA_2021_shared_task 2f5e2d5, ``kpm_data``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from fairjudge.datasets._problems import validate_record
from fairjudge.domain import Reference, Summary
from fairjudge.errors import InputError
from fairjudge.importing.records import Entry, make_label
from fairjudge.importing.sources import (
    Json,
    Source,
    fingerprint,
    first_text,
    open_source,
    score,
    text,
)

_FILES = ("arguments", "key_points", "labels")
_LABELS = ("label", "match")


def recognises(source: Source) -> bool:
    """Return whether rows have an argument and a key point, or a folder has the three files."""
    if source.path.is_dir():
        return all(any(source.path.glob(f"{name}*.csv")) for name in _FILES)
    return {"argument", "key_point", "topic"} <= source.first.keys()


def read(source: Source) -> Iterator[Entry]:
    """Yield each label, then each argument as a summary and each topic as a reference."""
    topics: dict[str, _Topic] = {}
    for line, row in _pairs(source):
        with source.locate_errors(line):
            label = next((row[name] for name in _LABELS if row.get(name) is not None), None)
            value = score(label)
            if value not in (0, 1):
                raise InputError(f"expected 0 or 1, not {label!r}", field=_LABELS[0])
            eid = first_text(row, "eid") or "/".join(
                part for part in (text(row, "topic"), first_text(row, "stance")) if part
            )
            yield topics.setdefault(eid, _Topic(eid)).label(row, value=value)
    for topic in topics.values():
        yield from topic.records()


class _Topic:
    """The arguments and key points of one topic and stance, in order of appearance."""

    def __init__(self, eid: str) -> None:
        self.eid = eid
        self.arguments: dict[str, dict[str, Any]] = {}
        self.questions: dict[str, dict[str, _Point]] = {}

    def label(self, row: Json, *, value: float) -> Entry:
        """Return the label in `row`; store its argument and key point."""
        words, key_point = text(row, "argument"), text(row, "key_point")
        aid, stance = first_text(row, "arg_id") or fingerprint(words), first_text(row, "stance")
        attributes = {} if stance is None else {"attributes": {"stance": stance}}
        self.arguments.setdefault(aid, {"aid": aid, "content": words, **attributes})
        points = self.questions.setdefault(text(row, "topic"), {})
        point = points.setdefault(
            first_text(row, "key_point_id") or key_point, _Point(len(points), key_point)
        )
        if value == 1:
            point.arguments[aid, words] = None
        return make_label(
            eid=self.eid,
            system=aid,
            aspect="coverage",
            unit=f"answer:{[*self.questions].index(text(row, 'topic'))}.{point.index}",
            annotator="people",
            value=value,
            text=key_point,
        )

    def records(self) -> Iterator[Entry]:
        """Yield the arguments as summaries, then the reference."""
        for aid, article in self.arguments.items():
            yield validate_record(
                Summary, {"eid": self.eid, "system": aid, "text": article["content"]}
            )
        questions = [
            {
                "question": question,
                "answer_groups": [
                    [{"aid": aid, "answer": words} for aid, words in point.arguments]
                    for point in points.values()
                ],
                "group_labels": [point.words for point in points.values()],
            }
            for question, points in self.questions.items()
        ]
        fields = {"eid": self.eid, "articles": list(self.arguments.values())}
        yield validate_record(Reference, {**fields, "question_answers": questions})


@dataclass(slots=True)
class _Point:
    """A key point, its index, and the ids and texts of the arguments that make it."""

    index: int
    words: str
    arguments: dict[tuple[str, str], None] = field(default_factory=dict)


def _pairs(source: Source) -> Iterator[tuple[int, Json]]:
    """Yield rows with an argument and a key point; the files of a folder are joined by ids."""
    if not source.path.is_dir():
        yield from source.records()
        return
    tables = {}
    for name in _FILES:
        files = sorted(source.path.glob(f"{name}*.csv"))
        tables[name] = [
            (path, line, row)
            for path in files
            for line, row in open_source(path, skip_bad=source.skip_bad).records()
        ]
    arguments = {row.get("arg_id"): row for _, _, row in tables["arguments"]}
    points = {row.get("key_point_id"): row for _, _, row in tables["key_points"]}
    for path, line, row in tables["labels"]:
        argument, point = arguments.get(row.get("arg_id")), points.get(row.get("key_point_id"))
        with replace(source, path=path).locate_errors(line):
            if argument is None or point is None:
                id_field = "arg_id" if argument is None else "key_point_id"
                raise InputError(f"unknown id {row.get(id_field)!r}", field=id_field)
            yield line, {**point, **argument, **row}
