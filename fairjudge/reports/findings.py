"""Findings on rankings, in a few sentences, by rules.

Terminal, page and JSON have the same sentences: first the leader, then limitations, then the next
step.
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

JudgeKey: TypeAlias = tuple[str, str, str]
"""A judge, an aspect and a protocol."""
NEXT = "Next: "
"""First word of a sentence on the next step."""
NEXT_LLM = f"{NEXT}an LLM as judge"
MUCH_UNSCORED = 0.05
"""Share of items without a score above which investigating them is the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Input of the sentences on a ranking.

    ``systems`` are the ranked ones, best first; the first ``n_level`` share the best score, which
    is called ``score``. ``rivals`` are the others that are not significantly worse than the first,
    by their possible ranks (``by_rank``) or by their difference to the first; None without
    intervals. ``unranked_reason`` is the reason if systems have scores but none is ranked.
    ``constant`` is set if the judge gave one value to all scored items.
    ``suffix`` distinguishes the ranking from others on a page, such as ``", judged by a"``;
    ``calibrated`` is whether the page has a calibration of its judge.
    ``reasons`` counts items without a score by reason, ``without_probabilities`` scores without
    the requested token probabilities.
    """

    aspect: str
    systems: Sequence[str]
    rivals: Sequence[str] | None
    unranked: Sequence[str]
    n_clusters: int
    n_items: int
    reasons: Mapping[str, int]
    by_default: bool
    n_level: int = 1
    by_rank: bool = False
    without_probabilities: Mapping[str, int] = field(default_factory=dict)
    score: str = "mean"
    unranked_reason: str = ""
    constant: Constant | None = None
    suffix: str = ""
    calibrated: bool = False

    @property
    def title(self) -> str:
        """The aspect, with the suffix that distinguishes this ranking from others."""
        return f"{self.aspect}{self.suffix}"


def board_findings(board: Board) -> tuple[str, ...]:
    """Return two to four sentences on a ranking; () if nothing was judged."""
    if not board.n_items:
        return ()
    return (*leader_sentences(board), _unscored_sentence(board), next_step(board))


def leader_sentences(board: Board) -> tuple[str, ...]:
    """Return the leader, unranked systems, and a warning if scores are of two kinds."""
    sentences = [_leader_sentence(board)]
    if board.calibrated and board.rivals is not None and len(board.systems) > 1:
        sentences.append(
            f"That is the judge's ranking{_suffix(board)}; check whether it may rank systems."
        )
    if board.unranked and board.systems:
        names = first_items(board.unranked)
        sentences.append(f"Judged on fewer clusters{_suffix(board)}, and not compared: {names}.")
    if board.without_probabilities:
        n_scored = board.n_items - sum(board.reasons.values())
        sentences.append(two_kinds(board.without_probabilities, n_scored, suffix=board.suffix))
    return tuple(sentences)


def two_kinds(without_probabilities: Mapping[str, int], n_scored: int, *, suffix: str = "") -> str:
    """Return a warning on scores that do not come from token probabilities."""
    n = sum(without_probabilities.values())
    reasons = ", ".join(f"{count} {reason}" for reason, count in without_probabilities.items())
    if n >= n_scored:
        return f"No score{suffix} comes from token probabilities: {reasons}."
    return (
        f"{n} of {pluralize(n_scored, 'score')} {'does' if n == 1 else 'do'} not come from token "
        f"probabilities, so means mix both kinds: {reasons}."
    )


def to_board(leaderboard: Leaderboard) -> Board:
    """Convert a leaderboard to a board."""
    ranked_rows = [
        row for row in leaderboard.standings if row.score.ranked and row.score.n_clusters
    ]
    n_clusters = n_compared(row.score for row in ranked_rows)
    scores = [row.score for row in leaderboard.standings]
    return Board(
        aspect=leaderboard.aspect,
        systems=[row.score.system for row in ranked_rows],
        rivals=_rivals(leaderboard, ranked_rows) if n_clusters >= MIN_CLUSTERS else None,
        unranked=[score.system for score in scores if not score.ranked],
        n_clusters=n_clusters,
        n_items=leaderboard.missing.n_items,
        reasons=leaderboard.missing.reasons,
        by_default=bool(leaderboard.n_by_default),
        n_level=n_level(row.score for row in ranked_rows),
        by_rank=leaderboard.ranking is not None,
        without_probabilities=leaderboard.without_probabilities,
        score=score_in_words(scores),
        unranked_reason=unranked_reason(scores),
        constant=leaderboard.constant,
    )


def page_boards(
    boards: Sequence[Leaderboard], calibrated_judges: Collection[JudgeKey]
) -> list[Board]:
    """Return the boards of one page, with suffixes if several have the same aspect.

    `calibrated_judges` are those that the page has a calibration of.
    """
    judges = {board.judge for board in boards}

    def distinction(board: Leaderboard) -> str:
        protocols = {
            (board_of_judge.protocol_label, board_of_judge.unit)
            for board_of_judge in boards
            if (board_of_judge.aspect, board_of_judge.judge) == (board.aspect, board.judge)
        }
        protocol = f", {board.protocol_label} of each {board.unit}" if len(protocols) > 1 else ""
        return protocol + (f", judged by {board.judge}" if len(judges) > 1 else "")

    return [
        replace(
            to_board(board),
            suffix=distinction(board),
            calibrated=(board.judge, board.aspect, board.protocol) in calibrated_judges,
        )
        for board in boards
    ]


def _rivals(board: Leaderboard, rows: Sequence[Standing]) -> list[str] | None:
    """Return the systems that are not significantly behind the first; None without intervals."""
    if board.ranking is None:
        return [row.score.system for row in rows[1:] if not _is_behind(row)]
    rank_rows = [row.place for row in rows if row.place is not None]
    if any(row.best_rank is None for row in rank_rows):
        return None
    return [row.system for row in rank_rows[1:] if row.best_rank == 1]


def _is_behind(row: Standing) -> bool:
    return isinstance(row.behind, Estimate) and (row.behind.low or 0.0) > 0


def score_in_words(scores: Iterable[SystemScore]) -> str:
    """Return the name of the ranked score: a mean, or ``"strength"`` in an incomplete design."""
    every = list(scores)
    if any(score.strength is not None for score in every):
        return "strength"
    return "mean" if shared_clusters_note(every) is None else "mean over shared clusters"


def unranked_reason(scores: Iterable[SystemScore]) -> str:
    """Return the reason why no system is ranked though some have a score, or ``""``."""
    return next((score.why for score in scores if score.why), "")


def n_level(scores: Iterable[SystemScore]) -> int:
    """Return the number of systems that share the best score."""
    figures = {
        score.system: score.ranking_value
        for score in scores
        if isinstance(score.ranking_value, float | int)
    }
    return len(leaders(figures))


def rank_rivals(ranges: Mapping[str, tuple[int, int]], systems: Sequence[str]) -> list[str] | None:
    """Return the systems after the first that may rank first, by their ranges of ranks."""
    return [name for name in systems[1:] if ranges[name][0] == 1] if ranges else None


def _suffix(board: Board) -> str:
    """Return a phrase that distinguishes a ranking from others on the page, or ""."""
    return f" in {board.title}" if board.suffix else ""


def _leader_sentence(board: Board) -> str:
    if not board.systems:
        reason = board.unranked_reason
        leads = f"leads{_suffix(board)}: {reason}" if reason else f"has a score{_suffix(board)}"
        return f"No system {leads}."
    first = board.systems[: board.n_level]
    if board.constant is not None:
        return f"In {board.title} {board.constant.in_words()}: no system leads."
    if len(board.systems) == 1:
        return f"Only {first[0]} can be ranked{_suffix(board)}: there is no system to compare."
    leads = f"{first[0]} has the highest {board.score} in {board.title}"
    if len(first) > 1:
        leads = f"{join_names(first)} tie for first place in {board.title}"
    if board.rivals is None:
        return f"{leads}; {_no_interval_reason(board)}."
    if len(first) == len(board.systems):
        return f"{leads}."
    rivals = [name for name in board.rivals if name not in first]
    comparison = comparison_clause(rivals, by_rank=board.by_rank, n_clusters=board.n_clusters)
    return f"{leads}; {comparison}."


def _no_interval_reason(board: Board) -> str:
    """Return the reason why there are no intervals."""
    if board.n_clusters >= MIN_CLUSTERS:
        return "the differences cannot be estimated: some system never loses"
    return f"too few clusters ({board.n_clusters}) to compare systems"


def comparison_clause(rivals: Sequence[str], *, by_rank: bool, n_clusters: int) -> str:
    """Return a clause on the systems that are not significantly worse than the first.

    They are determined by their possible ranks, or by their difference to the first. With too few
    clusters intervals are too narrow, and no difference is called significant.
    """
    names, warning = first_items(rivals), narrow_interval_caveat(n_clusters)
    if by_rank and names:
        return f"{names} may rank first too (95 %)"
    if by_rank:
        return f"no other system may rank first (95 %{warning and f'; but {warning}'})"
    if not names and warning:
        return f"the 95 % interval of every other system's difference excludes 0, but {warning}"
    if not names:
        return "the difference to every other system is significant (95 %)"
    return f"the difference to {names} is not significant (95 %)"


def join_names(names: Sequence[str]) -> str:
    """Return names as the subject of a sentence: ``"a and b"``, ``"a, b, c and 3 more"``."""
    if len(names) > MAX_NAMED:
        return first_items(names)
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _unscored_sentence(board: Board) -> str:
    n = sum(board.reasons.values())
    if not n:
        return f"Every {'judged ' if board.unranked else ''}item has a score."
    counts = reason_counts(board.reasons)
    share = f"{n} of {pluralize(board.n_items, 'item')} ({percentage(n / board.n_items)})"
    return f"{share} {'is' if n == 1 else 'are'} without a score: {counts}."


def next_step(board: Board) -> str:
    """Return the recommended next step."""
    if sum(board.reasons.values()) > MUCH_UNSCORED * board.n_items:
        return "Next: find out why these have no score; their scores may change the ranking."
    if board.unranked_reason:
        return "Next: judge all systems on the same clusters, or pairs that link them."
    if board.rivals is None and len(board.systems) > 1 and board.n_clusters < MIN_CLUSTERS:
        return f"Next: judge at least {MIN_CLUSTERS} clusters; significance takes dozens."
    if board.calibrated:
        return "Agreement of this judge with human labels: see 'Trust in the judge'."
    if board.by_default:
        return f"{NEXT_LLM}, or human labels for 'fairjudge calibrate'."
    return f"{NEXT}'fairjudge calibrate' measures how far this judge agrees with human labels."


def before_command(finding: str) -> str:
    """Return a finding shortened for display above the command 'fairjudge calibrate'."""
    if "'fairjudge calibrate'" not in finding:
        return finding
    return f"{NEXT_LLM}." if finding.startswith(NEXT_LLM) else ""
