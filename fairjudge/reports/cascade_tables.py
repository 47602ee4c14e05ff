"""Tables of a cascade and of a guarantee, of the JSON of ``calibrate cascade --json``."""

from __future__ import annotations

from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import Json, interval, percent
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import percentage


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
            "what: {what} | value [95 %]> {found} | items> {n}",
            effects,
        ),
        table(
            "Items of the cascade",
            "kind: {left} | items> {n} | matched> {n_matched} | with: {right}",
            joined,
        ),
        table(
            "Kendall's tau-b with the labels, on held-out documents",
            "judged by: {name} | tau-b> {tau:number.3}",
            [{"name": name, "tau": tau} for name, tau in report["kendall"].items()],
        ),
    )


def guarantee_tables(report: Json) -> tuple[TextTable, ...]:
    """Return what share is kept at the threshold, and how far answers agree with people."""
    threshold, n_labelled = report["threshold"], report["n_labelled"]
    at = "no threshold" if threshold is None else f"a confidence of {threshold:.2f} or more"
    shares = [
        {"what": "agreement of all labelled items", "found": report["overall"], "n": n_labelled}
    ]
    if threshold is not None:
        kept_row = {"what": "kept, of all items", "found": report["kept"], "n": "-"}
        agree = {"what": "agreement of kept labelled items", "found": report["agreement"]}
        shares = [kept_row, agree | {"n": report["n_kept_labelled"]}, *shares]
    return (
        table(
            f"{group_title(report)}: {percentage(report['agreement_promised'])} agreement "
            f"guaranteed with {percentage(report['confidence'])} certainty at {at}",
            "share: {what} | value [95 %]> {found:interval} | items> {n}",
            shares,
            notes=[
                f"Pairs asked in one order alone: {report['n_one_order']}."
                if report["n_one_order"]
                else ""
            ],
        ),
    )
