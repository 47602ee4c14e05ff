"""Results of judging by aspect, as sentences and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from fairjudge.calibration.grouping import unit_kind
from fairjudge.errors import InputError
from fairjudge.judges.balance import BALANCE
from fairjudge.options.judging import JudgeOptions
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.results import figure
from fairjudge.records.schema import with_schema
from fairjudge.reports.findings import (
    Board,
    board_findings,
    n_level,
    rank_rivals,
    score_in_words,
    unranked_reason,
)
from fairjudge.run.judging import JudgeOutcome
from fairjudge.scores.aggregate import system_scores
from fairjudge.scores.leaderboards import (
    WEIGHTING,
    Leaderboard,
    leaderboard,
    leaderboards,
    n_compared,
)
from fairjudge.scores.ratings import ScoreRow

_Row = TypeVar("_Row", bound=ScoreRow)


def _of_first_judge(rows: Sequence[_Row]) -> list[_Row]:
    """Return the rows of the first judge: of the jury, if there is one."""
    return [row for row in rows if row.judge == rows[0].judge]


@dataclass(frozen=True, kw_only=True)
class AspectReport:
    """Results for one aspect; each part is computed on first use.

    ``seed`` is the random seed of the bootstrap that compares systems.
    """

    outcome: JudgeOutcome
    seed: int = 0

    @cached_property
    def leaderboard(self) -> Leaderboard | None:
        """The leaderboard by the judge, or by the jury if there is one; None without judgements."""
        outcome = self.outcome
        rows = _of_first_judge(outcome.ratings)
        if not rows:
            return None
        span, unit = outcome.scale_range, unit_kind(rows[0].unit)
        return leaderboard(rows, unit=unit, scale_range=span, seed=self.seed)

    @cached_property
    def derived(self) -> tuple[Leaderboard, ...]:
        """The leaderboards of judgements derived from checklists, by protocol."""
        rows = _of_first_judge(self.outcome.derived)
        return leaderboards(rows, seed=self.seed)

    @property
    def ranks(self) -> Mapping[str, tuple[int, int]]:
        """The best and the worst possible rank of each system; see `Standing`."""
        standings = self.leaderboard.standings if self.leaderboard else ()
        return {
            standing.score.system: standing.ranks
            for standing in standings
            if standing.ranks is not None
        }

    @cached_property
    def covered(self) -> list[dict[str, Any]]:
        """The coverage of each system (`covered_report`), from checklists or named sources."""
        from fairjudge.auditing.reports import covered_report

        outcome, plan = self.outcome, self.outcome.plan
        if not PROTOCOLS[plan.protocol].itemized and plan.aspect != BALANCE:
            return []
        lists = [row for row in outcome.judgements if row.checklist or row.sources]
        return covered_report(lists, outcome.references)["groups"] if lists else []

    @cached_property
    def statements(self) -> list[dict[str, Any]]:
        """The statements of each system (`statements_report`), from checklists of faithfulness."""
        from fairjudge.auditing.statements import statements_report

        outcome = self.outcome
        if not any(row.statements for row in outcome.judgements):
            return []
        report = statements_report(outcome.judgements, outcome.references, outcome.cited)
        return list(report["groups"])

    @cached_property
    def stability(self) -> dict[str, Any] | None:
        """Stability over repeats (`stability_report`); None if no item has two scores."""
        from fairjudge.auditing.stability import stability_report

        ratings = self.outcome.ratings
        if all(rating.repeat is None and rating.variant is None for rating in ratings):
            return None
        try:
            return stability_report(self.outcome.judgements)
        except InputError:  # items were judged repeatedly, but none was scored twice
            return None

    @property
    def board(self) -> Board:
        """The leaderboard with the context that findings need."""
        outcome = self.outcome
        scores = [score for score in outcome.scores if score.ranked and score.n_clusters]
        ranked = [score.system for score in scores]
        return Board(
            aspect=outcome.plan.aspect,
            systems=ranked,
            rivals=rank_rivals(self.ranks, ranked),
            unranked=[score.system for score in outcome.scores if not score.ranked],
            n_clusters=n_compared(scores or outcome.scores),
            n_items=outcome.missing.n_items,
            reasons=outcome.missing.reasons,
            by_default=any(rating.scored_by == "embedding" for rating in outcome.ratings),
            n_level=n_level(scores),
            by_rank=True,
            without_probabilities=outcome.without_probabilities,
            score=score_in_words(outcome.scores),
            unranked_reason=unranked_reason(outcome.scores),
            constant=self.leaderboard.constant if self.leaderboard else None,
        )

    @property
    def findings(self) -> tuple[str, ...]:
        """The main findings, in sentences."""
        return board_findings(self.board)

    def to_json(self) -> dict[str, Any]:
        """Return findings and results as JSON."""
        outcome, plan = self.outcome, self.outcome.plan
        reason_counts = outcome.without_probabilities
        boards = {board.protocol: board for board in self.derived}
        rows = _of_first_judge(outcome.derived)
        derived = {
            protocol: {
                score.system: score.to_json() | _mean_interval(boards.get(protocol), score.system)
                for score in system_scores([row for row in rows if row.protocol == protocol])
            }
            for protocol in dict.fromkeys(row.protocol for row in rows)
        }
        return {
            "aspect": plan.aspect,
            "protocol": plan.protocol,
            "reference_unit": plan.reference_unit,
            "text_unit": plan.text_unit,
            "n_judgements": len(outcome.judgements),
            "n_unscored": outcome.n_unscored,
            "missing": outcome.missing.to_json(),
            **({"without_probabilities": reason_counts} if reason_counts else {}),
            "systems": {
                score.system: score.to_json()
                | _mean_interval(self.leaderboard, score.system)
                | {"ranks": list(self.ranks.get(score.system, ())) or None}
                for score in outcome.scores
            },
            "weighting": WEIGHTING,
            "findings": list(self.findings),
            **({"covered": self.covered} if self.covered else {}),
            **({"statements": self.statements} if self.statements else {}),
            **({"stability": self.stability["groups"]} if self.stability else {}),
            **({"derived": derived} if outcome.derived else {}),
        }


def _mean_interval(board: Leaderboard | None, system: str) -> dict[str, Any]:
    """Return the confidence interval of a system's mean, by resampling clusters."""
    means = {standing.score.system: standing.mean for standing in board.standings} if board else {}
    if system not in means:
        return {"mean_interval": None}
    interval = figure(means[system], keep=("level", "method"))
    del interval["value"]
    return {"mean_interval": {**interval, "resampled": "clusters"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """The results of a judge's run; several ``aspects`` if they were judged together."""

    outcome: JudgeOutcome
    aspects: tuple[AspectReport, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``fairjudge judge --json``."""
        outcome, aspects = self.outcome, [aspect.to_json() for aspect in self.aspects]
        return with_schema(
            {
                **(aspects[0] if len(aspects) == 1 else {"together": aspects}),
                "signature": outcome.signature,
                "left_out": list(outcome.bad_lines),
                "articles_left_out": [article.to_json() for article in outcome.articles_left_out],
                **({"n_left": outcome.n_left} if outcome.n_left else {}),
                "spent": outcome.spent and outcome.spent.to_json(),
                "costs": [cost.to_json() for cost in outcome.costs],
                "usd_per_item": outcome.cost and outcome.cost.usd_per_item,
            }
        )


def judge_report(outcome: JudgeOutcome, options: JudgeOptions, *, seed: int = 0) -> JudgeReport:
    """Return the results of `outcome` by aspect; `options` are those of the run."""
    parts = outcome.by_aspect(options)
    return JudgeReport(
        outcome=outcome, aspects=tuple(AspectReport(outcome=part, seed=seed) for part in parts)
    )
