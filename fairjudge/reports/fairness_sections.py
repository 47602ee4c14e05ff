"""Plots and tables of what the ``fairness`` commands found; no arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fairjudge.reports.change_section import change_parts
from fairjudge.reports.content import Content
from fairjudge.reports.figures import OTHER, PLAIN, Json, drawn, forest, interval, p_value, row, why
from fairjudge.reports.markup import Markup, element, html_table
from fairjudge.reports.plots import Curve, Mark, curve_plot
from fairjudge.reports.tables import TextTable, columns, number

_EXCLUDED: Mapping[str, str] = {
    "no_values": "no document has a value",
    "one_value": "one value only",
    "no_text": "no text in any document that has a value",
    "empty_summary": "empty summary",
    "no_support": "no document supports the summary",
    "target_absent": "the target leaves no value of the set",
    "unscored": "not scored",
}
_CURVE_MARKS = (
    Mark(shape="square", filled=True),
    Mark(shape="circle", filled=False),
    Mark(shape="diamond", filled=True),
    Mark(shape="square", filled=False),
    Mark(shape="circle", filled=True),
    Mark(shape="diamond", filled=False),
)


def fairness_parts(content: Content) -> Iterator[Markup]:
    """Yield every fairness report that was given."""
    for panel in content.panels:
        show = _REPORTS.get(panel.kind)
        if show is not None:
            yield from show(panel.report, panel.source)


def _coverage(report: Json, source: str) -> Iterator[Markup]:
    attribute = report["attribute"]
    yield element("h3", f"Coverage by {attribute}")
    yield _from(source)
    measures = {
        "equal_coverage": "Equal Coverage",
        "r_ec": "R_EC",
        "coverage_parity": "Coverage Parity",
    }
    yield from _measures(report["systems"], measures, digits=4, unit="0 is fair")
    for system, found in report["systems"].items():
        if found["by_value"]:
            yield _covered(system, found, attribute)
        else:
            yield element("p", f"{system}: {why(found['coverage_parity']) or 'no values'}.")
    yield from _left_out(report)


def _covered(system: str, found: Json, attribute: str) -> Markup:
    """Return how far each value is covered more or less than the mean."""
    values = {value: {**one, "value": one["mean"]} for value, one in found["by_value"].items()}
    ends = (found["over"], found["under"])
    rows = [
        row(value, one, mark=PLAIN if value in ends else OTHER, digits=3)
        for value, one in values.items()
    ]
    title = f"{system}: coverage of each {attribute} against the mean"
    plot = forest(
        rows,
        title=title,
        across="difference to the mean coverage",
        caption=_over_and_under(found),
    )
    heads = ("n", "difference", "p (Holm)")
    table = TextTable(
        title=title,
        columns=columns(attribute, *heads, "represented", numbers=heads),
        rows=tuple(
            (
                value,
                str(one.get("n", "-")),
                interval(one, digits=4),
                p_value(one.get("p_holm")),
                {found["over"]: "over", found["under"]: "under"}.get(value, ""),
            )
            for value, one in values.items()
        ),
    )
    return element("div", plot, html_table(table, sortable=True), class_="beside")


def _over_and_under(found: Json) -> str:
    said = [f"{how}-represented: {found[how]}" for how in ("over", "under") if found.get(how)]
    return (
        f"{'; '.join(said).capitalize()} (filled squares). At 0 a value is covered as the mean is."
        if said
        else "At 0 a value is covered as the mean is."
    )


def _proportional(report: Json, source: str) -> Iterator[Markup]:
    attribute = report["attribute"]
    yield element("h3", f"Proportional representation by {attribute}")
    yield _from(source)
    measures = {"bur": "BUR", "uer": "UER", "auc": "AUC", "sof": "SOF"}
    yield from _measures(report["systems"], measures, digits=2, unit="percent; 0 is fair")
    for system, found in report["systems"].items():
        by_value = found.get("by_value", {})
        if not by_value:
            yield element("p", f"{system}: {why(found['bur']) or 'no values'}.")
            continue
        title = f"{system}: share of the summary less the wanted share"
        plot = forest(
            [row(value, one["difference"]) for value, one in by_value.items()],
            title=title,
            across="points; above 0 over-represented, below 0 under-represented",
        )
        heads = ("n", "difference", "p (Holm)", "under-represented in", "shortfall")
        table = TextTable(
            title=title,
            columns=columns(attribute, *heads, numbers=heads),
            rows=tuple(
                (
                    value,
                    str(one["n"]),
                    interval(one["difference"]),
                    p_value(one["difference"].get("p_holm")),
                    interval(one["under"], digits=1),
                    interval(one["shortfall"]),
                )
                for value, one in by_value.items()
            ),
            notes=("Under-represented in: percent of the summaries.",),
        )
        yield element("div", plot, html_table(table, sortable=True), class_="beside")
    yield from _tau_curves(report["systems"])
    yield from _left_out(report)


def _tau_curves(systems: Mapping[str, Json]) -> Iterator[Markup]:
    """Yield BUR against tau of all systems in one plot (of the first six), and the table."""
    swept = {system: found["sweep"] for system, found in systems.items() if found.get("sweep")}
    if not swept:
        return
    shown = dict(list(swept.items())[: len(_CURVE_MARKS)])
    title = "Summaries that under-represent some value, by tolerance tau"
    plot = curve_plot(
        [
            Curve(
                name=system,
                points=tuple((p["tau"], p["value"]) for p in points if p["value"] is not None),
                mark=mark,
                dashed=not mark.filled,
            )
            for (system, points), mark in zip(shown.items(), _CURVE_MARKS, strict=False)
        ],
        name=title,
        across="tau: the part of its share that a value must reach",
        up="BUR, percent",
        logarithmic=False,
    )
    missing = len(swept) - len(shown)
    note = f"The plot shows the first {len(shown)} systems, the table all." if missing else ""
    heads = tuple(swept)
    taus = [point["tau"] for point in next(iter(swept.values()))]
    table = TextTable(
        title="BUR in percent, by tau",
        columns=columns("tau", *heads, numbers=("tau", *heads)),
        rows=tuple(
            (number(tau), *(interval(points[place], digits=1) for points in swept.values()))
            for place, tau in enumerate(taus)
        ),
    )
    yield element("h4", title)
    yield element("div", drawn(plot, note), html_table(table), class_="beside")


def _overall(report: Json, source: str) -> Iterator[Markup]:
    yield element("h3", f"Over several data sets: {report['measure']}")
    yield _from(source)
    rows = [row(system, one, digits=3) for system, one in report["systems"].items()]
    title = f"Overall {report['measure']}"
    plot = forest(rows, title=title, across="0 is the fairest on every data set", span=(0.0, 1.0))
    table = TextTable(
        title=title,
        columns=columns("system", "overall", "by data set", numbers=("overall",)),
        rows=tuple(
            (
                system,
                interval(one, digits=3),
                why(one) or ", ".join(f"{n} {v:.3f}" for n, v in one["normalised"].items()),
            )
            for system, one in report["systems"].items()
        ),
    )
    yield element("div", plot, html_table(table, sortable=True), class_="beside")


def _agreement(report: Json, source: str) -> Iterator[Markup]:
    yield element("h3", "Do two scorers agree")
    yield _from(source)
    names = {"equal_coverage": "Equal Coverage, by summary", "coverage_parity": "Parity, by system"}
    plot = forest(
        [row(label, report[name]) for name, label in names.items()],
        title="Agreement of two scorers",
        across="Spearman's correlation",
        span=(-1.0, 1.0),
    )
    table = TextTable(
        title="Spearman's correlation of two scorers",
        columns=columns(
            "measure", "n", "in one only", "correlation", "p", "why none",
            numbers=("n", "in one only", "correlation", "p"),
        ),
        rows=tuple(
            (
                label,
                str(report[name]["n"]),
                str(report[name]["n_unmatched"]),
                interval(report[name]),
                p_value(report[name].get("p_value")),
                why(report[name]) or "",
            )
            for name, label in names.items()
        ),
    )  # fmt: skip
    yield element("div", plot, html_table(table), class_="beside")


def _measures(
    systems: Mapping[str, Json], measures: Mapping[str, str], *, digits: int, unit: str
) -> Iterator[Markup]:
    """Yield a plot for each measure, side by side, and one table of all of them."""
    if len(systems) > 1:
        plots = [
            forest(
                [row(system, found.get(name), digits=digits) for system, found in systems.items()],
                title=label,
                across=f"{label}, {unit}",
            )
            for name, label in measures.items()
        ]
        yield element("div", *plots, class_="row")
    heads = ("n", "left out", *measures.values())
    yield html_table(
        TextTable(
            title=f"By system, {unit}",
            columns=columns("system", *heads, numbers=heads),
            rows=tuple(
                (
                    system,
                    str(found["n"]),
                    str(found.get("excluded", 0)),
                    *(interval(found.get(name), digits=digits) for name in measures),
                )
                for system, found in systems.items()
            ),
        ),
        sortable=True,
    )


def _left_out(report: Json) -> Iterator[Markup]:
    """Yield the notes, and each system's summaries that took no part, by reason."""
    for system, found in report["systems"].items():
        reasons = found.get("excluded_by_reason") or {}
        if reasons:
            said = ", ".join(
                f"{n} {_EXCLUDED.get(reason, reason)}" for reason, n in reasons.items()
            )
            yield element("p", f"{system}, left out: {said}.", class_="note")
    for note in report.get("notes", ()):
        yield element("p", f"{note[:1].upper()}{note[1:]}.", class_="note")
    yield element("p", "Signature: ", element("code", report["signature"]), class_="note")


def _from(source: str) -> Markup:
    return element("p", f"From {source}.", class_="note")


_REPORTS: Mapping[str, Callable[[Json, str], Iterator[Markup]]] = {
    "fairness coverage": _coverage,
    "fairness proportional": _proportional,
    "fairness overall": _overall,
    "fairness agreement": _agreement,
    "fairness compare": change_parts,
}
