"""Tables and findings of a cascade and of a guarantee (``calibrate cascade --json``)."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import Json, interval, percent
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import percentage, pluralize


def cascade_tables(report: Json) -> tuple[TextTable, ...]:
    """Return what a cascade saves and costs, and how each way agrees with the labels."""
    effects = {
        "calls saved, %": percent(report["saved"]),
        "growth of the mean absolute error": interval(report["error_added"], digits=3),
        "fall of Kendall's tau-b": interval(report["agreement_lost"], digits=3),
    }
    low, high = report["low"], report["high"]
    return (
        table(
            f"Cascade that asks the LLM between {low:.3g} and {high:.3g} of the local score, on "
            "held-out documents",
            "what: {what} | value [95 %]> {value} | items> {n}",
            [{"what": what, "value": value, "n": report["n"]} for what, value in effects.items()],
        ),
        table(
            "Items of the cascade",
            "kind: {left} | items> {n} | matched> {n_matched} | with: {right}",
            report.get("joins", ()),
            n=lambda join: join["n_matched"] + join["n_only_left"],
        ),
        table(
            "Kendall's tau-b with the labels, on held-out documents",
            "judged by: {name} | tau-b> {tau:number.3}",
            [{"name": name, "tau": tau} for name, tau in report["kendall"].items()],
        ),
    )


def guarantee_tables(report: Json) -> Iterator[TextTable]:
    """Yield what share is kept at the threshold, and how far answers agree with people."""
    threshold, one_order = report["threshold"], report["n_one_order"]
    at = "no threshold" if threshold is None else f"a confidence of {threshold:.2f} or more"
    shares = [("agreement of all labelled items", report["overall"], report["n_labelled"])]
    if threshold is not None:
        agreement = report["agreement"], report["n_kept_labelled"]
        shares.insert(0, ("agreement of kept labelled items", *agreement))
        shares.insert(0, ("kept, of all items", report["kept"], "-"))
    yield table(
        f"{group_title(report)}: {percentage(report['agreement_promised'])} agreement "
        f"guaranteed with {percentage(report['confidence'])} certainty at {at}",
        "share: {what} | value [95 %]> {share:interval} | items> {n}",
        [{"what": what, "share": share, "n": n} for what, share, n in shares],
        notes=[f"Pairs asked in one order alone: {one_order}." if one_order else ""],
    )


def cascade_findings(report: Json) -> Iterator[str]:
    """Yield what a cascade saves, and what it costs in error and agreement."""
    yield (
        f"The LLM judges items with a local score between {report['low']:.3g} and "
        f"{report['high']:.3g}, which saves {percent(report['saved'])} % of the calls on held-out "
        f"documents (n = {report['n']})."
    )
    yield (
        f"Change in mean absolute error: {interval(report['error_added'], digits=3)}; loss in "
        f"Kendall's tau-b: {interval(report['agreement_lost'], digits=3)}."
    )


def guarantee_findings(report: Json) -> Iterator[str]:
    """Yield the confidence threshold of a guarantee, and what share of items is kept."""
    title = group_title(report)
    promise = f"agree with people at least {percentage(report['agreement_promised'])} of the time"
    certainty = f"{percentage(report['confidence'])} certainty"
    n_items = pluralize(report["n_labelled"], "labelled item")
    overall = interval(report["overall"], digits=2)
    of_all = f"Without a threshold a share of {overall} of the labelled items agrees."
    if report["threshold"] is None:
        yield (
            f"{title}: at no confidence threshold do its answers {promise}, with {certainty} on "
            f"{n_items}."
        )
        yield of_all
        yield "Nothing is kept; next: more labels, a lower --guarantee, or a better judge."
    else:
        yield (
            f"{title}: answers with a confidence of {report['threshold']:.2f} or more {promise}, "
            f"with {certainty} ({n_items}; test: {report['test']})."
        )
        yield (
            f"Kept: a share of {interval(report['kept'], digits=2)} of all items; of the "
            f"{pluralize(report['n_kept_labelled'], 'labelled item')} kept, a share of "
            f"{interval(report['agreement'], digits=2)} agrees."
        )
        yield of_all
        if report["n_one_order"]:
            yield (
                f"Asked in one order alone: {pluralize(report['n_one_order'], 'pair')}. A judge "
                "that prefers a position seems confident of these."
            )
