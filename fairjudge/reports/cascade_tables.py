"""The table of a cascade, made of the JSON that ``calibrate cascade --json`` writes."""

from __future__ import annotations

from fairjudge.reports.figures import Json, interval, percent
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable


def cascade_tables(report: Json) -> tuple[TextTable, ...]:
    """Return what a cascade saves and costs, and how each way agrees with the labels."""
    saved = report["saved"]
    costs = {
        "growth of the mean absolute error": report["error_added"],
        "fall of Kendall's tau-b": report["agreement_lost"],
    }
    effects = [{"what": "calls saved, %", "found": percent(saved), "n": report["n"]}] + [
        {"what": what_costs, "found": interval(cost, digits=3), "n": report["n"]}
        for what_costs, cost in costs.items()
    ]
    joined = [
        {**join, "n": join["n_matched"] + join["n_only_left"]} for join in report.get("joins", ())
    ]
    low, high = report["low"], report["high"]
    return (
        table(
            f"Cascade that asks the LLM between {low:.3g} and {high:.3g} of the local score, on "
            "held-out documents",
            "what: {what} | value [95 %]> {found} | n> {n}",
            effects,
        ),
        table(
            "Items of the cascade",
            "kind: {left} | n> {n} | matched> {n_matched} | with: {right}",
            joined,
        ),
        table(
            "Kendall's tau-b with the labels, on held-out documents",
            "judged by: {name} | tau-b> {tau:number.3}",
            [{"name": name, "tau": tau} for name, tau in report["kendall"].items()],
        ),
    )
