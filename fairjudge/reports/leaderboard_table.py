"""Columns of a leaderboard for terminal, page, notebook and data frame, and its plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from math import ceil
from typing import Any

from fairjudge.protocols import PROTOCOLS, protocol_label
from fairjudge.records.results import figure, to_json
from fairjudge.reports.figures import Json, forest, row, sentence
from fairjudge.reports.findings import Board, board_findings, to_board, two_kinds
from fairjudge.reports.parts import Group, Heading, Paragraph, Part, Plot
from fairjudge.reports.ranking_tables import POSSIBLE_RANKS
from fairjudge.reports.result_figures import ranks_plot
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import Column, TextTable
from fairjudge.scores.leaderboards import (
    WEIGHTING,
    Leaderboard,
    Standing,
    missing_ranks_note,
    n_compared,
    narrow_interval_caveat,
    shared_clusters_note,
    unranked_note,
    weak_judge_caveat,
)
from fairjudge.scores.strengths import INCOMPLETE

DESIGN = (
    f"{INCOMPLETE[:1].upper()}{INCOMPLETE[1:]}, so that win rates depend on the opponents: "
    "systems are ranked by strength (Bradley-Terry with ties), which accounts for that."
)
"""Caveat on win rates in an incomplete design of pairs."""
RANKS_BY_MEANS = "the best and the worst that the 95 % intervals of the differences allow"
"""Definition of a range of ranks by means."""
SIGNIFICANT = "* significant: the 95 % interval excludes 0."
EXCLUDES_0 = "(*) the 95 % interval excludes 0, but"
UNITS = {
    "summary": "whole summaries",
    "sentence": "single sentences",
    "article": "one article at a time",
    "answer": "single answers",
}


def has_strengths(board: Leaderboard) -> bool:
    """Return whether systems are ranked by strengths, as in an incomplete design of pairs."""
    return any(standing.place is not None for standing in board.standings)


def leaderboard_rows(board: Leaderboard) -> list[Json]:
    """Return one row per system, best first, with unrounded values; estimates as JSON."""
    with_strengths = has_strengths(board)
    return [_row(standing, with_strengths=with_strengths) for standing in board.standings]


def _row(standing: Standing, *, with_strengths: bool) -> Json:
    score, place = standing.score, standing.place
    best_rank, worst_rank = standing.ranks or (None, None)
    strength = {"strength": figure(place.strength if place else None)} if with_strengths else {}
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
    """Yield the rows of a data frame: an estimate as its value, ``_low`` and ``_high``."""
    for estimates in leaderboard_rows(board):
        flat_row: dict[str, Any] = {}
        for name, value in estimates.items():
            if isinstance(value, dict):
                bounds = {f"{name}_{bound}": value[bound] for bound in ("low", "high")}
                flat_row |= {name: value["value"], **bounds}
            else:
                flat_row[name] = value
        yield flat_row


def leaderboard_table(board: Leaderboard) -> TextTable:
    """Return the table of a leaderboard, with the least important columns last."""
    has_unscored = any(standing.score.n_unscored for standing in board.standings)
    has_bounds = has_unscored and board.scale_range is not None
    figures = [
        "system: {name}",
        "rank> {rank}",
        *(["strength [95 %]> {strength:interval}"] if has_strengths(board) else []),
        f"{'mean' if board.ranking is None else 'win rate'} [95 %]> {{mean:interval}}",
        *(["difference to best> {behind:interval}{star}"] if board.ranking is None else []),
    ]
    counts = [
        "clusters> {n_clusters}",
        *(["unscored> {n_unscored}"] if has_unscored else []),
        "judged> {n_judged}",
        *(["worst> {worst:number}", "best> {best:number}"] if has_bounds else []),
    ]
    star = "(*)" if _narrow_warning(board) else "*"
    board_table = table(
        f"{board.aspect}, {board.protocol_label}, {UNITS.get(board.unit, board.unit)}",
        " | ".join((*figures, *counts)),
        leaderboard_rows(board),
        notes=leaderboard_notes(board),
        name=lambda row: row["system"] if row["ranked"] else f"{row['system']} (not ranked)",
        rank=_rank,
        star=lambda row: star if row["significant"] else "",
    )
    return replace(board_table, n_optional=len(counts))


def _narrow_warning(board: Leaderboard) -> str:
    """Return a warning if the intervals are too narrow to call a difference significant, or ""."""
    ranked_scores = [standing.score for standing in board.standings if standing.score.ranked]
    return narrow_interval_caveat(
        n_compared(ranked_scores or [standing.score for standing in board.standings])
    )


def _rank(row: Json) -> str:
    best, worst = row["best_rank"], row["worst_rank"]
    return "-" if best is None else f"{best}" if best == worst else f"{best}-{worst}"


def leaderboard_notes(board: Leaderboard) -> Iterator[str]:
    """Yield explanations of the columns."""
    has_ranks = any(standing.ranks for standing in board.standings)
    if has_ranks and has_strengths(board):
        yield f"Rank: {POSSIBLE_RANKS} (95 %)."
    elif has_ranks:
        yield f"Rank: {RANKS_BY_MEANS}."
    elif reason := missing_ranks_note(board):
        yield reason
    warning = _narrow_warning(board)
    if any(standing.significant for standing in board.standings):
        yield f"{EXCLUDES_0} {warning}." if warning else SIGNIFICANT
    if any(standing.score.n_unscored for standing in board.standings) and board.scale_range:
        yield (
            "Worst and best: the mean if every unscored item had the minimum or the maximum of the "
            "scale."
        )


def leaderboard_caveats(board: Leaderboard) -> Iterator[str]:
    """Yield caveats on a leaderboard."""
    if warning := _narrow_warning(board):
        yield sentence(warning)
    if board.ranking is not None:
        yield DESIGN
    scores = [standing.score for standing in board.standings]
    yield from filter(None, (unranked_note(scores), shared_clusters_note(scores)))
    if board.without_probabilities:
        n_scored = board.missing.n_items - board.missing.n
        yield two_kinds(board.without_probabilities, n_scored)
    if board.n_by_default:
        yield weak_judge_caveat(board.aspect, judge=board.judge)


def combined_table(boards: Sequence[Leaderboard]) -> TextTable:
    """Return all of `boards` in one table, with their caveats as notes."""
    tables = [leaderboard_table(board) for board in boards]
    if len(tables) == 1:
        return replace(tables[0], notes=(*tables[0].notes, *leaderboard_caveats(boards[0])))
    headers = tuple(
        dict.fromkeys(column for board_table in tables for column in board_table.columns)
    )
    notes = (
        note
        for board, board_table in zip(boards, tables, strict=True)
        for note in (*board_table.notes, *leaderboard_caveats(board))
    )
    return TextTable(
        title="Systems, best first",
        columns=(Column(heading="judge"), Column(heading="protocol"), *headers),
        rows=tuple(
            (board.judge, _protocol(board), *(cells.get(header, "") for header in headers))
            for board, board_table in zip(boards, tables, strict=True)
            for cells in (
                dict(zip(board_table.columns, row, strict=True)) for row in board_table.rows
            )
        ),
        notes=tuple(dict.fromkeys(notes)),
    )


def _protocol(board: Leaderboard) -> str:
    return board.protocol_label if board.derived else protocol_label(board.protocol, board.unit)


_MAX_SYSTEMS = 36
"""Maximum number of systems of all leaderboards for which plots are printed."""
_MAX_LINES = 300
"""Lines of leaderboards on two printed pages of two columns."""
_LINES_AROUND = 10
"""Printed lines of a leaderboard besides its systems."""
_NAME_WIDTH = 10
"""Characters of a system's name in a printed line."""


