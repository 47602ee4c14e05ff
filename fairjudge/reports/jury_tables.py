"""Juries fitted on labels, of the JSON that ``calibrate --json`` writes."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.figures import (
    Json,
    forest,
    interval,
    p_value,
    row,
    significant_sign,
    why,
)
from fairjudge.reports.parts import Plot
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import pluralize

_BEST = "best single judge"
_FITTED = "jury, fitted"
_NOTE = (
    "RMSE in units of the labels, on held-out documents: curves, weights and the choice of the "
    "best judge come from the others. Gain: RMSE minus the jury's on the same items; "
    "p is Holm's over the table. The mean is of scores on the labels' scale as they are."
)


def jury_tables(report: Json) -> Iterator[TextTable]:
    """Yield two tables for each jury: its gains, and the contribution of each member."""
    for jury in report.get("juries", ()):
        if not jury["why"]:
            yield _gains(jury)
            yield _members(jury)


def jury_findings(report: Json) -> Iterator[str]:
    """Yield whether a jury has a lower error than its best judge, and its effective number."""
    for jury in report.get("juries", ()):
        name = f"The jury of {pluralize(len(jury['judges']), 'judge')} in {jury['aspect']}"
        if jury["why"]:
            yield f"No jury could be fitted in {jury['aspect']}: {jury['why']}."
            continue
        best = next(comparison for comparison in jury["compared"] if comparison["name"] == _BEST)
        rmse = f"RMSE {_value(jury['rmse'])}, the best single judge {_value(best['rmse'])}"
        predicate = {
            1: "has a significantly lower error than",
            0: "does not have a significantly lower error than",
            -1: "has a significantly higher error than",
        }[significant_sign(best["gain"])]
        yield (
            f"{name}, fitted on labels, {predicate} the best single one, calibrated: {rmse}, gain "
            f"{interval(best['gain'], digits=3)}."
        )
        yield worth(jury)
        if idle := [member["name"] for member in jury["members"] if not member["adds"]]:
            yield f"{name} does not have a significantly larger error without {' or '.join(idle)}."


def worth(jury: Json) -> str:
    """Return a sentence on the effective number of independent judges of a jury."""
    if reason := why(jury["effective_number"]):
        return f"How many independent judges the jury in {jury['aspect']} is worth: {reason}."
    return (
        f"Its {pluralize(len(jury['judges']), 'judge')} in {jury['aspect']} are worth "
        f"{interval(jury['effective_number'], digits=1)} independent ones: their errors correlate "
        f"{interval(jury['error_correlation'])}."
    )


def jury_plot(jury: Json) -> Plot:
    """Return a plot of the distances from people of the jury and its alternatives."""
    rows = [row(_FITTED, jury["rmse"])]
    rows += [row(comparison["name"], comparison["rmse"]) for comparison in jury["compared"]]
    title = f"{jury['aspect']}: RMSE to people on held-out documents"
    return forest(rows, title=title, across="RMSE, in units of the labels")


def _gains(jury: Json) -> TextTable:
    own = {"name": _FITTED, "n_items": jury["n_items"], "rmse": jury["rmse"]}
    scorers = (own, *jury["compared"])
    return table(
        f"{jury['aspect']}: a jury of {pluralize(len(jury['judges']), 'judge')}, "
        f"{pluralize(jury['n_items'], 'item')}",
        "scored by: {name} | items> {n_items} | RMSE held-out> {rmse:interval.3}"
        " | gain of the jury> {gain:interval.3} | p (Holm)> {p}",
        scorers,
        notes=(worth(jury), _NOTE, *_left_out(jury)),
        gain=lambda scorer: scorer.get("gain"),
        p=lambda scorer: p_value(scorer.get("adjusted_p_value"), scorer.get("gain")),
    )


def _members(jury: Json) -> TextTable:
    return table(
        f"{jury['aspect']}: what each judge does in the jury",
        "judge: {name} | items> {n_items} | weight> {weight:number} | best in (%)> {best_in:share}"
        " | RMSE without it, more by> {loss:interval.3} | p (Holm)> {p}"
        " | others are worth> {effective_without:number.1}",
        jury["members"],
        notes=(
            worth(jury),
            "Weight: of its calibrated score where no judge is missing. Best in: the share of "
            "folds in which it was the best single one.",
        ),
        p=lambda member: p_value(member["adjusted_p_value"], member["loss"]),
    )


def _left_out(jury: Json) -> Iterator[str]:
    for name, reason in jury["left_out"].items():
        yield f"{name} is no member: {reason}."
    missing = jury["n_items"] - jury["n_complete"]
    if missing:
        yield (
            f"{pluralize(missing, 'item')} without some member's score: the weights there are "
            "those of the members that scored it."
        )


def _value(figure: Json) -> str:
    return number(figure["value"], digits=3)
