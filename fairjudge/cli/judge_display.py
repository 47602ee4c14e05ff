"""What ``judge`` prints when it is done: findings first, then tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairjudge.cli.display import (
    MAX_NAMED,
    say_articles_left_out,
    say_skipped,
    say_written,
    write_json,
)
from fairjudge.cli.terminal import say
from fairjudge.reports.figures import dollars, named
from fairjudge.reports.stability_tables import stability_tables
from fairjudge.reports.tables import TextTable, columns, number, print_table
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.engine.costs import Cost
    from fairjudge.run.judged import AspectReport, JudgeReport
    from fairjudge.run.judging import JudgeOutcome
    from fairjudge.scores.aggregate import SystemScore


def show_judged(report: JudgeReport, *, output: Path, json_file: str | None) -> None:
    """Show what ``judge`` found, by aspect."""
    outcome = report.outcome
    say_skipped(outcome.bad_lines)
    if str(output) != "-" and json_file != "-":
        for aspect in report.aspects:
            _show(aspect)
        if outcome.without_tasks:
            say(
                f"Nothing to judge in clusters {named(list(outcome.without_tasks), MAX_NAMED)}: "
                f"{pluralize(outcome.n_missing, 'item')} without a score (not applicable)"
            )
        if outcome.n_left:
            n_all = len(outcome.ratings) + outcome.n_left
            say(
                f"A try: {outcome.n_left} of {pluralize(n_all, 'judgement')} are left; the same "
                "command without --limit goes on from here."
            )
        say_articles_left_out(outcome.articles_left_out)
        if outcome.cost is not None:
            print_table(_costs(outcome.costs, outcome.cost))
        say_written(output, outcome)
    write_json(json_file, report.to_dict())


def _costs(costs: Sequence[Cost], total: Cost) -> TextTable:
    """Return what each judge took, and all together where there are several."""
    heads = ("calls", "from the cache", "tokens in", "tokens out", "US dollars", "an item")
    notes = ["An item: a summary with a score. All starts of this run together."]
    if any(cost.spent.cost_usd is not None and cost.usd_per_item is None for cost in costs):
        notes.append("The cost of replies from the cache is not known here.")
    return TextTable(
        title="What it cost",
        columns=columns("judge", *heads, numbers=heads),
        rows=tuple(
            (
                cost.judge,
                f"{cost.spent.n_calls:,}",
                f"{cost.spent.n_cached:,}",
                f"{cost.spent.tokens.input:,}",
                f"{cost.spent.tokens.output:,}",
                dollars(cost.spent.cost_usd),
                dollars(cost.usd_per_item),
            )
            for cost in (*costs, *((total,) if len(costs) > 1 else ()))
        ),
        notes=tuple(notes),
    )


def _show(aspect: AspectReport) -> None:
    """Print findings and tables."""
    from fairjudge.reports.covered_tables import MATRICES, covered_tables
    from fairjudge.reports.statement_tables import statement_tables

    outcome = aspect.outcome
    say(f"In short: {' '.join(aspect.findings)}")
    print_table(_leaderboard(outcome, aspect.ranks))
    for protocol, scores in outcome.derived_scores.items():
        print_table(_derived(outcome, protocol, scores))
    for table in covered_tables({"groups": aspect.covered}, only=MATRICES):
        print_table(table)
    for table in statement_tables({"groups": aspect.statements}) if aspect.statements else ():
        print_table(table)
    for table in stability_tables(aspect.stability) if aspect.stability else ():
        print_table(table)


def _meaning(protocol: str, aspect: str, low: float, high: float) -> str:
    from fairjudge.protocols import PROTOCOLS

    asked = PROTOCOLS[protocol]
    span = f"{low:g} to {high:g}" if asked.graded else "0 to 1"
    return f"Score: {asked.meaning_of(aspect)}, {span}"


def _leaderboard(outcome: JudgeOutcome, ranks: Mapping[str, tuple[int, int]]) -> TextTable:
    bounded = outcome.n_unscored > 0
    from fairjudge.reports.leaderboard_section import DESIGN
    from fairjudge.scores.leaderboards import WEIGHTING, not_ranked

    by_strength = any(score.strength is not None for score in outcome.scores)
    heads = ("rank", *(("strength",) if by_strength else ()), "score")
    heads = (*heads, *(("worst", "best") if bounded else ()), "clusters", "judged", "unscored")
    rows = [
        (
            score.system if score.ranked else f"{score.system} (not ranked)",
            _rank(ranks.get(score.system)),
            *([number(score.strength)] if by_strength else []),
            _mean(score),
            *([number(score.low), number(score.high)] if bounded else []),
            str(score.n_clusters),
            str(score.n_judged),
            str(score.n_unscored),
        )
        for score in outcome.scores
    ]
    low, high = outcome.scale_range
    notes = [f"{_meaning(outcome.plan.protocol, outcome.plan.aspect, low, high)}; {WEIGHTING}."]
    notes += filter(None, [DESIGN if by_strength else "", not_ranked(outcome.scores)])
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
    by_strength = any(score.strength is not None for score in scores)
    if ranks and by_strength:
        from fairjudge.reports.ranking_tables import RANKS_ALLOWED

        return [f"Rank: {RANKS_ALLOWED} (95 %)."]
    if ranks:
        return ["Rank: what the 95 % intervals of the differences over clusters leave open."]
    from fairjudge.scores.leaderboards import FEWEST_CLUSTERS

    if max(score.n_clusters for score in scores) >= FEWEST_CLUSTERS:
        return ["Some system never loses: no confidence intervals, and no ranks shown."]
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
                _mean(score),
                str(score.n_clusters),
                str(score.n_unscored),
            )
            for score in scores
        ),
        notes=(f"{_meaning(protocol, outcome.plan.aspect, 1, 5)}.", *_by_default(outcome)),
    )


def _mean(score: SystemScore) -> str:
    from fairjudge.domain import Undefined

    return number(None if isinstance(score.mean, Undefined) else score.mean)