def leaderboard_parts(
    boards: Sequence[Leaderboard], findings: Sequence[Board] = ()
) -> Iterator[Part]:
    """Yield every leaderboard with its findings, by default those without regard to other boards.

    If there are many systems, only tables are printed, in two columns, up to a maximum length.
    """
    board_inputs = findings or [to_board(board) for board in boards]
    parts = [
        tuple(_board(board, board_input))
        for board, board_input in zip(boards, board_inputs, strict=True)
    ]
    if sum(len(board.standings) for board in boards) <= _MAX_SYSTEMS:
        yield from chain.from_iterable(parts)
    else:
        yield from _print_parts(boards, parts)
    if any(board.ranking is None for board in boards):
        yield Paragraph(
            "Intervals are 95 % and resample clusters. 'Difference to best' is the first system's "
            "mean minus this one's on the same clusters; on 15 clusters or more it is significant "
            "if its interval excludes 0. Two means with overlapping intervals may differ "
            f"significantly. In means, {WEIGHTING}.",
            "note",
        )


def _board(board: Leaderboard, findings: Board) -> Iterator[Part]:
    yield Heading(_title(board))
    yield Paragraph(" ".join(board_findings(findings)))
    yield Paragraph(f"{_description(board)}.", "note")
    yield from (Paragraph(caution, "strong") for caution in leaderboard_caveats(board))
    yield Group((_plot(board), _ranks(board), leaderboard_table(board)))


