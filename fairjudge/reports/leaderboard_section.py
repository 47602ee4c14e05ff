"""Systems ranked, each leaderboard a plot and its table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from fairjudge.domain import Estimate
from fairjudge.protocols import PROTOCOLS, shown_protocol
from fairjudge.records.results import figure, to_json
from fairjudge.reports.figures import Json, forest, row
from fairjudge.reports.findings import Board, board_findings, of_leaderboard, two_kinds
from fairjudge.reports.parts import Group, Heading, Paragraph, Part, Plot
from fairjudge.reports.ranking_tables import RANKS_ALLOWED, shown_rank
from fairjudge.reports.result_figures import ranks_plot
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import Column, TextTable
from fairjudge.scores.leaderboards import (
    WEIGHTING,
    Leaderboard,
    Standing,
    not_ranked,
    weak_judge,
)
from fairjudge.scores.strengths import INCOMPLETE
from fairjudge.text.counting import pluralize

FEW_DOCUMENTS = 15
"""Below this an interval is flagged, as ``calibrate`` does."""
DESIGN = (
    f"{INCOMPLETE[:1].upper()}{INCOMPLETE[1:]}, so that a win rate says whom a system met: "
    "strengths (Bradley-Terry with ties) rank them, and hold whom each met against it."
)
"""What must be said of win rates in an incomplete design of pairs."""
RANKS_BY_MEANS = "from one after those surely above to one before those surely below"
"""What the interval of a rank by means holds."""
_UNITS = {
    "summary": "whole summaries",
    "sentence": "single sentences",
    "article": "one article at a time",
    "answer": "single answers",
}


def leaderboard_parts(boards: Sequence[Leaderboard], said: Sequence[Board] = ()) -> Iterator[Part]:
    """Yield every leaderboard; `said` is what is said of each, where that is more than it tells."""
    for board, sentences in zip(boards, said or map(of_leaderboard, boards), strict=True):
        yield Heading(f"{board.aspect.capitalize()}, by {board.judge}")
        yield Paragraph(" ".join(board_findings(sentences)))
        yield Paragraph(f"{_described(board)}.", "note")
        yield from (Paragraph(caution, "strong") for caution in _cautions(board))
        yield Group((_plot(board), _table(board), _ranks(board)))
    if any(board.ranking is None for board in boards):
        yield Paragraph(
            "Intervals are 95 % and resample documents. 'Difference to best' is the first system's "
            "mean less this one's on the same documents: an interval that leaves out 0 tells them "
            "apart, overlapping intervals of two means do not say that they are alike. "
            f"Of means, {WEIGHTING}.",
            "note",
        )


def _plot(board: Leaderboard) -> Plot:
    """Return the figures by which systems are ranked."""
    title = f"{board.aspect}, {board.shown_protocol}, by {board.judge}"
    if has_strengths(board):
        rows = [
            row(one.score.system, to_json(one.place.strength))
            for one in board.standings
            if one.place is not None
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
        placed = [to_json(one.place) for one in board.standings if one.place is not None]
        return ranks_plot(placed, f"{board.aspect}, by {board.judge}")
    means = {
        one.score.system: one.mean.value
        for one in board.standings
        if one.score.system in board.ranges and isinstance(one.mean, Estimate)
    }
    placed = [
        {
            "system": system,
            "rank": 1 + sum(other > mean for other in means.values()),
            "best_rank": board.ranges[system][0],
            "worst_rank": board.ranges[system][1],
        }
        for system, mean in means.items()
    ]
    title = f"{board.aspect}, {board.shown_protocol}, by {board.judge}"
    return ranks_plot(placed if len(placed) > 1 else [], title, allowed=RANKS_BY_MEANS)


def has_strengths(board: Leaderboard) -> bool:
    """Say whether systems are ranked by strengths, of an incomplete design of pairs."""
    return any(one.place is not None for one in board.standings)


def _cautions(board: Leaderboard) -> Iterator[str]:
    n = max((standing.score.n_clusters for standing in board.standings), default=0)
    if n < FEW_DOCUMENTS:
        yield f"{pluralize(n, 'document')}: intervals that rest on so few are too narrow."
    if board.ranking is not None:
        yield DESIGN
    if beside := not_ranked(standing.score for standing in board.standings):
        yield beside
    if board.without_probabilities:
        n_scored = board.missing.n_items - board.missing.n
        yield two_kinds(board.without_probabilities, n_scored)
    if board.n_by_default:
        yield weak_judge(board.aspect)


def _described(board: Leaderboard) -> str:
    unit = _UNITS.get(board.unit, board.unit)
    meaning = PROTOCOLS[board.protocol].meaning_of(board.aspect)
    scale = board.scale_range
    span = f" on {scale[0]:g} to {scale[1]:g}" if scale and PROTOCOLS[board.protocol].graded else ""
    return f"{board.shown_protocol.capitalize()}, {unit}: {meaning}{span}"


def combined_table(boards: Sequence[Leaderboard]) -> TextTable:
    """Return all of `boards` in one table, with what must be said of each below it."""
    tables = [_table(board) for board in boards]
    heads = tuple(dict.fromkeys(column for table in tables for column in table.columns))
    if len(tables) == 1:
        notes = tables[0].notes
        return replace(tables[0], notes=(*notes, *_cautions(boards[0])))
    by = Column(heading="judge")
    return TextTable(
        title="Systems, best first",
        columns=(by, Column(heading="protocol"), *heads),
        rows=tuple(
            (board.judge, _protocol(board), *(cells.get(head, "") for head in heads))
            for board, table in zip(boards, tables, strict=True)
            for cells in (dict(zip(table.columns, row, strict=True)) for row in table.rows)
        ),
        notes=tuple(dict.fromkeys(note for board in boards for note in _cautions(board))),
    )


def _protocol(board: Leaderboard) -> str:
    return board.shown_protocol if board.derived else shown_protocol(board.protocol, board.unit)


def _table(board: Leaderboard) -> TextTable:
    unscored = any(standing.score.n_unscored for standing in board.standings)
    bounded = unscored and board.scale_range is not None
    named = "win rate [95 %]" if board.ranking is not None else "mean [95 %]"
    shown = f"{named}> {{mean:interval}}"
    if has_strengths(board):
        shown = f"rank> {{rank}} | strength [95 %]> {{strength:interval}} | {shown}"
    elif board.ranking is None:
        shown += " | difference to best> {behind:interval}"
    return table(
        f"{board.aspect}, {board.shown_protocol}, {_UNITS.get(board.unit, board.unit)}",
        f"system: {{system}} | {shown}"
        f"{' | worst> {low:number} | best> {high:number}' if bounded else ''}"
        " | documents> {n_clusters} | judged> {n_judged}"
        f"{' | unscored> {n_unscored}' if unscored else ''}",
        map(_row, board.standings),
        notes=[
            "Worst and best: the mean if every unscored item stood at the bottom or the top."
            if bounded
            else "",
            f"In brackets after the rank: {RANKS_ALLOWED}." if has_strengths(board) else "",
        ],
    )


def _row(standing: Standing) -> Json:
    score = standing.score
    return {
        **asdict(score),
        "system": score.system if score.ranked else f"{score.system} (not ranked)",
        "mean": figure(standing.mean),
        "behind": figure(standing.behind),
        "strength": to_json(standing.place.strength) if standing.place else None,
        "rank": shown_rank(to_json(standing.place)) if standing.place else "-",
    }
