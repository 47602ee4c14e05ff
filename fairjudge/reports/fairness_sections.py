"""Page parts of ``fairness`` commands: plots of the results, and their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.proportional import PROPORTIONAL
from fairjudge.fairness.registry import FAMILIES
from fairjudge.reports import fairness_comparison_tables, fairness_tables
from fairjudge.reports.directions import VALUES
from fairjudge.reports.drawing import BASELINE_MARK, JUDGE_MARK
from fairjudge.reports.fairness_comparison_tables import measure_label
from fairjudge.reports.fairness_tables import Family
from fairjudge.reports.figures import Json, curves, forest, plot_with_table, row
from fairjudge.reports.judge_sections import PanelMakers
from fairjudge.reports.parts import Group, Heading, Part, Plot
from fairjudge.reports.plots import ForestRow
from fairjudge.reports.result_figures import share_ratios_plot
from fairjudge.scores.leaderboards import MIN_CLUSTERS
from fairjudge.stats.measures import Measure
from fairjudge.text.counting import pluralize

_BEST = "Filled square: the best."


def _coverage(report: Json) -> Iterator[Part]:
    measure_table, difference_table, value_table, *other_tables = fairness_tables.coverage_tables(
        report
    )
    yield _measure_plots(report["systems"], COVERAGE)
    yield measure_table
    yield difference_table
    plots = (
        forest(
            list(_by_value(figures)),
            title=f"{system}: coverage of each {report['attribute']} against the mean",
            x_label=f"{system}: difference to the mean coverage",
            caption=_over_and_under(figures),
        )
        for system, figures in report["systems"].items()
    )
    yield Group(tuple(plots), "row")
    yield value_table
    yield from other_tables


def _by_value(figures: Json) -> Iterator[ForestRow]:
    """Yield one row per value; the most and the least covered have filled squares."""
    extremes = _extremes(figures).values()
    for name, figure in figures["by_value"].items():
        label = name if figure["n"] >= MIN_CLUSTERS else f"{name} (n = {figure['n']})"
        mark = JUDGE_MARK if name in extremes else BASELINE_MARK
        yield row(label, {**figure, "value": figure["mean"]}, mark=mark, digits=3)


def _extremes(figures: Json) -> dict[str, str]:
    """Return the most over- and under-represented value, if they have enough summaries."""
    values = figures["by_value"]
    extremes = {side: figures[side] for side in ("over", "under") if figures.get(side) in values}
    return {side: value for side, value in extremes.items() if values[value]["n"] >= MIN_CLUSTERS}


def _over_and_under(figures: Json) -> str:
    sentences = [f"{side}-represented: {value}" for side, value in _extremes(figures).items()]
    extremes_in_words = (
        f"{'; '.join(sentences).capitalize()} (filled squares). " if sentences else ""
    )
    return f"{extremes_in_words}At 0 a value is covered like the mean."


def _proportional(report: Json) -> Iterator[Part]:
    measure_table, difference_table, under_table = fairness_tables.proportional_tables(report)
    systems = report["systems"]
    yield _measure_plots(systems, PROPORTIONAL)
    yield measure_table
    plots, ratios = [], []
    for system, figures in systems.items():
        values = figures.get("by_value", {}).items()
        plots.append(
            forest(
                [row(value, figure["difference"]) for value, figure in values],
                title=f"{system}: share of the summary minus the target share",
                x_label=f"{system}: points; above 0 over-represented, below 0 under-represented",
            )
        )
        samples = [sample for sample in report.get("samples", ()) if sample["system"] == system]
        ratios.append(share_ratios_plot(system, samples, figures.get("tau")))
    yield Group((*plots, *ratios), "row")
    yield difference_table
    yield under_table
    yield from _tau_curves(systems)


def _tau_curves(systems: Mapping[str, Json]) -> Iterator[Part]:
    """Yield BUR against tau for all systems in one plot (the first six), and the table."""
    systems_with_sweep = {
        system: figures for system, figures in systems.items() if figures.get("sweep")
    }
    if not systems_with_sweep:
        return
    title = "Summaries that under-represent some value, by tolerance tau"
    points = {
        system: [(p["tau"], p["value"]) for p in figures["sweep"] if p["value"] is not None]
        for system, figures in systems_with_sweep.items()
    }
    x_label = "tau: the fraction of its target share that a value must reach"
    plot = curves(points, name=title, x_label=x_label, y_label="BUR, percent")
    yield Heading(title, 4)
    yield Group((plot, fairness_tables.sweep_table(systems_with_sweep)))


def _overall(report: Json) -> Iterator[Part]:
    rows = [row(system, figure, digits=3) for system, figure in report["systems"].items()]
    table = fairness_comparison_tables.overall_table(report)
    is_scaled = report.get("scaling") != "none"
    yield plot_with_table(table, rows, table.title, span=(0.0, 1.0) if is_scaled else None)


def _agreement(report: Json) -> Iterator[Part]:
    agreements = fairness_comparison_tables.agreements(report).items()
    rows = [row(measure_label(name), figure) for name, figure in agreements]
    title, x_label = "Agreement of two scorers", "Spearman's correlation"
    plot = forest(rows, title=title, x_label=x_label, span=(-1.0, 1.0))
    yield Group((plot, fairness_comparison_tables.agreement_table(report)))


def _changes(report: Json) -> Iterator[Part]:
    tables = fairness_comparison_tables.changes_tables(report)
    for (system, measures), table in zip(report["systems"].items(), tables, strict=True):
        yield Group((*_change_plots(measures, f"{system} minus {report['baseline']}"), table))


def _change_plots(changes: Mapping[str, Json], title: str) -> list[Plot]:
    plots = []
    for family in FAMILIES.values():
        measures = [measure for measure in family.shown if measure.key in changes]
        in_points = {measure.unit for measure in measures} == {"percent"}
        rows = [
            row(
                measure.label if in_points else measure.label_with_unit,
                changes[measure.key]["difference"],
                digits=min(3, measure.digits),
            )
            for measure in measures
        ]
        x_label = "change in points" if in_points else "change"
        plots.append(forest(rows, title=title, x_label=x_label))
    return plots


def _oracle(report: Json) -> Iterator[Part]:
    plots = _change_plots(report["measures"], "Biased minus balanced pseudo-summaries")
    yield Group((*plots, fairness_comparison_tables.oracle_table(report)))


def _chunk_sizes(report: Json) -> Iterator[Part]:
    plots = [
        forest(
            _choices(
                figures["identified"],
                "max_words",
                figures["best"],
                label=lambda n: pluralize(n, "word") if n else "sentence",
            ),
            title=f"{system}: sentences that some document supports, by chunk size",
            x_label=f"{system}: share, 0 to 1",
            span=(0.0, 1.0),
            caption=_BEST,
        )
        for system, figures in {"all": report, **report["systems"]}.items()
    ]
    yield Group(tuple(plots), "row")
    yield fairness_comparison_tables.chunk_size_table(report)


def _temperatures(report: Json) -> Iterator[Part]:
    rows = _choices(
        report["temperatures"], "temperature", report["best"], label="temperature {:g}".format
    )
    x_label = f"{report['correlation'].capitalize()} correlation"
    yield plot_with_table(
        fairness_comparison_tables.temperature_table(report), rows, x_label, caption=_BEST
    )


def _choices(
    figures: Sequence[Json], name: str, best: float | None, *, label: Callable[[Any], str]
) -> list[ForestRow]:
    """Return one row per value of the setting `name`; the best has a filled square."""
    return [
        row(
            label(figure[name]),
            figure,
            mark=JUDGE_MARK if figure[name] == best else BASELINE_MARK,
            digits=3,
        )
        for figure in figures
    ]


def _people(report: Json) -> Iterator[Part]:
    summaries, groups = fairness_comparison_tables.people_tables(report)
    rows = [
        row(system, comparison["summaries"]["difference"])
        for system, comparison in report["systems"].items()
    ]
    yield plot_with_table(
        summaries,
        rows,
        "difference; above 0 Equal Coverage agrees more often, below 0 Proportional Representation",
        span=(-1.0, 1.0),
    )
    yield groups


def _measure_plots(systems: Mapping[str, Json], measures: Family) -> Part:
    plots = [
        forest(
            [
                row(system, figures.get(measure.key), digits=measure.digits)
                for system, figures in systems.items()
            ],
            title=measure.label,
            x_label=f"{measure.label}, {_unit(measure)}",
        )
        for measure in measures.shown
        if any(measure.key in figures for figures in systems.values())
    ]
    return Group(tuple(plots), "row")


def _unit(measure: Measure) -> str:
    statement = VALUES[measure.direction]
    return f"percent; {statement}" if measure.unit == "percent" else statement


FAIRNESS: PanelMakers = {
    "fairness coverage": ("Coverage by {attribute}", _coverage),
    "fairness proportional": ("Proportional representation by {attribute}", _proportional),
    "fairness overall": ("Over several data sets: {measure}", _overall),
    "fairness agreement": ("Do two scorers agree", _agreement),
    "fairness chunk-size": ("Support found, by chunk size", _chunk_sizes),
    "fairness oracle": ("Does the scorer detect planted unfairness", _oracle),
    "fairness compare": ("Differences from {baseline}", _changes),
    "fairness people": ("Which measures agree better with humans", _people),
    "fairness temperature": ("Correlation with human shares, by temperature", _temperatures),
}
"""By command, the title of its panel and the function that makes its parts from the JSON."""
