"""Juries fitted on labels, of the JSON that ``calibrate --json`` writes."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.figures import Json, forest, interval, row, significant_sign, why
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
    """Yield two tables a jury: what it gains, and what each member does in it."""
    for found in report.get("juries", ()):
        if not found["why"]:
            yield _gains(found)
            yield _members(found)


def jury_findings(report: Json) -> Iterator[str]:
    """Say whether a jury has a lower error than the best of its judges, and what it is worth."""
    for found in report.get("juries", ()):
        who = f"The jury of {pluralize(len(found['judges']), 'judge')} in {found['aspect']}"
        if found["why"]:
            yield f"No jury could be fitted in {found['aspect']}: {found['why']}."
            continue
        best = next(one for one in found["compared"] if one["name"] == _BEST)
        rmse = f"RMSE {_value(found['rmse'])}, the best single judge {_value(best['rmse'])}"
        said = {
            1: "has a significantly lower error than",
            0: "does not have a significantly lower error than",
            -1: "has a significantly higher error than",
        }[significant_sign(best["gain"])]
        yield (
            f"{who}, fitted on labels, {said} the best single one, calibrated: {rmse}, gain "
            f"{interval(best['gain'], digits=3)}."
        )
        yield worth(found)
        if idle := [one["name"] for one in found["members"] if not one["adds"]]:
            yield f"{who} does not have a significantly larger error without {' or '.join(idle)}."


def worth(found: Json) -> str:
    """Say how many independent judges a jury is worth."""
    if reason := why(found["effective_number"]):
        return f"How many independent judges the jury in {found['aspect']} is worth: {reason}."
    return (
        f"Its {pluralize(len(found['judges']), 'judge')} in {found['aspect']} are worth "
        f"{interval(found['effective_number'], digits=1)} independent ones: their errors correlate "
        f"{interval(found['error_correlation'])}."
    )


def jury_plot(found: Json) -> Plot:
    """Return the distances from people of the jury and of what it is held against."""
    rows = [row(_FITTED, found["rmse"])]
    rows += [row(one["name"], one["rmse"]) for one in found["compared"]]
    title = f"{found['aspect']}: RMSE to people on held-out documents"
    return forest(rows, title=title, across="RMSE, in units of the labels")


def _gains(found: Json) -> TextTable:
    own = {"name": _FITTED, "n_items": found["n_items"], "rmse": found["rmse"]}
    return table(
        f"{found['aspect']}: a jury of {pluralize(len(found['judges']), 'judge')}, "
        f"{pluralize(found['n_items'], 'item')}",
        "scored by: {name} | items> {n_items} | RMSE held-out> {rmse:interval.3}"
        " | gain of the jury> {gain:interval.3} | p (Holm)> {adjusted_p_value:p}",
        [{"gain": {}, "adjusted_p_value": None, **one} for one in (own, *found["compared"])],
        notes=(worth(found), _NOTE, *_left_out(found)),
    )


def _members(found: Json) -> TextTable:
    return table(
        f"{found['aspect']}: what each judge does in the jury",
        "judge: {name} | items> {n_items} | weight> {weight:number} | best in (%)> {best_in:share}"
        " | RMSE without it, more by> {loss:interval.3} | p (Holm)> {adjusted_p_value:p}"
        " | others are worth> {effective_without:number.1}",
        found["members"],
        notes=(
            worth(found),
            "Weight: of its calibrated score where no judge is missing. Best in: the share of "
            "folds in which it was the best single one.",
        ),
    )


def _left_out(found: Json) -> Iterator[str]:
    for name, reason in found["left_out"].items():
        yield f"{name} is no member: {reason}."
    missing = found["n_items"] - found["n_complete"]
    if missing:
        yield (
            f"{pluralize(missing, 'item')} without some member's score: the weights there are "
            "those of the members that scored it."
        )


def _value(figure: Json) -> str:
    return number(figure["value"], digits=3)