def _title(board: Leaderboard) -> str:
    return f"{board.aspect.capitalize()}, by {board.judge}"


def _print_parts(
    boards: Sequence[Leaderboard], sections: Sequence[tuple[Part, ...]]
) -> Iterator[Part]:
    """Yield leaderboards for print in two columns, then those that are not printed."""
    n_printed = max(1, sum(n_lines <= _MAX_LINES for n_lines in accumulate(map(_n_lines, boards))))
    omissions = ["the plots of these leaderboards"]
    omissions += [f"the leaderboard {_title(board)}" for board in boards[n_printed:]]
    yield Paragraph(
        f"Not printed: {'; '.join(omissions)}. They are on the page itself, under Systems; its "
        'button "Print everything" prints them too.',
        "paper",
    )
    yield Group(tuple(Group(parts, "board") for parts in sections[:n_printed]), "dense")
    if n_printed < len(boards):
        yield Group(tuple(chain.from_iterable(sections[n_printed:])), "unprinted")


def _n_lines(board: Leaderboard) -> int:
    """Return the approximate number of printed lines of a leaderboard; long names take several."""
    names = (standing.score.system for standing in board.standings)
    return _LINES_AROUND + sum(ceil(len(name) / _NAME_WIDTH) for name in names)


def _plot(board: Leaderboard) -> Plot:
    """Return the plot of the scores by which systems are ranked."""
    title = f"{board.aspect}, {board.protocol_label}, by {board.judge}"
    if has_strengths(board):
        rows = [
            row(standing.score.system, to_json(standing.place.strength))
            for standing in board.standings
            if standing.place is not None
        ]
        return forest(rows, title=title, x_label="strength (log-odds; they add up to 0)")
    return forest(
        [row(standing.score.system, figure(standing.mean)) for standing in board.standings],
        title=title,
        x_label=PROTOCOLS[board.protocol].meaning_of(board.aspect),
        span=board.scale_range,
    )


def _ranks(board: Leaderboard) -> Plot:
    """Return the plot of possible ranks, by strengths or by differences of means."""
    if has_strengths(board):
        rows = [to_json(standing.place) for standing in board.standings if standing.place]
        return ranks_plot(rows, f"{board.aspect}, by {board.judge}")
    ranked_systems = [
        (standing.score.system, standing.score.ranking_value, standing.ranks)
        for standing in board.standings
        if standing.ranks is not None and isinstance(standing.score.ranking_value, float)
    ]
    rows = [
        {
            "system": system,
            "rank": 1 + sum(other_mean > mean for _, other_mean, _ in ranked_systems),
            "best_rank": best,
            "worst_rank": worst,
        }
        for system, mean, (best, worst) in ranked_systems
    ]
    title = f"{board.aspect}, {board.protocol_label}, by {board.judge}"
    return ranks_plot(rows if len(rows) > 1 else [], title, definition=RANKS_BY_MEANS)


def _description(board: Leaderboard) -> str:
    unit, protocol = UNITS.get(board.unit, board.unit), PROTOCOLS[board.protocol]
    scale = board.scale_range
    span = f" on {scale[0]:g} to {scale[1]:g}" if scale and protocol.graded else ""
    return f"{board.protocol_label.capitalize()}, {unit}: {protocol.meaning_of(board.aspect)}{span}"
