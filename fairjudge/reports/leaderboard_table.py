"""A leaderboard's columns, in one place for terminal, page, notebook and data frame; its plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from math import ceil
from typing import Any

from fairjudge.protocols import PROTOCOLS, protocol_label
from fairjudge.records.results import figure, to_json
from fairjudge.reports.figures import Json, forest, row, sentence
from fairjudge.reports.findings import Board, board_findings, of_leaderboard, two_kinds
from fairjudge.reports.parts import Group, Heading, Paragraph, Part, Plot
from fairjudge.reports.ranking_tables import RANKS_ALLOWED
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
    for line in leaderboard_rows(board):
        flat: dict[str, Any] = {}
        for name, value in line.items():
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
        f"{board.aspect}, {board.protocol_label}, {UNITS.get(board.unit, board.unit)}",
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
    return narrow_interval_caveat(
        n_compared(ranked or [standing.score for standing in board.standings])
    )


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
    elif why := missing_ranks_note(board):
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
    yield from filter(None, (unranked_note(scores), shared_clusters_note(scores)))
    if board.without_probabilities:
        n_scored = board.missing.n_items - board.missing.n
        yield two_kinds(board.without_probabilities, n_scored)
    if board.n_by_default:
        yield weak_judge_caveat(board.aspect, judge=board.judge)


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
    return board.protocol_label if board.derived else protocol_label(board.protocol, board.unit)


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
    title = f"{board.aspect}, {board.protocol_label}, by {board.judge}"
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
        (standing.score.system, standing.score.ranking_value, standing.ranks)
        for standing in board.standings
        if standing.ranks is not None and isinstance(standing.score.ranking_value, float)
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
    title = f"{board.aspect}, {board.protocol_label}, by {board.judge}"
    return ranks_plot(places if len(places) > 1 else [], title, allowed=RANKS_BY_MEANS)


def _described(board: Leaderboard) -> str:
    unit, protocol = UNITS.get(board.unit, board.unit), PROTOCOLS[board.protocol]
    scale = board.scale_range
    span = f" on {scale[0]:g} to {scale[1]:g}" if scale and protocol.graded else ""
    return f"{board.protocol_label.capitalize()}, {unit}: {protocol.meaning_of(board.aspect)}{span}"
