"""What ``judge`` prints when it is done: findings first, then tables, and the same as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairjudge.cli.display import (
    MAX_NAMED,
    articles_left_out_json,
    say_articles_left_out,
    say_skipped,
    say_written,
    spent_json,
    write_json,
)
from fairjudge.cli.terminal import say
from fairjudge.reports.covered_tables import MATRICES, covered_tables
from fairjudge.reports.figures import named
from fairjudge.reports.stability_tables import stability_tables
from fairjudge.reports.tables import TextTable, columns, number, print_table
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.run.judging import JudgeOutcome
    from fairjudge.scores.aggregate import SystemScore


def show_judged(
    outcome: JudgeOutcome,
    parts: Sequence[JudgeOutcome],
    *,
    output: Path,
    json_file: str | None,
) -> None:
    """Show what ``judge`` found; `parts` are its outcome by aspect, itself where there is one."""
    say_skipped(outcome.bad_lines)
    told = [_JudgedAspect.of(part) for part in parts]
    if str(output) != "-" and json_file != "-":
        for one in told:
            one.show()
        if outcome.without_tasks:
            say(
                f"Nothing to judge in clusters {named(list(outcome.without_tasks), MAX_NAMED)}: "
                f"{pluralize(outcome.n_missing, 'item')} without a score (not applicable)"
            )
        say_articles_left_out(outcome.articles_left_out)
        say_written(output, outcome)
    found = [one.to_json() for one in told]
    write_json(
        json_file,
        {
            **(found[0] if len(found) == 1 else {"together": found}),
            "signature": outcome.signature,
            "left_out": list(outcome.bad_lines),
            "articles_left_out": articles_left_out_json(outcome.articles_left_out),
            "spent": spent_json(outcome.spent),
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgedAspect:
    """What is shown of one aspect, put together once."""

    outcome: JudgeOutcome
    ranks: Mapping[str, tuple[int, int]]
    covered: list[dict[str, Any]]
    stability: dict[str, Any] | None

    @staticmethod
    def of(outcome: JudgeOutcome) -> _JudgedAspect:
        return _JudgedAspect(
            outcome=outcome,
            ranks=outcome.ranks,
            covered=outcome.covered(),
            stability=outcome.stability(),
        )

    def show(self) -> None:
        """Print the tables."""
        say(f"In short: {' '.join(self.findings())}")
        print_table(_leaderboard(self.outcome, self.ranks))
        for protocol, scores in self.outcome.derived_scores.items():
            print_table(_derived(self.outcome, protocol, scores))
        for table in covered_tables({"groups": self.covered}, only=MATRICES):
            print_table(table)
        for table in stability_tables(self.stability) if self.stability else ():
            print_table(table)

    def findings(self) -> tuple[str, ...]:
        """Return what is said first."""
        from fairjudge.reports.findings import Board, board_findings, first_of, n_level

        outcome = self.outcome
        scores = [score for score in outcome.scores if score.ranked and score.n_clusters]
        ranked = [score.system for score in scores]
        return board_findings(
            Board(
                aspect=outcome.plan.aspect,
                systems=ranked,
                as_good=first_of(self.ranks, ranked),
                not_ranked=[score.system for score in outcome.scores if not score.ranked],
                n_clusters=max((score.n_clusters for score in outcome.scores), default=0),
                n_items=outcome.missing.n_items,
                reasons=outcome.missing.reasons,
                by_default=any(rating.scored_by == "embedding" for rating in outcome.ratings),
                n_level=n_level(scores),
                without_probabilities=outcome.without_probabilities,
            )
        )

    def to_json(self) -> dict[str, Any]:
        """Return the same as JSON."""
        from fairjudge.scores.leaderboards import WEIGHTING

        outcome, ranks, plan = self.outcome, self.ranks, self.outcome.plan
        derived = {
            protocol: {score.system: _score_json(score) for score in scores}
            for protocol, scores in outcome.derived_scores.items()
        }
        return {
            "aspect": plan.aspect,
            "protocol": plan.protocol,
            "reference_unit": plan.reference_unit,
            "text_unit": plan.text_unit,
            "n_judgements": len(outcome.judgements),
            "n_unscored": outcome.n_unscored,
            "missing": outcome.missing.to_json(),
            **(
                {"without_probabilities": mixed} if (mixed := outcome.without_probabilities) else {}
            ),
            "systems": {
                score.system: _score_json(score)
                | {"ranks": list(ranks.get(score.system, ())) or None}
                for score in outcome.scores
            },
            "weighting": WEIGHTING,
            "findings": list(self.findings()),
            **({"covered": self.covered} if self.covered else {}),
            **({"stability": self.stability["groups"]} if self.stability else {}),
            **({"derived": derived} if outcome.derived else {}),
        }


def _meaning(protocol: str, low: float, high: float) -> str:
    from fairjudge.protocols import PROTOCOLS

    asked = PROTOCOLS[protocol]
    span = f"{low:g} to {high:g}" if asked.graded else "0 to 1"
    return f"Score: {asked.score_meaning}, {span}"


def _leaderboard(outcome: JudgeOutcome, ranks: Mapping[str, tuple[int, int]]) -> TextTable:
    bounded = outcome.n_unscored > 0
    from fairjudge.scores.leaderboards import WEIGHTING, not_ranked

    heads = ("rank", "score", *(("worst", "best") if bounded else ()))
    heads = (*heads, "clusters", "judged", "unscored")
    rows = [
        (
            score.system if score.ranked else f"{score.system} (not ranked)",
            _rank(ranks.get(score.system)),
            number(_or_none(score.mean)),
            *([number(_or_none(score.low)), number(_or_none(score.high))] if bounded else []),
            str(score.n_clusters),
            str(score.n_judged),
            str(score.n_unscored),
        )
        for score in outcome.scores
    ]
    low, high = outcome.scale_range
    notes = [f"{_meaning(outcome.plan.protocol, low, high)}; {WEIGHTING}."]
    notes += filter(None, [not_ranked(outcome.scores)])
    notes += _ranking(outcome.scores, ranks)
    if bounded:
        reasons = ", ".join(f"{n} {reason}" for reason, n in outcome.missing.reasons.items())
        notes.append(
            f"Unscored: {reasons}. Worst and best: the mean if every unscored item stood at the "
            "bottom or the top of the scale."
        )
    notes += _by_default(outcome)
    return TextTable(
        title=f"{outcome.plan.aspect}, {outcome.plan.protocol}, against "
        f"{outcome.plan.reference_unit}",
        columns=columns("system", *heads, numbers=heads),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _rank(found: tuple[int, int] | None) -> str:
    """Return the ranks that a system may have, such as ``1`` or ``2-4``."""
    if found is None:
        return "-"
    best, worst = found
    return str(best) if best == worst else f"{best}-{worst}"


def _ranking(scores: Sequence[SystemScore], ranks: Mapping[str, tuple[int, int]]) -> list[str]:
    """Say what the ranks rest on, or why there are none."""
    if sum(score.ranked for score in scores) < 2:
        return []
    if ranks:
        return ["Rank: what the 95 % intervals of the differences over clusters leave open."]
    from fairjudge.scores.leaderboards import FEWEST_CLUSTERS

    return [f"Too few clusters (< {FEWEST_CLUSTERS}) for confidence intervals; no ranks shown."]


def _by_default(outcome: JudgeOutcome) -> list[str]:
    from fairjudge.scores.leaderboards import weak_judge

    by_default = any(judgement.scored_by == "embedding" for judgement in outcome.ratings)
    return [weak_judge(outcome.plan.aspect)] if by_default else []


def _derived(outcome: JudgeOutcome, protocol: str, scores: Sequence[SystemScore]) -> TextTable:
    heads = ("score", "clusters", "unscored")
    return TextTable(
        title=f"{outcome.plan.aspect}, {protocol}, derived from the checklists",
        columns=columns("system", *heads, numbers=heads),
        rows=tuple(
            (
                score.system if score.ranked else f"{score.system} (not ranked)",
                number(_or_none(score.mean)),
                str(score.n_clusters),
                str(score.n_unscored),
            )
            for score in scores
        ),
        notes=(f"{_meaning(protocol, 1, 5)}.", *_by_default(outcome)),
    )


def _or_none(value: object) -> float | None:
    return value if isinstance(value, float | int) else None


def _score_json(score: Any) -> dict[str, Any]:
    return {
        "mean": _or_none(score.mean),
        "worst": _or_none(score.low),
        "best": _or_none(score.high),
        "n_clusters": score.n_clusters,
        "n_judged": score.n_judged,
        "n_unscored": score.n_unscored,
        "ranked": score.ranked,
    }
