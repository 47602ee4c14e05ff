"""Measure the quality of the labels so far: agreement, controls, and skips."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median

import numpy as np

from fairjudge.annotation.board import Board
from fairjudge.annotation.moves import label_value
from fairjudge.calibration.items import rating_table
from fairjudge.calibration.labels import SIGNS
from fairjudge.domain import Estimate, Undefined, Value
from fairjudge.scales import Level, Scale
from fairjudge.stats.agreement import AlphaLevel, krippendorff_alpha, weighted_alpha
from fairjudge.stats.bootstrap import bootstrap
from fairjudge.stats.intervals import wilson

MAX_DISAGREEMENTS = 20
"""Maximum number of listed items that annotators label differently."""
FASTEST_SECONDS = 2.0
"""Minimum time to read the shortest statement, look at a text and answer."""
MIN_HASTY, HASTY_SHARE = 3, 0.1
"""Minimum number and share of faster answers for which an annotator is flagged."""
_RESAMPLES = 500
"""Number of bootstrap resamples; few, since the page is refreshed every few seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorReport:
    """Statistics of one annotator's work.

    ``share``, in [0, 1], is their share of all labels. ``agrees`` is the share of other annotators'
    labels of the same items that equal theirs; ``controls`` the share of controls answered
    correctly. ``counts`` are the numbers of their labels by level of the scale, and ``n_hasty`` is
    the number of answers given in less than `FASTEST_SECONDS`.
    """

    annotator: str
    n_labels: int
    n_skipped: int
    share: float
    agrees: float | Undefined
    controls: Estimate | Undefined
    median_seconds: float | Undefined
    counts: tuple[int, ...]
    n_hasty: int

    @property
    def hasty(self) -> bool:
        """Whether too many answers were faster than reading, so that the work needs review."""
        return self.n_hasty >= MIN_HASTY and self.n_hasty >= HASTY_SHARE * self.n_labels


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoAnnotators:
    """``counts[i][j]`` items got answer i from ``first`` and answer j from ``second``."""

    first: str
    second: str
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """The number of an item that annotators label differently, and their values by name."""

    item: int
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Statistics of the whole job.

    ``alpha`` is Krippendorff's, nominal for words and verdicts, ordinal for numbers, over the
    ``n_shared`` items that two or more annotators labelled; controls are excluded from it. Its
    interval is over documents. ``disagreements`` is sorted by decreasing difference. ``answers``
    are those of the scale; ``confusion`` is for the two annotators with the most shared items.
    ``seconds_left`` is the median time of a label times the number of missing labels: the work of
    one person.
    """

    n_labelled: int
    n_wanted: int
    n_shared: int
    alpha: Estimate | Undefined
    disagreements: tuple[Disagreement, ...]
    controls: Estimate | Undefined
    annotators: tuple[AnnotatorReport, ...]
    answers: tuple[str, ...]
    confusion: TwoAnnotators | None
    seconds_left: float | Undefined
    skipped: Mapping[str, int]


def quality(board: Board, *, scale: Scale, documents: Sequence[str]) -> Quality:
    """Return the quality of a board's labels; `documents` is the document of each item.

    Takes milliseconds for thousands of labels.
    """
    kind = scale.kind
    by_item: dict[int, dict[str, Value]] = defaultdict(dict)
    for event in board.decisions("label"):
        if event.item not in board.job.controls and event.value is not None:
            by_item[event.item][event.annotator] = event.value
    shared = {item: labels for item, labels in by_item.items() if len(labels) >= 2}
    n_labels = sum(map(len, by_item.values()))
    return Quality(
        n_labelled=board.n_labelled(),
        n_wanted=board.job.n_wanted,
        n_shared=len(shared),
        alpha=_alpha(shared, kind, documents),
        disagreements=_disagreements(shared),
        controls=_controls(board, board.annotators()),
        annotators=tuple(
            _annotator(board, name, by_item, scale, n_labels=n_labels)
            for name in board.annotators()
        ),
        answers=tuple(level.answer for level in scale.levels),
        confusion=_confusion(shared, scale),
        seconds_left=_remaining_seconds(board),
        skipped=dict(Counter(event.reason for event in board.decisions("skip")).most_common()),
    )


def _disagreements(shared: Mapping[int, Mapping[str, Value]]) -> tuple[Disagreement, ...]:
    def width(labels: Mapping[str, Value]) -> float:
        numbers = list(map(_number, labels.values()))
        return max(numbers) - min(numbers)

    sorted_items = sorted(
        (-width(labels), item) for item, labels in shared.items() if width(labels) > 0
    )
    return tuple(
        Disagreement(item=item, values=shared[item]) for _, item in sorted_items[:MAX_DISAGREEMENTS]
    )


def _annotator(
    board: Board,
    name: str,
    by_item: Mapping[int, Mapping[str, Value]],
    scale: Scale,
    *,
    n_labels: int,
) -> AnnotatorReport:
    events = board.done(name).values()
    seconds = [event.seconds for event in events if event.seconds is not None]
    n_own = sum(name in labels for labels in by_item.values())
    agreements = [
        value == labels[name]
        for labels in by_item.values()
        if name in labels
        for annotator, value in labels.items()
        if annotator != name
    ]
    return AnnotatorReport(
        annotator=name,
        n_labels=sum(event.kind == "label" for event in events),
        n_skipped=sum(event.kind == "skip" for event in events),
        share=n_own / n_labels if n_labels else 0.0,
        agrees=fmean(agreements) if agreements else Undefined(why="no item shared with others"),
        controls=_controls(board, (name,)),
        median_seconds=median(seconds) if seconds else Undefined(why="no labels yet"),
        counts=_counts([values[name] for values in by_item.values() if name in values], scale),
        n_hasty=sum(n < FASTEST_SECONDS for n in seconds),
    )


def _counts(values: Sequence[Value], scale: Scale) -> tuple[int, ...]:
    counts = Counter(map(_number, values))
    return tuple(counts[_level_number(level)] for level in scale.levels)


def _confusion(shared: Mapping[int, Mapping[str, Value]], scale: Scale) -> TwoAnnotators | None:
    """Cross-tabulate the answers of the two annotators with the most shared items."""
    n_shared = Counter(
        pair for labels in shared.values() for pair in combinations(sorted(labels), 2)
    )
    if not n_shared:
        return None
    first, second = min(n_shared, key=lambda pair: (-n_shared[pair], pair))
    pairs = [
        (labels[first], labels[second])
        for labels in shared.values()
        if {first, second} <= set(labels)
    ]
    rows = [
        _counts([b for a, b in pairs if _number(a) == _level_number(level)], scale)
        for level in scale.levels
    ]
    return TwoAnnotators(first=first, second=second, counts=tuple(rows))


def _remaining_seconds(board: Board) -> float | Undefined:
    seconds = [event.seconds for event in board.decisions("label") if event.seconds is not None]
    if not seconds:
        return Undefined(why="no times yet")
    return median(seconds) * (board.job.n_wanted - board.n_labelled())


def format_duration(seconds: float) -> str:
    """Return a duration as text, to the minute."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def answer_text(value: Value, scale: Scale) -> str:
    """Return the text of the answer with `value` on the scale."""
    number = _number(value)
    answers = (level.answer for level in scale.levels if _level_number(level) == number)
    return next(answers, str(value))


