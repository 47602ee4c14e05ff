"""Measure the quality of the labels so far: agreement, controls, and skips."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from fairjudge.annotation.board import Board
from fairjudge.domain import Estimate, Undefined, Value
from fairjudge.scales import ScaleKind
from fairjudge.stats.agreement import AlphaLevel, krippendorff_alpha, weighted_alpha
from fairjudge.stats.bootstrap import bootstrap
from fairjudge.stats.intervals import wilson

MAX_DIFFERING = 20
"""Maximum number of listed items that annotators label differently."""
_RESAMPLES = 500
"""Few, since the page is refreshed every few seconds."""
_VERDICTS = {"a": 1.0, "tie": 0.0, "b": -1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorReport:
    """One annotator's work.

    ``share``, in [0, 1], is their part of all labels. ``agrees`` is the share of other annotators'
    labels of the same items that equal theirs; ``controls`` the share of controls answered
    correctly.
    """

    annotator: str
    n_labels: int
    n_skipped: int
    share: float
    agrees: float | Undefined
    controls: Estimate | Undefined
    median_seconds: float | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """The number of an item that annotators label differently, and their values by name."""

    item: int
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """The state of the whole job.

    ``alpha`` is Krippendorff's, nominal for words and verdicts, ordinal for numbers, over the
    ``n_shared`` items that two or more people labelled; controls are excluded from it. Its interval
    is over documents. ``differing`` has the widest difference first.
    """

    n_labelled: int
    n_wanted: int
    n_shared: int
    alpha: Estimate | Undefined
    differing: tuple[Differing, ...]
    controls: Estimate | Undefined
    annotators: tuple[AnnotatorReport, ...]
    skipped: Mapping[str, int]


def quality(board: Board, *, kind: ScaleKind, documents: Sequence[str]) -> Quality:
    """Return the quality of a board's labels; `documents` is the document of each item.

    Takes milliseconds for thousands of labels.
    """
    by_item: dict[int, dict[str, Value]] = defaultdict(dict)
    for event in board.standing("label"):
        if event.item not in board.job.controls and event.value is not None:
            by_item[event.item][event.annotator] = event.value
    shared = {item: labels for item, labels in by_item.items() if len(labels) >= 2}
    n_labels = sum(map(len, by_item.values()))
    return Quality(
        n_labelled=board.n_labelled(),
        n_wanted=board.job.n_wanted,
        n_shared=len(shared),
        alpha=_alpha(shared, kind, documents),
        differing=_differing(shared),
        controls=_controls(board, board.annotators()),
        annotators=tuple(
            _annotator(board, name, by_item, n_labels=n_labels) for name in board.annotators()
        ),
        skipped=dict(Counter(event.reason for event in board.standing("skip")).most_common()),
    )


def _differing(shared: Mapping[int, Mapping[str, Value]]) -> tuple[Differing, ...]:
    def width(labels: Mapping[str, Value]) -> float:
        numbers = list(map(_number, labels.values()))
        return max(numbers) - min(numbers)

    apart = [(width(labels), item) for item, labels in shared.items() if width(labels) > 0]
    apart.sort(key=lambda width_and_item: (-width_and_item[0], width_and_item[1]))
    return tuple(Differing(item=item, values=shared[item]) for _, item in apart[:MAX_DIFFERING])


def _annotator(
    board: Board, name: str, by_item: Mapping[int, Mapping[str, Value]], *, n_labels: int
) -> AnnotatorReport:
    events = board.done(name).values()
    seconds = [event.seconds for event in events if event.seconds is not None]
    n_own = sum(name in labels for labels in by_item.values())
    same = [
        value == labels[name]
        for labels in by_item.values()
        if name in labels
        for other, value in labels.items()
        if other != name
    ]
    return AnnotatorReport(
        annotator=name,
        n_labels=sum(event.kind == "label" for event in events),
        n_skipped=sum(event.kind == "skip" for event in events),
        share=n_own / n_labels if n_labels else 0.0,
        agrees=fmean(same) if same else Undefined(why="no item shared with others"),
        controls=_controls(board, (name,)),
        median_seconds=median(seconds) if seconds else Undefined(why="no labels yet"),
    )


def _controls(board: Board, names: tuple[str, ...]) -> Estimate | Undefined:
    control_values = board.job.controls
    right = [
        _number(event.value) == _number(control_values[event.item])
        for name in names
        for event in board.done(name).values()
        if event.kind == "label" and event.item in control_values and event.value is not None
    ]
    return wilson(sum(right), len(right)) if right else Undefined(why="no controls answered yet")


def _alpha(
    shared: Mapping[int, Mapping[str, Value]], kind: ScaleKind, documents: Sequence[str]
) -> Estimate | Undefined:
    names = sorted({name for labels in shared.values() for name in labels})
    column = {name: place for place, name in enumerate(names)}
    values = np.zeros((len(shared), len(names)))
    present = np.zeros(values.shape, dtype=bool)
    for row, labels in enumerate(shared.values()):
        for name, value in labels.items():
            values[row, column[name]], present[row, column[name]] = _number(value), True
    level: AlphaLevel = "ordinal" if kind == "number" else "nominal"
    alpha = krippendorff_alpha(values, present, level=level)
    if isinstance(alpha, Undefined):
        return alpha
    statistic = weighted_alpha(
        values, present, documents=[documents[item] for item in shared], level=level
    )
    estimate = bootstrap(
        statistic,
        n_documents=len({documents[item] for item in shared}),
        rng=np.random.default_rng(0),
        n_resamples=_RESAMPLES,
        n=len(shared),
    )
    return Estimate(value=alpha, n=len(shared)) if isinstance(estimate, Undefined) else estimate


def _number(value: Value) -> float:
    return _VERDICTS[value] if isinstance(value, str) else float(value)
