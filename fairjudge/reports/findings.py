"""What numbers say in a few plain sentences, by rules; no arithmetic beyond counting.

Terminal, page and JSON have the same sentences. Who leads comes first, then what the figure rests
on, then what to do next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from fairjudge.calibration.constancy import Constant
from fairjudge.domain import Estimate
from fairjudge.reports.figures import MAX_NAMED, first_items
from fairjudge.scores.aggregate import SystemScore
from fairjudge.scores.leaderboards import (
    MIN_CLUSTERS,
    Leaderboard,
    Standing,
    n_compared,
    narrow_interval_caveat,
    shared_clusters_note,
)
from fairjudge.scores.missing import reason_counts
from fairjudge.stats.leaders import leaders
from fairjudge.text.counting import percentage, pluralize

Judged: TypeAlias = tuple[str, str, str]
"""A judge, an aspect and a protocol."""
NEXT = "Next: "
"""How a sentence on what to do next begins."""
NEXT_LLM = f"{NEXT}an LLM as judge"
MUCH_UNSCORED = 0.05
"""Share of items without a score from which they come before everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """What the sentences on a ranking are made of.

    ``systems`` are those ranked, best first, of which the first ``n_level`` share the best score,
    which is ``score`` in words; ``as_good`` are the others that may be no worse than the first,
    None where no intervals say so: ``by_rank`` says whether by the ranks that they may have, or by
    their difference to the first. ``why`` says why no system is ranked where one has a score.
    ``constant`` says that the judge gave one value to all scored items.
    ``of`` tells this ranking from others beside it, such as ``", judged by a"``; ``calibrated``
    says that its judge is held against people there.
    ``reasons`` counts items without a score by reason, ``without_probabilities`` scores that do not
    come from the token probabilities that were asked for.
    """

    aspect: str
    systems: Sequence[str]
    as_good: Sequence[str] | None
    not_ranked: Sequence[str]
    n_clusters: int
    n_items: int
    reasons: Mapping[str, int]
    by_default: bool
    n_level: int = 1
    by_rank: bool = False
    without_probabilities: Mapping[str, int] = field(default_factory=dict)
    score: str = "mean"
    why: str = ""
    constant: Constant | None = None
    of: str = ""
    calibrated: bool = False

    @property
    def what(self) -> str:
        """The aspect, with the words that distinguish this ranking from others."""
        return f"{self.aspect}{self.of}"


def board_findings(board: Board) -> tuple[str, ...]:
    """Return two to four sentences on a ranking; () if nothing was judged."""
    if not board.n_items:
        return ()
    return (*standing(board), _lost(board), next_step(board))


def standing(board: Board) -> tuple[str, ...]:
    """Return the leader, systems that are not compared, and whether scores are of two kinds."""
    sentences = [_leads(board)]
    if board.calibrated and board.as_good is not None and len(board.systems) > 1:
        sentences.append(f"That is the judge's order{_of(board)}; see whether it may rank systems.")
    if board.not_ranked and board.systems:
        names = first_items(board.not_ranked)
        sentences.append(f"Judged on fewer clusters{_of(board)}, and not compared: {names}.")
    if board.without_probabilities:
        n_scored = board.n_items - sum(board.reasons.values())
        sentences.append(two_kinds(board.without_probabilities, n_scored, of=board.of))
    return tuple(sentences)


def two_kinds(without_probabilities: Mapping[str, int], n_scored: int, *, of: str = "") -> str:
    """Say how many scores do not come from token probabilities, and what that does to means."""
    n = sum(without_probabilities.values())
    why = ", ".join(f"{count} {reason}" for reason, count in without_probabilities.items())
    if n >= n_scored:
        return f"No score{of} comes from token probabilities: {why}."
    return (
        f"{n} of {pluralize(n_scored, 'score')} {'does' if n == 1 else 'do'} not come from token "
        f"probabilities, so that means are of both kinds: {why}."
    )


def of_leaderboard(leaderboard: Leaderboard) -> Board:
    """Return the board of a leaderboard: which systems are significantly behind the first."""
    ranked = [row for row in leaderboard.standings if row.score.ranked and row.score.n_clusters]
    n_clusters = n_compared(row.score for row in ranked)
    scores = [row.score for row in leaderboard.standings]
    return Board(
        aspect=leaderboard.aspect,
        systems=[row.score.system for row in ranked],
        as_good=_as_good(leaderboard, ranked) if n_clusters >= MIN_CLUSTERS else None,
        not_ranked=[score.system for score in scores if not score.ranked],
        n_clusters=n_clusters,
        n_items=leaderboard.missing.n_items,
        reasons=leaderboard.missing.reasons,
        by_default=bool(leaderboard.n_by_default),
        n_level=n_level(row.score for row in ranked),
        by_rank=leaderboard.ranking is not None,
        without_probabilities=leaderboard.without_probabilities,
        score=score_in_words(scores),
        why=why_not_ranked(scores),
        constant=leaderboard.constant,
    )


def boards_beside(boards: Sequence[Leaderboard], calibrated: Collection[Judged]) -> list[Board]:
    """Return the boards of one page, with distinguishing names if several are of an aspect.

    `calibrated` has the judges, each with an aspect and a protocol, that are held against people.
    """
    judges = {board.judge for board in boards}

    def distinction(board: Leaderboard) -> str:
        protocols = {
            (other.protocol_label, other.unit)
            for other in boards
            if (other.aspect, other.judge) == (board.aspect, board.judge)
        }
        protocol = f", {board.protocol_label} of each {board.unit}" if len(protocols) > 1 else ""
        return protocol + (f", judged by {board.judge}" if len(judges) > 1 else "")

    return [
        replace(
            of_leaderboard(board),
            of=distinction(board),
            calibrated=(board.judge, board.aspect, board.protocol) in calibrated,
        )
        for board in boards
    ]


