"""How good the labels are so far: agreement, controls, and what was skipped."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

import numpy as np

from fairjudge.annotation.board import Board
from fairjudge.domain import Estimate, Undefined, Value
from fairjudge.scales import ScaleKind
from fairjudge.stats.agreement import krippendorff_alpha
from fairjudge.stats.intervals import wilson

_VERDICTS = {"a": 1.0, "tie": 0.0, "b": -1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorReport:
    """One annotator's work. ``controls`` is the share of controls answered as known."""

    annotator: str
    n_labels: int
    n_skipped: int
    controls: Estimate | Undefined
    median_seconds: float | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """The state of the whole job.

    ``alpha`` is Krippendorff's, nominal for words and verdicts, ordinal for numbers, over the
    ``n_shared`` items that two or more people labelled; controls take no part in it.
    """

    n_labelled: int
    n_wanted: int
    n_shared: int
    alpha: float | Undefined
    controls: Estimate | Undefined
    annotators: tuple[AnnotatorReport, ...]
    skipped: Mapping[str, int]


def quality(board: Board, *, kind: ScaleKind) -> Quality:
    """Look at a board; costs some milliseconds for thousands of labels."""
    by_item: dict[int, dict[str, float]] = defaultdict(dict)
    for event in board.labels():
        if event.item not in board.job.controls and event.value is not None:
            by_item[event.item][event.annotator] = _number(event.value)
    shared = [ratings for ratings in by_item.values() if len(ratings) >= 2]
    reports = tuple(_annotator(board, name) for name in board.annotators())
    return Quality(
        n_labelled=board.n_labelled(),
        n_wanted=board.job.n_wanted,
        n_shared=len(shared),
        alpha=_alpha(shared, kind),
        controls=_controls(board, board.annotators()),
        annotators=reports,
        skipped=dict(Counter(event.reason for event in board.skips()).most_common()),
    )


def _annotator(board: Board, name: str) -> AnnotatorReport:
    done = board.done(name).values()
    seconds = [event.seconds for event in done if event.seconds is not None]
    n_labels = sum(event.kind == "label" for event in done)
    return AnnotatorReport(
        annotator=name,
        n_labels=n_labels,
        n_skipped=len(done) - n_labels,
        controls=_controls(board, (name,)),
        median_seconds=median(seconds) if seconds else Undefined(why="no labels yet"),
    )


def _controls(board: Board, names: tuple[str, ...]) -> Estimate | Undefined:
    known = board.job.controls
    right = [
        _number(event.value) == _number(known[event.item])
        for name in names
        for event in board.done(name).values()
        if event.kind == "label" and event.item in known and event.value is not None
    ]
    return wilson(sum(right), len(right)) if right else Undefined(why="no controls answered yet")


def _alpha(shared: list[dict[str, float]], kind: ScaleKind) -> float | Undefined:
    names = sorted({name for ratings in shared for name in ratings})
    column = {name: place for place, name in enumerate(names)}
    values = np.zeros((len(shared), len(names)))
    present = np.zeros(values.shape, dtype=bool)
    for row, ratings in enumerate(shared):
        for name, value in ratings.items():
            values[row, column[name]], present[row, column[name]] = value, True
    return krippendorff_alpha(values, present, level="ordinal" if kind == "number" else "nominal")


def _number(value: Value) -> float:
    return _VERDICTS[value] if isinstance(value, str) else float(value)
