"""Leaderboards of TREC's tools, with a score per run, measure and topic; and qrels, as labels.

Formats: ``run measure topic value`` (or topic before measure, recognised by the topic ``all``),
trec_eval's own ``measure topic value`` (the run is the file's name), the JSON lines of AutoJudge,
and qrels, ``topic 0 document grade``.

Source: PyPI ``autojudge-base`` 1.0.0, ``leaderboard/leaderboard.py``; usnistgov/trec_eval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fairjudge.domain import Label
from fairjudge.errors import InputError
from fairjudge.importing.records import Entry, RecordedJudgement, Skipped, make_label
from fairjudge.importing.sources import Source, text

JUDGE = "trec_eval"
ALL = "all"
"""The topic name of means over topics."""
_NAMES = ("run_id", "measure", "topic_id")
_JSON = frozenset({*_NAMES, "value"})
_UNUSED = ("0", "Q0")
"""Values of the second column of qrels."""


def recognises(source: Source) -> bool:
    """Return whether rows have run, measure, topic and value, in JSON or in a table."""
    return source.first.keys() >= _JSON or bool(_table(source))


def read(source: Source) -> Iterator[Entry]:
    """Yield each score as a judgement and each grade of qrels as a label; means are skipped."""
    rows = _table(source)
    if not rows:
        for line, row in source.records():
            with source.locate_errors(line):
                run, measure, topic = (text(row, name) for name in _NAMES)
                yield _score(line, run, measure, topic, str(row.get("value")))
        return
    if all(len(cells) == 4 and cells[1] in _UNUSED for _, cells in rows):
        for line, (topic, _, document, grade) in rows:
            with source.locate_errors(line):
                yield _label(topic, document, grade)
        return
    topic_first, n_columns = _topic_first(rows), len(rows[0][1])
    run_of_file = source.path.name.partition(".")[0]
    for line, cells in rows:
        with source.locate_errors(line):
            if len(cells) != n_columns:
                raise InputError(f"expected {n_columns} columns, found {len(cells)}")
            run, *names, value = cells if len(cells) == 4 else (run_of_file, *cells)
            measure, topic = names[::-1] if topic_first else names
            yield _score(line, run, measure, topic, value)


def _topic_first(rows: Sequence[tuple[int, list[str]]]) -> bool:
    columns = [[cells[column] for _, cells in rows if len(cells) > 2] for column in (-3, -2)]
    return ALL in columns[0] and ALL not in columns[1]


def _table(source: Source) -> list[tuple[int, list[str]]]:
    """Return (line number, cells) of each line; empty if the first lines are not such a table."""
    if any(isinstance(row.value, dict) and not row.flat for row in source.rows):
        return []
    rows = [(line, line_text.split()) for line, line_text in source.lines() if line_text[0] != "#"]
    if rows and len(rows[0][1]) in (3, 4) and _number(rows[0][1][-1]) is None:
        rows = rows[1:]  # a header
    first = rows[0][1] if rows else []
    return rows if len(first) in (3, 4) and _number(first[-1]) is not None else []


def _score(
    line: int, run: str, measure: str, topic: str, value: str
) -> RecordedJudgement | Skipped:
    number = _number(value)
    if topic == ALL:
        return Skipped(line=line, why="a mean over topics")
    if number is None and value.casefold() not in {"nan", "none"}:
        raise InputError(f"expected a number, not {value[:20]!r}", field="value")
    return RecordedJudgement(
        line=line,
        eid=topic,
        system=run,
        aspect=measure,
        judge=JUDGE,
        value=number,
        detail="the leaderboard has no score",
        scored_by="code",
    )


def _label(topic: str, document: str, grade: str) -> Label:
    value = _number(grade)
    if value is None:
        raise InputError(f"expected a number, not {grade[:20]!r}", field="grade")
    return make_label(
        eid=topic, system=document, aspect="relevance", annotator="qrels", value=value
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