def _as_good(board: Leaderboard, ranked: Sequence[Standing]) -> list[str] | None:
    """Return the systems not significantly behind the first; None without intervals."""
    if board.ranking is None:
        return [row.score.system for row in ranked[1:] if not _is_behind(row)]
    places = [row.place for row in ranked if row.place is not None]
    if any(place.best_rank is None for place in places):
        return None
    return [place.system for place in places[1:] if place.best_rank == 1]


def _is_behind(standing: Standing) -> bool:
    return isinstance(standing.behind, Estimate) and (standing.behind.low or 0.0) > 0


def score_in_words(scores: Iterable[SystemScore]) -> str:
    """Return what `scores` are ranked by: a mean, or ``"strength"`` of an incomplete design."""
    every = list(scores)
    if any(score.strength is not None for score in every):
        return "strength"
    return "mean" if shared_clusters_note(every) is None else "mean over shared clusters"


def why_not_ranked(scores: Iterable[SystemScore]) -> str:
    """Return why no system is ranked though some have a score; empty where one is."""
    return next((score.why for score in scores if score.why), "")


def n_level(scores: Iterable[SystemScore]) -> int:
    """Return how many systems share the best score."""
    figures = {
        score.system: score.ranking_value
        for score in scores
        if isinstance(score.ranking_value, float | int)
    }
    return len(leaders(figures))


def first_of(ranges: Mapping[str, tuple[int, int]], systems: Sequence[str]) -> list[str] | None:
    """Return which systems may share the first's rank, by the ranks that each may have."""
    return [name for name in systems[1:] if ranges[name][0] == 1] if ranges else None


def _of(board: Board) -> str:
    """Return the words that distinguish a ranking from others on the page."""
    return f" in {board.what}" if board.of else ""


def _leads(board: Board) -> str:
    if not board.systems:
        leads = f"leads{_of(board)}: {board.why}" if board.why else f"has a score{_of(board)}"
        return f"No system {leads}."
    first = board.systems[: board.n_level]
    if board.constant is not None:
        return f"In {board.what} {board.constant.in_words()}: no system leads."
    if len(board.systems) == 1:
        return f"{first[0]} alone can be ranked{_of(board)}: there is nothing to compare it with."
    leads = f"{first[0]} has the highest {board.score} in {board.what}"
    if len(first) > 1:
        leads = f"{together(first)} tie for first place in {board.what}"
    if board.as_good is None:
        return f"{leads}; {_cannot_tell(board)}."
    if len(first) == len(board.systems):
        return f"{leads}."
    as_good = [name for name in board.as_good if name not in first]
    comparison = compared(as_good, by_rank=board.by_rank, n_clusters=board.n_clusters)
    return f"{leads}; {comparison}."


def _cannot_tell(board: Board) -> str:
    """Say why there are no intervals."""
    if board.n_clusters >= MIN_CLUSTERS:
        return "by how much cannot be estimated: some system never loses"
    return f"too few clusters ({board.n_clusters}) to compare systems"


def compared(as_good: Sequence[str], *, by_rank: bool, n_clusters: int) -> str:
    """Say which other systems may share the first place, by what the table beside it shows.

    That is the rank that each may have, or its difference to the first. None is called significant
    by intervals that are too narrow.
    """
    names, narrow = first_items(as_good), narrow_interval_caveat(n_clusters)
    if by_rank and names:
        return f"{names} may rank first too (95 %)"
    if by_rank:
        return f"no other system may rank first (95 %{narrow and f'; but {narrow}'})"
    if not names and narrow:
        return f"the 95 % interval of every other system's difference excludes 0, but {narrow}"
    if not names:
        return "the difference to every other system is significant (95 %)"
    return f"the difference to {names} is not significant (95 %)"


def together(names: Sequence[str]) -> str:
    """Return names as the subject of a sentence: ``"a and b"``, ``"a, b, c and 3 more"``."""
    if len(names) > MAX_NAMED:
        return first_items(names)
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _lost(board: Board) -> str:
    n = sum(board.reasons.values())
    if not n:
        return f"Every {'judged ' if board.not_ranked else ''}item has a score."
    counts = reason_counts(board.reasons)
    share = f"{n} of {pluralize(board.n_items, 'item')} ({percentage(n / board.n_items)})"
    return f"{share} {'is' if n == 1 else 'are'} without a score: {counts}."


def next_step(board: Board) -> str:
    """Return what to do next."""
    if sum(board.reasons.values()) > MUCH_UNSCORED * board.n_items:
        return "Next: find out why these have no score; the order may change with them."
    if board.why:
        return "Next: judge all systems on the same clusters, or pairs that link them."
    if board.as_good is None and len(board.systems) > 1 and board.n_clusters < MIN_CLUSTERS:
        return f"Next: judge {MIN_CLUSTERS} clusters or more; a difference takes dozens."
    if board.calibrated:
        return "Agreement of this judge with human labels: see 'Trust in the judge'."
    if board.by_default:
        return f"{NEXT_LLM}, or human labels for 'fairjudge calibrate'."
    return f"{NEXT}'fairjudge calibrate' measures how far this judge agrees with human labels."


def before_command(finding: str) -> str:
    """Return a finding as it stands above the command that calibrates, which says the rest."""
    if "'fairjudge calibrate'" not in finding:
        return finding
    return f"{NEXT_LLM}." if finding.startswith(NEXT_LLM) else ""
