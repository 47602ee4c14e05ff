"""The output of ``judge``: findings, then tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fairjudge.cli.display import (
    MAX_LISTED,
    say_excluded_articles,
    say_skipped,
    say_written,
    write_json,
)
from fairjudge.cli.terminal import say
from fairjudge.reports.audit_tables import stability_tables
from fairjudge.reports.figures import first_items
from fairjudge.reports.row_tables import SPENT_COLUMNS, spent_row, table
from fairjudge.reports.tables import TextTable, print_table
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.engine.costs import Cost
    from fairjudge.run.judged import AspectReport, JudgeReport
    from fairjudge.run.judging import JudgeOutcome
    from fairjudge.scores.leaderboards import Leaderboard


_AGAINST = {
    "qa_pairs": "against all answers",
    "qa_pair": "answer by answer",
    "articles": "against all articles",
    "article": "article by article",
}
"""Description of the evidence of a judgement, by reference unit."""


def show_judged(report: JudgeReport, *, output: Path, json_file: str | None) -> None:
    """Print the results of ``judge``, by aspect."""
    outcome = report.outcome
    say_skipped(outcome.bad_lines)
    if str(output) != "-" and json_file != "-":
        for aspect in report.aspects:
            _print_aspect(aspect)
        if outcome.without_tasks:
            say(
                "Nothing to judge in clusters "
                f"{first_items(list(outcome.without_tasks), MAX_LISTED)}: "
                f"{pluralize(outcome.n_missing, 'item')} without a score (not applicable)"
            )
        if outcome.n_left:
            n_all = len(outcome.ratings) + outcome.n_left
            say(
                f"Partial run: {outcome.n_left} of {pluralize(n_all, 'judgement')} remain; rerun "
                "the command without --limit to continue."
            )
        say_excluded_articles(outcome.articles_left_out)
        if outcome.cost is not None:
            print_table(_costs(outcome.costs, outcome.cost))
        say_written(output, outcome)
    write_json(json_file, report.to_dict())


def _costs(costs: Sequence[Cost], total: Cost) -> TextTable:
    """Return the table of the costs of each judge, with the total if there are several."""
    notes = ["Total of all starts of this run. An item is a summary with a score."]
    if any(cost.spent.cost_usd is not None and cost.usd_per_item is None for cost in costs):
        notes.append("The cost of cached replies is unknown.")
    return table(
        "Cost",
        f"judge: {{judge}} | {SPENT_COLUMNS} | per item> {{usd_per_item:dollars}}",
        [
            spent_row(cost.spent.to_json(), judge=cost.judge, usd_per_item=cost.usd_per_item)
            for cost in (*costs, *((total,) if len(costs) > 1 else ()))
        ],
        notes=notes,
    )


def _print_aspect(aspect: AspectReport) -> None:
    """Print the findings and tables of an aspect."""
    from fairjudge.reports.evidence_tables import MATRICES, covered_tables, statement_tables
    from fairjudge.reports.findings import before_command

    outcome = aspect.outcome
    say(f"In short: {' '.join(filter(None, map(before_command, aspect.findings)))}")
    if aspect.leaderboard is not None:
        print_table(_leaderboard(outcome, aspect.leaderboard))
    for board in aspect.derived:
        title = f"{outcome.plan.aspect}, {board.protocol}, derived from the checklists"
        meaning = _meaning(board.protocol, outcome.plan.aspect, 1, 5)
        print_table(_titled_table(board, title, f"{meaning}."))
    for table_of_aspect in (
        *covered_tables({"groups": aspect.covered}, only=MATRICES),
        *(statement_tables({"groups": aspect.statements}) if aspect.statements else ()),
        *(stability_tables(aspect.stability) if aspect.stability else ()),
    ):
        print_table(table_of_aspect)


def _leaderboard(outcome: JudgeOutcome, board: Leaderboard) -> TextTable:
    from fairjudge.scores.leaderboards import WEIGHTING
    from fairjudge.scores.missing import reason_counts

    plan, unscored = outcome.plan, reason_counts(outcome.missing.reasons)
    return _titled_table(
        board,
        f"{plan.aspect}, {plan.protocol}, {_AGAINST[plan.reference_unit]}",
        f"{_meaning(plan.protocol, plan.aspect, *outcome.scale_range)}; {WEIGHTING}.",
        *([f"Unscored: {unscored}."] if outcome.n_unscored else []),
    )


def _titled_table(board: Leaderboard, title: str, meaning: str, *notes: str) -> TextTable:
    """Return the table of a leaderboard, with the meaning of a score as its first note."""
    from fairjudge.reports.leaderboard_table import combined_table

    text_table = combined_table([board])
    return replace(text_table, title=title, notes=(meaning, *text_table.notes, *notes))


def _meaning(protocol: str, aspect: str, low: float, high: float) -> str:
    from fairjudge.protocols import PROTOCOLS

    rules = PROTOCOLS[protocol]
    span = f"{low:g} to {high:g}" if rules.graded else "0 to 1"
    return f"Score: {rules.meaning_of(aspect)}, {span}"
