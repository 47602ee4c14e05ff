"""Systems ranked, each leaderboard a plot and its table; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairjudge.domain import Estimate, Undefined
from fairjudge.judges.leaderboards import Leaderboard, Standing
from fairjudge.reports.figures import PLAIN, drawn
from fairjudge.reports.markup import Markup, element, html_table
from fairjudge.reports.plots import ForestRow, forest_plot
from fairjudge.reports.tables import TextTable, columns, number

FEW_DOCUMENTS = 15
"""Below this an interval is flagged, as ``calibrate`` does."""
_MEANING = {
    "likert": "mean rating",
    "binary": "share of positive verdicts",
    "pairwise": "win rate; a tie is half a win",
}
_UNITS = {
    "summary": "whole summaries",
    "sentence": "single sentences",
    "article": "one article at a time",
    "answer": "single answers",
}


def leaderboard_parts(boards: Sequence[Leaderboard]) -> Iterator[Markup]:
    """Yield every leaderboard."""
    for board in boards:
        yield element("h3", f"{board.aspect.capitalize()}, by {board.judge}")
        yield element("p", f"{_described(board)}.", class_="note")
        yield from _caution(board)
        yield element(
            "div", _plot(board), html_table(_table(board), sortable=True), class_="beside"
        )
    if boards:
        yield element(
            "p",
            "Intervals are 95 % and resample documents. 'Behind' is the first system's mean less "
            "this one's on the same documents: an interval that leaves out 0 tells them apart, "
            "overlapping intervals of two means do not say that they are alike.",
            class_="note",
        )


def _caution(board: Leaderboard) -> Iterator[Markup]:
    n = max((one.score.n_clusters for one in board.standings), default=0)
    if n < FEW_DOCUMENTS:
        said = f"Only {n} documents: intervals that rest on so few are too narrow."
        yield element("p", element("strong", said))


def _described(board: Leaderboard) -> str:
    unit = _UNITS.get(board.unit, board.unit)
    meaning = _MEANING[board.protocol]
    scale = board.scale_range
    span = f" on {scale[0]:g} to {scale[1]:g}" if scale and board.protocol == "likert" else ""
    return f"{board.protocol.capitalize()}, {unit}: {meaning}{span}"


def _plot(board: Leaderboard) -> Markup:
    rows = [
        ForestRow(
            label=one.score.system,
            value=one.mean.value if isinstance(one.mean, Estimate) else None,
            low=one.mean.low if isinstance(one.mean, Estimate) else None,
            high=one.mean.high if isinstance(one.mean, Estimate) else None,
            text=_figure(one.mean),
            mark=PLAIN,
        )
        for one in board.standings
    ]
    name = f"{board.aspect}, {board.protocol}, by {board.judge}"
    return drawn(
        forest_plot(
            rows,
            name=f"{name}: " + "; ".join(f"{row.label} {row.text}" for row in rows),
            across=_MEANING[board.protocol],
            span=board.scale_range,
        )
    )


def _table(board: Leaderboard) -> TextTable:
    bounded = board.scale_range is not None and any(one.score.n_unscored for one in board.standings)
    unscored = any(one.score.n_unscored for one in board.standings)
    bounded = unscored and board.scale_range is not None
    heads = ["mean [95 %]", "behind", *(["worst", "best"] if bounded else [])]
    heads += ["documents", "judged", *(["unscored"] if unscored else [])]
    return TextTable(
        title=f"{board.aspect}, {board.protocol}, {_UNITS.get(board.unit, board.unit)}",
        columns=columns("system", *heads, numbers=heads),
        rows=tuple(_row(one, bounded=bounded, unscored=unscored) for one in board.standings),
        notes=("Worst and best: the mean if every unscored item stood at the bottom or the top.",)
        if bounded
        else (),
    )


def _row(one: Standing, *, bounded: bool, unscored: bool) -> tuple[str, ...]:
    score = one.score
    ends = [score.low, score.high] if bounded else []
    return (
        score.system,
        _figure(one.mean),
        "-" if one.behind is None else _figure(one.behind),
        *map(number, ends),
        str(score.n_clusters),
        str(score.n_judged),
        *([str(score.n_unscored)] if unscored else []),
    )


def _figure(found: Estimate | Undefined) -> str:
    if isinstance(found, Undefined):
        return "undefined"
    if found.low is None or found.high is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
