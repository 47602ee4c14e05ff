"""What numbers say in a few plain sentences, by rules; no arithmetic beyond counting.

Terminal, page and JSON have the same sentences. Who leads comes first, then what the figure rests
on, then what to do next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairjudge.domain import Estimate
from fairjudge.reports.figures import named
from fairjudge.scores.leaderboards import FEWEST_CLUSTERS, Leaderboard
from fairjudge.text.counting import pluralize

_MAX_NAMED = 3
MUCH_UNSCORED = 0.05
"""Share of items without a score from which they come before everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """What the sentences on a ranking are made of.

    ``systems`` are those ranked, best first; ``as_good`` the others that may be no worse than the
    first, None where no intervals say so. ``reasons`` counts items without a score by reason.
    """

    aspect: str
    systems: Sequence[str]
    as_good: Sequence[str] | None
    not_ranked: Sequence[str]
    n_clusters: int
    n_items: int
    reasons: Mapping[str, int]
    by_default: bool


def board_findings(board: Board) -> tuple[str, ...]:
    """Return two to four sentences on a ranking; none where nothing was judged."""
    if not board.n_items:
        return ()
    return (*standing(board), _lost(board), next_step(board))


def standing(board: Board) -> tuple[str, ...]:
    """Return who leads, and who is not compared."""
    if not board.not_ranked:
        return (_leads(board),)
    others = named(board.not_ranked, _MAX_NAMED)
    return _leads(board), f"Judged on fewer clusters, and not compared: {others}."


def of_leaderboard(found: Leaderboard) -> Board:
    """Return what the report's leaderboard says: behind the first by an interval above 0 or not."""
    ranked = [one for one in found.standings if one.score.ranked and one.score.n_clusters]
    n_clusters = max((one.score.n_clusters for one in ranked), default=0)
    as_good = [
        one.score.system
        for one in ranked[1:]
        if not (isinstance(one.behind, Estimate) and (one.behind.low or 0.0) > 0)
    ]
    n_unscored = sum(one.score.n_unscored for one in found.standings)
    return Board(
        aspect=found.aspect,
        systems=[one.score.system for one in ranked],
        as_good=None if n_clusters < FEWEST_CLUSTERS else as_good,
        not_ranked=[one.score.system for one in found.standings if not one.score.ranked],
        n_clusters=n_clusters,
        n_items=sum(one.score.n_judged + one.score.n_unscored for one in found.standings),
        reasons={"unscored": n_unscored} if n_unscored else {},
        by_default=bool(found.n_by_default),
    )


def first_of(ranges: Mapping[str, tuple[int, int]], systems: Sequence[str]) -> list[str] | None:
    """Return which systems may share the first's rank, by the ranks that each may have."""
    return [name for name in systems[1:] if ranges[name][0] == 1] if ranges else None


def _leads(board: Board) -> str:
    if not board.systems:
        return "No system has a score."
    first = board.systems[0]
    if len(board.systems) == 1:
        return f"{first} alone can be ranked: there is nothing to compare it with."
    if board.as_good is None:
        return (
            f"{first} comes first in {board.aspect}, but {pluralize(board.n_clusters, 'cluster')} "
            "cannot tell systems apart."
        )
    if not board.as_good:
        return f"{first} leads in {board.aspect}, ahead of every other system beyond chance."
    others = named(board.as_good, _MAX_NAMED)
    return f"{first} comes first in {board.aspect}, but {others} may be as good."


def _lost(board: Board) -> str:
    n = sum(board.reasons.values())
    if not n:
        return "Every item has a score."
    told = ", ".join(f"{count} {reason}" for reason, count in board.reasons.items())
    share = f"{n} of {pluralize(board.n_items, 'item')} ({n / board.n_items:.0%})"
    return f"{share} {'is' if n == 1 else 'are'} without a score: {told}."


def next_step(board: Board) -> str:
    """Return what to do next."""
    if sum(board.reasons.values()) > MUCH_UNSCORED * board.n_items:
        return "Next: find out why so many have no score; the order may change with them."
    if board.as_good is None and len(board.systems) > 1:
        return f"Next: judge {FEWEST_CLUSTERS} clusters or more; a difference takes dozens."
    if board.by_default:
        return "Next: an LLM as judge, or labels by people for 'fairjudge calibrate'."
    return "How far this judge agrees with people is not said here: 'fairjudge calibrate' tells."
