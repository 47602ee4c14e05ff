"""Who is covered, what sways the judge, and what has no score; no arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fairjudge.reports.content import Content
from fairjudge.reports.document import needs_script
from fairjudge.reports.figures import OTHER, PLAIN, Json, forest, interval, p_value, row
from fairjudge.reports.markup import Markup, element, html_table
from fairjudge.reports.tables import TextTable, columns, number

_MOST_PLOTTED = 24
"""Rows of a plot; a longer list is a table alone."""
_PERCENT = (0.0, 100.0)


def covered_parts(content: Content) -> Iterator[Markup]:
    """Yield who is covered: by kind of answer, article and outlet, and what is left out."""
    groups = [g for panel in content.of_kind("audit covered") for g in panel.report["groups"]]
    for group in groups:
        yield element("h3", f"Who is covered, by {group['judge']}")
        yield from (_slice(by, found) for by, found in group["slices"].items())
    if groups:
        yield element("h3", "Answers left out")
        yield element("div", needs_script("The list of answers left out"), id="uncovered")
        yield html_table(_left_out(groups), sortable=True)


def _slice(by: str, found: Mapping[str, Json]) -> Markup:
    """Return one way to slice; the plot within reach, the table folded away where there is one."""
    table = html_table(
        TextTable(
            title=by.capitalize(),
            columns=columns(
                by.partition(" by ")[2], "n", "mean, 0 to 1", numbers=("n", "mean, 0 to 1")
            ),
            rows=tuple(
                (name, str(one.get("n", "-")), interval(one)) for name, one in found.items()
            ),
        ),
        sortable=True,
    )
    if not 1 < len(found) <= _MOST_PLOTTED:
        return element("details", element("summary", by.capitalize()), table)
    rows = [row(name, one) for name, one in found.items()]
    plot = forest(rows, title=by.capitalize(), across="share covered, 0 to 1", span=(0.0, 1.0))
    shown = element("div", plot, table, class_="beside")
    first = "" if by.endswith((" by system", " by outlet")) else None
    return element("details", element("summary", by.capitalize()), shown, open=first)


def _left_out(groups: list[Json]) -> TextTable:
    return TextTable(
        title="Outlets none of whose answers is covered",
        columns=columns("cluster", "system", "outlets", "judge"),
        rows=tuple(
            (one["eid"], one["system"], ", ".join(one["outlets"]), group["judge"])
            for group in groups
            for one in group["left_out"]
        ),
    )


def sway_parts(content: Content) -> Iterator[Markup]:
    """Yield the panels of position, verbosity, length, order and the checks."""
    for panel in content.panels:
        show = _SWAYS.get(panel.kind)
        if show is not None:
            yield from show(panel.report)


def _position(report: Json) -> Iterator[Markup]:
    for group in report["groups"]:
        title = f"Position: {group['aspect']}, by {group['judge']}"
        names = {"first": "prefers the first", "second": "prefers the second",
                 "consistency": "same verdict both ways"}  # fmt: skip
        plot = forest(
            [row(label, group[name], digits=1) for name, label in names.items()],
            title=title,
            across="percent of pairs asked both ways",
            span=_PERCENT,
            caption="A judge without position bias prefers neither place.",
        )
        slices = [("all pairs", group), *group.get("by_closeness", {}).items()]
        slices += group.get("by_systems", {}).items()
        table = TextTable(
            title=f"Percent of pairs; {group['n_pairs']} asked in both orders",
            columns=columns(
                "pairs", "n", "first", "second", "same both ways", "p",
                numbers=("n", "first", "second", "same both ways", "p"),
            ),
            rows=tuple(
                (
                    name,
                    str(some["n_pairs"]),
                    *(interval(some.get(share), digits=1) for share in names),
                    p_value((some.get("first_minus_second") or {}).get("p_value")),
                )
                for name, some in slices
            ),
            notes=("p: test of first = second.",),
        )  # fmt: skip
        yield element("h3", title)
        yield element("div", plot, html_table(table, sortable=True), class_="beside")


def _verbosity(report: Json) -> Iterator[Markup]:
    rows = []
    for group in report["groups"]:
        name = f"{group['probe']}, {group['aspect']}, {group['protocol']}"
        rows.append(row(f"{name}: as written", group["original"], mark=OTHER, digits=1))
        rows.append(row(f"{name}: longer", group["extended"], mark=PLAIN, digits=1))
    table = TextTable(
        title="Percent of summaries that the judge puts first",
        columns=columns(
            "judge", "aspect", "protocol", "added", "n", "as written", "longer", "p",
            numbers=("n", "as written", "longer", "p"),
        ),
        rows=tuple(
            (
                group["judge"], group["aspect"], group["protocol"], group["probe"],
                str(group["n"]), interval(group["original"], digits=1),
                interval(group["extended"], digits=1),
                p_value(group["original_minus_extended"].get("p_value")),
            )
            for group in report["groups"]
        ),
    )  # fmt: skip
    yield element("h3", "Verbosity: the summary against itself made longer")
    plot = forest(rows, title="Verbosity", across="percent put first", span=_PERCENT,
                  caption="A judge without verbosity bias puts neither first.")  # fmt: skip
    yield element("div", plot, html_table(table), class_="beside")


def _length(report: Json) -> Iterator[Markup]:
    for group in report["groups"]:
        title = f"Length: {group['aspect']}, by {group['judge']}"
        yield element("h3", title)
        if group["why"]:
            yield element("p", f"Win rates are not adjusted: {group['why']}.", class_="note")
            continue
        effect = group["length_effect"]
        yield element(
            "p",
            f"One typical difference of length moves the log-odds of winning by {interval(effect)} "
            f"(p {p_value(effect.get('p_value'))}).",
        )
        shown = [(f"{one['system_a']} beats {one['system_b']}", one) for one in group["win_rates"]]
        if len(shown) <= _MOST_PLOTTED:
            rows = [row(name, one["adjusted"], digits=1) for name, one in shown]
            yield forest(
                rows, title=title, across="win rate at equal length, percent", span=_PERCENT
            )
        heads = ("n", "as judged", "at equal length", "matched pairs")
        yield html_table(
            TextTable(
                title="Win rates, percent",
                columns=columns("pair", *heads, numbers=heads),
                rows=tuple(
                    (
                        name,
                        str(one["raw"].get("n", "-")),
                        *(interval(one[how], digits=1) for how in ("raw", "adjusted", "matched")),
                    )
                    for name, one in shown
                ),
            ),
            sortable=True,
        )


def _order(report: Json) -> Iterator[Markup]:
    title = f"Order of articles: faithfulness, by {report['judge']}"
    places = [row(f"article {place}", one) for place, one in report["by_place"].items()]
    changes = {
        "first minus last": "first_minus_last",
        "ends minus middle": "ends_minus_middle",
        "share changed by shuffling": "changed",
        "highest minus lowest of the shuffles": "spread",
    }
    cells = [(one.label, one.text, "-") for one in places]
    cells += [
        (label, interval(report[name]), p_value(report[name].get("p_value")))
        for label, name in changes.items()
    ]
    table = TextTable(
        title="Rating of a lead by the place of its article, and what moving articles changes",
        columns=columns("", "rating", "p", numbers=("rating", "p")),
        rows=tuple(cells),
    )
    yield element("h3", title)
    plot = forest(places, title=title, across="rating, 1 to 5", span=(1.0, 5.0))
    yield element("div", plot, html_table(table), class_="beside")


def _checks(report: Json) -> Iterator[Markup]:
    title = f"Checks: {report['aspect']}, by {report['judge']}"
    rows = [row(one["name"], one["kept"], digits=1) for one in report["checks"]]
    heads = ("n", "kept, percent", "unscored")
    kept = TextTable(
        title="How often what must hold of any judge held",
        columns=columns("check", *heads, numbers=heads),
        rows=tuple(
            (one["name"], str(one["n"]), interval(one["kept"], digits=1), str(one["n_unscored"]))
            for one in report["checks"]
        ),
    )
    broken = TextTable(
        title="Where a check was broken",
        columns=columns("check", "item", "values"),
        rows=tuple(
            (one["name"], item["item"], " then ".join(map(str, item["values"])))
            for one in report["checks"]
            for item in one["broken"]
        ),
    )
    yield element("h3", title)
    plot = forest(rows, title=title, across="percent kept", span=_PERCENT)
    yield element("div", plot, html_table(kept), class_="beside")
    if broken.rows:
        summary = element("summary", f"Where a check was broken: {len(broken.rows)} items")
        yield element("details", summary, html_table(broken, sortable=True))


_SWAYS: Mapping[str, Callable[[Json], Iterator[Markup]]] = {
    "audit position": _position,
    "audit verbosity": _verbosity,
    "audit length": _length,
    "audit order": _order,
    "audit checks": _checks,
}


def unscored_parts(content: Content) -> Iterator[Markup]:
    """Yield how many judgements have no score, by reason, and who scored the others."""
    for panel in content.of_kind("audit parse"):
        groups = panel.report["groups"]
        heads = ("judged", "without a score", "percent")
        yield html_table(
            TextTable(
                title="Judgements with and without a score",
                columns=columns(
                    "judge", "aspect", "protocol", *heads, "reasons", "scored by", numbers=heads
                ),
                rows=tuple(
                    (
                        group["judge"],
                        group["aspect"],
                        group["protocol"],
                        str(group["n_judgements"]),
                        str(group["n_unscored"]),
                        number(_percent(group), digits=1),
                        ", ".join(f"{n} {reason}" for reason, n in group["unscored"].items())
                        or "-",
                        ", ".join(f"{n} {who}" for who, n in group["scored_by"].items()),
                    )
                    for group in groups
                ),
                notes=(
                    "An item without a score enters no mean. The leaderboards bound what it could "
                    "change.",
                ),
            ),
            sortable=True,
        )
    if content.counts is not None and content.counts.n_unscored:
        yield element("div", needs_script("The list of items without a score"), id="without-score")


def _percent(group: Json) -> float | None:
    n = group["n_judgements"]
    return 100.0 * group["n_unscored"] / n if n else None
