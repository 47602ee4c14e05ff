"""The leaderboard's columns, in one place for terminal, page, notebook and data frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fairjudge.protocols import shown_protocol
from fairjudge.records.results import figure
from fairjudge.reports.figures import Json, sentence
from fairjudge.reports.findings import two_kinds
from fairjudge.reports.ranking_tables import RANKS_ALLOWED
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import Column, TextTable
from fairjudge.scores.leaderboards import (
    Leaderboard,
    Standing,
    n_compared,
    not_ranked,
    shared_only,
    too_narrow,
    weak_judge,
    why_no_ranks,
)
from fairjudge.scores.strengths import INCOMPLETE

DESIGN = (
    f"{INCOMPLETE[:1].upper()}{INCOMPLETE[1:]}, so that win rates depend on the opponents: "
    "systems are ranked by strength (Bradley-Terry with ties), which accounts for that."
)
"""What must be said of win rates in an incomplete design of pairs."""
RANKS_BY_MEANS = "the best and the worst that the 95 % intervals of the differences allow"
"""What a rank by means is."""
SIGNIFICANT = "* significant: the 95 % interval excludes 0."
EXCLUDES_0 = "(*) the 95 % interval excludes 0, but"
UNITS = {
    "summary": "whole summaries",
    "sentence": "single sentences",
    "article": "one article at a time",
    "answer": "single answers",
}


def has_strengths(board: Leaderboard) -> bool:
    """Say whether systems are ranked by strengths, of an incomplete design of pairs."""
    return any(standing.place is not None for standing in board.standings)


def leaderboard_rows(board: Leaderboard) -> list[Json]:
    """Return a row for each system, best first, with unrounded values; figures as JSON."""
    strengths = has_strengths(board)
    return [_row(standing, strengths=strengths) for standing in board.standings]


def _row(standing: Standing, *, strengths: bool) -> Json:
    score, place = standing.score, standing.place
    best_rank, worst_rank = standing.ranks or (None, None)
    strength = {"strength": figure(place.strength if place else None)} if strengths else {}
    return {
        "system": score.system,
        "best_rank": best_rank,
        "worst_rank": worst_rank,
        **strength,
        "mean": figure(standing.mean),
        "behind": figure(standing.behind),
        "significant": standing.significant,
        "n_clusters": score.n_clusters,
        "n_unscored": score.n_unscored,
        "n_judged": score.n_judged,
        "worst": score.low,
        "best": score.high,
        "ranked": score.ranked,
    }


def flat_rows(board: Leaderboard) -> Iterator[dict[str, Any]]:
    """Yield the rows for a data frame: a figure as its value and its ``_low`` and ``_high``."""
    for row in leaderboard_rows(board):
        flat: dict[str, Any] = {}
        for name, value in row.items():
            if isinstance(value, dict):
                ends = {f"{name}_{end}": value[end] for end in ("low", "high")}
                flat |= {name: value["value"], **ends}
            else:
                flat[name] = value
        yield flat


def leaderboard_table(board: Leaderboard) -> TextTable:
    """Return the table of a leaderboard, the least important columns last."""
    unscored = any(standing.score.n_unscored for standing in board.standings)
    bounded = unscored and board.scale_range is not None
    figures = [
        "system: {name}",
        "rank> {rank}",
        *(["strength [95 %]> {strength:interval}"] if has_strengths(board) else []),
        f"{'mean' if board.ranking is None else 'win rate'} [95 %]> {{mean:interval}}",
        *(["difference to best> {behind:interval}{star}"] if board.ranking is None else []),
    ]
    counts = [
        "clusters> {n_clusters}",
        *(["unscored> {n_unscored}"] if unscored else []),
        "judged> {n_judged}",
        *(["worst> {worst:number}", "best> {best:number}"] if bounded else []),
    ]
    star = "(*)" if _narrow(board) else "*"
    board_table = table(
        f"{board.aspect}, {board.shown_protocol}, {UNITS.get(board.unit, board.unit)}",
        " | ".join((*figures, *counts)),
        leaderboard_rows(board),
        notes=leaderboard_notes(board),
        name=lambda row: row["system"] if row["ranked"] else f"{row['system']} (not ranked)",
        rank=_rank,
        star=lambda row: star if row["significant"] else "",
    )
    return replace(board_table, n_optional=len(counts))


def _narrow(board: Leaderboard) -> str:
    """Say that the board's intervals are too narrow to call a difference significant."""
    ranked = [standing.score for standing in board.standings if standing.score.ranked]
    return too_narrow(n_compared(ranked or [standing.score for standing in board.standings]))


def _rank(row: Json) -> str:
    best, worst = row["best_rank"], row["worst_rank"]
    return "-" if best is None else f"{best}" if best == worst else f"{best}-{worst}"


def leaderboard_notes(board: Leaderboard) -> Iterator[str]:
    """Yield what the columns mean."""
    ranks = any(standing.ranks for standing in board.standings)
    if ranks and has_strengths(board):
        yield f"Rank: {RANKS_ALLOWED} (95 %)."
    elif ranks:
        yield f"Rank: {RANKS_BY_MEANS}."
    elif why := why_no_ranks(board):
        yield why
    narrow = _narrow(board)
    if any(standing.significant for standing in board.standings):
        yield f"{EXCLUDES_0} {narrow}." if narrow else SIGNIFICANT
    if any(standing.score.n_unscored for standing in board.standings) and board.scale_range:
        yield (
            "Worst and best: the mean if every unscored item stood at the bottom or the top of the "
            "scale."
        )


def leaderboard_cautions(board: Leaderboard) -> Iterator[str]:
    """Yield what a reader of the figures must know."""
    if narrow := _narrow(board):
        yield sentence(narrow)
    if board.ranking is not None:
        yield DESIGN
    scores = [standing.score for standing in board.standings]
    yield from filter(None, (not_ranked(scores), shared_only(scores)))
    if board.without_probabilities:
        n_scored = board.missing.n_items - board.missing.n
        yield two_kinds(board.without_probabilities, n_scored)
    if board.n_by_default:
        yield weak_judge(board.aspect, judge=board.judge)


def combined_table(boards: Sequence[Leaderboard]) -> TextTable:
    """Return all of `boards` in one table, with their cautions as notes."""
    tables = [leaderboard_table(board) for board in boards]
    if len(tables) == 1:
        return replace(tables[0], notes=(*tables[0].notes, *leaderboard_cautions(boards[0])))
    heads = tuple(dict.fromkeys(column for board_table in tables for column in board_table.columns))
    notes = (
        note
        for board, board_table in zip(boards, tables, strict=True)
        for note in (*board_table.notes, *leaderboard_cautions(board))
    )
    return TextTable(
        title="Systems, best first",
        columns=(Column(heading="judge"), Column(heading="protocol"), *heads),
        rows=tuple(
            (board.judge, _protocol(board), *(cells.get(head, "") for head in heads))
            for board, board_table in zip(boards, tables, strict=True)
            for cells in (
                dict(zip(board_table.columns, row, strict=True)) for row in board_table.rows
            )
        ),
        notes=tuple(dict.fromkeys(notes)),
    )


def _protocol(board: Leaderboard) -> str:
    return board.shown_protocol if board.derived else shown_protocol(board.protocol, board.unit)
