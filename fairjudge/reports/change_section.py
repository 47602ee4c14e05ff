"""Plots and tables of what ``fairness compare`` found; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairjudge.reports.figures import Json, forest, interval, p_value, row, why
from fairjudge.reports.markup import Markup, element, html_table
from fairjudge.reports.tables import TextTable, columns, number

_COVERAGE: Mapping[str, str] = {
    "equal_coverage": "Equal Coverage",
    "r_ec": "R_EC",
    "coverage_parity": "Coverage Parity",
}
_PERCENT: Mapping[str, str] = {"bur": "BUR", "uer": "UER", "auc": "AUC", "sof": "SOF"}
_HEADS = ("n", "baseline", "here", "change", "p (Holm)", "why none")


def change_parts(report: Json, source: str) -> Iterator[Markup]:
    """Yield a plot and a table for each system that was compared."""
    baseline = report["baseline"]
    yield element("h3", f"What changed beside {baseline}")
    yield element("p", f"From {source}. Below 0 is fairer.", class_="note")
    for system, measures in report["systems"].items():
        title = f"{system} beside {baseline}"
        plots = [
            forest(
                [
                    row(label, measures[name]["difference"], digits=digits)
                    for name, label in names.items()
                    if name in measures
                ],
                title=title,
                across=f"change{unit}",
            )
            for names, unit, digits in ((_COVERAGE, "", 3), (_PERCENT, " in points", 2))
            if measures.keys() & names.keys()
        ]
        yield element("div", *plots, _table(title, measures), class_="beside")
    yield element(
        "p",
        f"P-values are corrected over {report['family']['tests']} tests: "
        f"{report['family']['over']}.",
        class_="note",
    )
    for name, counts in report["excluded"].items():
        for system, reasons in counts.items():
            if reasons:
                said = ", ".join(f"{n} {reason}" for reason, n in reasons.items())
                yield element("p", f"Left out of {name}, {system}: {said}.", class_="note")


def _table(title: str, measures: Json) -> Markup:
    rows = []
    for names, digits, unit in ((_COVERAGE, 4, ""), (_PERCENT, 2, ", %")):
        for name, label in names.items():
            if name in measures:
                one = measures[name]
                rows.append(
                    (
                        f"{label}{unit}",
                        str(one["n"]),
                        number(one["baseline"], digits=digits),
                        number(one["value"], digits=digits),
                        interval(one["difference"], digits=digits),
                        p_value(one["difference"].get("p_holm")),
                        why(one["difference"]) or "",
                    )
                )
    table = TextTable(
        title=title,
        columns=columns("measure", *_HEADS, numbers=_HEADS[:-1]),
        rows=tuple(rows),
    )
    return html_table(table, sortable=True)
