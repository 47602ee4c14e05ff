"""Systems ranked, each leaderboard a plot and its table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from fairjudge.protocols import PROTOCOLS
from fairjudge.records.results import figure
from fairjudge.reports.figures import Json, forest, row
from fairjudge.reports.findings import board_findings, of_leaderboard, two_kinds
from fairjudge.reports.parts import Group, Heading, Paragraph, Part
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import Column, TextTable
from fairjudge.scores.leaderboards import (
    WEIGHTING,
    Leaderboard,
    Standing,
    not_ranked,
    weak_judge,
)
from fairjudge.text.counting import pluralize

FEW_DOCUMENTS = 15
"""Below this an interval is flagged, as ``calibrate`` does."""
_UNITS = {
    "summary": "whole summaries",
    "sentence": "single sentences",
    "article": "one article at a time",
    "answer": "single answers",
}


def leaderboard_parts(boards: Sequence[Leaderboard]) -> Iterator[Part]:
    """Yield every leaderboard."""
    for board in boards:
        yield Heading(f"{board.aspect.capitalize()}, by {board.judge}")
        yield Paragraph(" ".join(board_findings(of_leaderboard(board))))
        yield Paragraph(f"{_described(board)}.", "note")
        yield from (Paragraph(caution, "strong") for caution in _cautions(board))
        plot = forest(
            [row(standing.score.system, figure(standing.mean)) for standing in board.standings],
            title=f"{board.aspect}, {board.shown_protocol}, by {board.judge}",
            across=PROTOCOLS[board.protocol].meaning_of(board.aspect),
            span=board.scale_range,
        )
        yield Group((plot, _table(board)))
    if boards:
        yield Paragraph(
            "Intervals are 95 % and resample documents. 'Behind' is the first system's mean less "
            "this one's on the same documents: an interval that leaves out 0 tells them apart, "
            "overlapping intervals of two means do not say that they are alike. "
            f"Of means, {WEIGHTING}.",
            "note",
        )


def _cautions(board: Leaderboard) -> Iterator[str]:
    n = max((standing.score.n_clusters for standing in board.standings), default=0)
    if n < FEW_DOCUMENTS:
        yield f"{pluralize(n, 'document')}: intervals that rest on so few are too narrow."
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
            (board.judge, board.shown_protocol, *(cells.get(head, "") for head in heads))
            for board, table in zip(boards, tables, strict=True)
            for cells in (dict(zip(table.columns, row, strict=True)) for row in table.rows)
        ),
        notes=tuple(dict.fromkeys(note for board in boards for note in _cautions(board))),
    )


def _table(board: Leaderboard) -> TextTable:
    unscored = any(standing.score.n_unscored for standing in board.standings)
    bounded = unscored and board.scale_range is not None
    return table(
        f"{board.aspect}, {board.shown_protocol}, {_UNITS.get(board.unit, board.unit)}",
        "system: {system} | mean [95 %]> {mean:interval} | difference to best> {behind:interval}"
        f"{' | worst> {low:number} | best> {high:number}' if bounded else ''}"
        " | documents> {n_clusters} | judged> {n_judged}"
        f"{' | unscored> {n_unscored}' if unscored else ''}",
        map(_row, board.standings),
        notes=["Worst and best: the mean if every unscored item stood at the bottom or the top."]
        if bounded
        else [],
    )


def _row(standing: Standing) -> Json:
    score = standing.score
    return {
        **asdict(score),
        "system": score.system if score.ranked else f"{score.system} (not ranked)",
        "mean": figure(standing.mean),
        "behind": figure(standing.behind),
    }
