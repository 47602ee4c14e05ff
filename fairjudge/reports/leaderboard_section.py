"""Systems ranked, each leaderboard a plot and its table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairjudge.protocols import PROTOCOLS
from fairjudge.records.results import figure, to_json
from fairjudge.reports.figures import forest, row
from fairjudge.reports.findings import Board, board_findings, of_leaderboard
from fairjudge.reports.leaderboard_table import (
    RANKS_BY_MEANS,
    UNITS,
    has_strengths,
    leaderboard_cautions,
    leaderboard_table,
)
from fairjudge.reports.parts import Group, Heading, Paragraph, Part, Plot
from fairjudge.reports.result_figures import ranks_plot
from fairjudge.scores.leaderboards import WEIGHTING, Leaderboard


def leaderboard_parts(boards: Sequence[Leaderboard], said: Sequence[Board] = ()) -> Iterator[Part]:
    """Yield every leaderboard; `said` is what is said of each, where that is more than it tells."""
    for board, sentences in zip(boards, said or map(of_leaderboard, boards), strict=True):
        yield Heading(f"{board.aspect.capitalize()}, by {board.judge}")
        yield Paragraph(" ".join(board_findings(sentences)))
        yield Paragraph(f"{_described(board)}.", "note")
        yield from (Paragraph(caution, "strong") for caution in leaderboard_cautions(board))
        yield Group((_plot(board), _ranks(board), leaderboard_table(board)))
    if any(board.ranking is None for board in boards):
        yield Paragraph(
            "Intervals are 95 % and resample clusters. 'Difference to best' is the first system's "
            "mean minus this one's on the same clusters: it is significant where its interval "
            "excludes 0. Overlapping intervals of two means do not say that they are alike. "
            f"Of means, {WEIGHTING}.",
            "note",
        )


def _plot(board: Leaderboard) -> Plot:
    """Return the figures by which systems are ranked."""
    title = f"{board.aspect}, {board.shown_protocol}, by {board.judge}"
    if has_strengths(board):
        rows = [
            row(row_of_system.score.system, to_json(row_of_system.place.strength))
            for row_of_system in board.standings
            if row_of_system.place is not None
        ]
        return forest(rows, title=title, across="strength (log-odds; they add up to 0)")
    return forest(
        [row(standing.score.system, figure(standing.mean)) for standing in board.standings],
        title=title,
        across=PROTOCOLS[board.protocol].meaning_of(board.aspect),
        span=board.scale_range,
    )


def _ranks(board: Leaderboard) -> Plot:
    """Return the ranks that systems may have, by strengths or by differences of means."""
    if has_strengths(board):
        placed = [
            to_json(row_of_system.place)
            for row_of_system in board.standings
            if row_of_system.place is not None
        ]
        return ranks_plot(placed, f"{board.aspect}, by {board.judge}")
    ranked = [
        (row_of_system.score, row_of_system.ranks)
        for row_of_system in board.standings
        if row_of_system.ranks is not None
    ]
    means = [mean for score, _ in ranked if isinstance(mean := score.figure, float)]
    placed = [
        {
            "system": score.system,
            "rank": 1 + sum(mean > score.figure for mean in means),
            "best_rank": best,
            "worst_rank": worst,
        }
        for score, (best, worst) in ranked
        if isinstance(score.figure, float)
    ]
    title = f"{board.aspect}, {board.shown_protocol}, by {board.judge}"
    return ranks_plot(placed if len(placed) > 1 else [], title, allowed=RANKS_BY_MEANS)


def _described(board: Leaderboard) -> str:
    unit = UNITS.get(board.unit, board.unit)
    meaning = PROTOCOLS[board.protocol].meaning_of(board.aspect)
    scale = board.scale_range
    span = f" on {scale[0]:g} to {scale[1]:g}" if scale and PROTOCOLS[board.protocol].graded else ""
    return f"{board.shown_protocol.capitalize()}, {unit}: {meaning}{span}"
