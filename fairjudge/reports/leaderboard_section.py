"""Systems ranked, each leaderboard a plot and its table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from math import ceil

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

_MAX_SYSTEMS = 36
"""Systems of all leaderboards that paper has with figures."""
_MAX_LINES = 300
"""Lines of leaderboards on two printed pages of two columns."""
_LINES_AROUND = 10
"""Lines of a leaderboard on paper besides its systems."""
_NAME_WIDTH = 10
"""Characters of a system's name in a printed line."""


def leaderboard_parts(
    boards: Sequence[Leaderboard], findings: Sequence[Board] = ()
) -> Iterator[Part]:
    """Yield every leaderboard; by default with the findings of the board itself.

    Of many, paper has tables in two columns, and the first ones only where these are too many.
    """
    sentences = findings or [of_leaderboard(board) for board in boards]
    parts = [tuple(_board(board, of)) for board, of in zip(boards, sentences, strict=True)]
    if sum(len(board.standings) for board in boards) <= _MAX_SYSTEMS:
        yield from chain.from_iterable(parts)
    else:
        yield from _dense(boards, parts)
    if any(board.ranking is None for board in boards):
        yield Paragraph(
            "Intervals are 95 % and resample clusters. 'Difference to best' is the first system's "
            "mean minus this one's on the same clusters: on 15 clusters or more it is significant "
            "where its interval excludes 0. Overlapping intervals of two means do not say that "
            "they are alike. "
            f"Of means, {WEIGHTING}.",
            "note",
        )


def _board(board: Leaderboard, findings: Board) -> Iterator[Part]:
    yield Heading(_title(board))
    yield Paragraph(" ".join(board_findings(findings)))
    yield Paragraph(f"{_described(board)}.", "note")
    yield from (Paragraph(caution, "strong") for caution in leaderboard_cautions(board))
    yield Group((_plot(board), _ranks(board), leaderboard_table(board)))


def _title(board: Leaderboard) -> str:
    return f"{board.aspect.capitalize()}, by {board.judge}"


def _dense(boards: Sequence[Leaderboard], sections: Sequence[tuple[Part, ...]]) -> Iterator[Part]:
    """Yield leaderboards for two columns of paper, then those that it leaves out, by name."""
    n = max(1, sum(n_lines <= _MAX_LINES for n_lines in accumulate(map(_n_lines, boards))))
    left_out = ["the figures of these leaderboards"]
    left_out += [f"the leaderboard {_title(board)}" for board in boards[n:]]
    yield Paragraph(
        f"Not printed: {'; '.join(left_out)}. They stand on the page itself, under Systems; its "
        'button "Print everything" prints them too.',
        "paper",
    )
    yield Group(tuple(Group(parts, "board") for parts in sections[:n]), "dense")
    if n < len(boards):
        yield Group(tuple(chain.from_iterable(sections[n:])), "unprinted")


def _n_lines(board: Leaderboard) -> int:
    """Return about how many printed lines a leaderboard has; long names take several."""
    names = (standing.score.system for standing in board.standings)
    return _LINES_AROUND + sum(ceil(len(name) / _NAME_WIDTH) for name in names)


def _plot(board: Leaderboard) -> Plot:
    """Return the figures by which systems are ranked."""
    title = f"{board.aspect}, {board.shown_protocol}, by {board.judge}"
    if has_strengths(board):
        rows = [
            row(standing.score.system, to_json(standing.place.strength))
            for standing in board.standings
            if standing.place is not None
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
        places = [to_json(standing.place) for standing in board.standings if standing.place]
        return ranks_plot(places, f"{board.aspect}, by {board.judge}")
    ranked = [
        (standing.score.system, standing.score.figure, standing.ranks)
        for standing in board.standings
        if standing.ranks is not None and isinstance(standing.score.figure, float)
    ]
    places = [
        {
            "system": system,
            "rank": 1 + sum(other > mean for _, other, _ in ranked),
            "best_rank": best,
            "worst_rank": worst,
        }
        for system, mean, (best, worst) in ranked
    ]
    title = f"{board.aspect}, {board.shown_protocol}, by {board.judge}"
    return ranks_plot(places if len(places) > 1 else [], title, allowed=RANKS_BY_MEANS)


def _described(board: Leaderboard) -> str:
    unit, protocol = UNITS.get(board.unit, board.unit), PROTOCOLS[board.protocol]
    scale = board.scale_range
    span = f" on {scale[0]:g} to {scale[1]:g}" if scale and protocol.graded else ""
    return f"{board.shown_protocol.capitalize()}, {unit}: {protocol.meaning_of(board.aspect)}{span}"