def _controls(board: Board, names: tuple[str, ...]) -> Estimate | Undefined:
    control_values = board.job.controls
    is_correct = [
        _number(event.value) == _number(control_values[event.item])
        for name in names
        for event in board.done(name).values()
        if event.kind == "label" and event.item in control_values and event.value is not None
    ]
    return (
        wilson(sum(is_correct), len(is_correct))
        if is_correct
        else Undefined(why="no controls answered yet")
    )


def _alpha(
    shared: Mapping[int, Mapping[str, Value]], kind: str, documents: Sequence[str]
) -> Estimate | Undefined:
    numbers = [{name: _number(value) for name, value in row.items()} for row in shared.values()]
    _, values, is_rated = rating_table(numbers)
    level: AlphaLevel = "ordinal" if kind == "number" else "nominal"
    alpha = krippendorff_alpha(values, is_rated, level=level)
    if isinstance(alpha, Undefined):
        return alpha
    statistic = weighted_alpha(
        values, is_rated, documents=[documents[item] for item in shared], level=level
    )
    estimate = bootstrap(
        statistic,
        n_documents=len({documents[item] for item in shared}),
        rng=np.random.default_rng(0),
        n_resamples=_RESAMPLES,
        n=len(shared),
    )
    return Estimate(value=alpha, n=len(shared)) if isinstance(estimate, Undefined) else estimate


def _level_number(level: Level) -> float:
    """Return the number of an answer; "first" is the item's first system."""
    return _number(label_value(level, "ab"))


def _number(value: Value) -> float:
    return SIGNS[value] if isinstance(value, str) else float(value)
