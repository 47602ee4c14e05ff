"""Tables, plots and findings of two runs side by side, and of a judge before and after a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from fairjudge.calibration.drift import MIN_DOCUMENTS
from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.figures import (
    Json,
    forest,
    interval,
    protocol_of,
    row,
    sentence,
    significant_words,
    tally,
    why,
)
from fairjudge.reports.parts import Plot
from fairjudge.reports.point_plots import LooksPlot
from fairjudge.reports.row_tables import side_by_side, table
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.text.counting import percentage, pluralize

_FIGURES = {
    "agreement": "items with the same value",
    "shift": "mean shift, second minus first",
    "distance": "mean distance",
    "order": "Kendall's tau-b of the items",
}


def comparison_tables(report: Json) -> tuple[TextTable, ...]:
    """Return tables of differing settings and of the results by aspect, protocol and judge.

    That is a table of figures, one of systems, a confusion table, and the items furthest apart.
    """
    return (*settings_table(report), *chain.from_iterable(map(group_tables, report["groups"])))


def settings_table(report: Json) -> tuple[TextTable, ...]:
    """Return a table of the files and of the settings in which they differ, if there is any."""
    rows = [*report.get("settings", ())]
    if files := report.get("files"):
        names = ("file", "written")
        rows[:0] = [
            {"setting": name, **{run: [files[run][name]] for run in ("first", "second")}}
            for name in names
        ]
    spec = "setting: {setting} | first: {first:list} | second: {second:list}"
    title = "What was compared, and where its settings differ"
    return (table(title, spec, rows),) if rows else ()


def group_title(group: Json) -> str:
    """Name aspect, protocol and judges."""
    judges = " and ".join(dict.fromkeys((group["first"], group["second"])))
    return f"{group['aspect']}, {protocol_of(group)}, by {judges}"


def group_tables(group: Json) -> Iterator[TextTable]:
    """Yield the tables of one aspect, protocol and judge."""
    excluded = {
        "in the first run alone": group["n_only_first"],
        "in the second run alone": group["n_only_second"],
        "without a score in the first": group["n_unscored_first"],
        "without a score in the second": group["n_unscored_second"],
    }
    yield side_by_side(
        f"Two runs: {group_title(group)}",
        "figure",
        _FIGURES,
        {"value": group},
        notes=(
            f"{pluralize(group['n_items'], 'item')} scored in both runs, in "
            f"{pluralize(group['n_documents'], 'document')}. Labels show which is better.",
            f"Excluded: {tally(excluded)}." if any(excluded.values()) else "",
        ),
    )
    if group["systems"]:
        yield table(
            f"Systems in both runs: {group_title(group)}",
            "system: {system} | first> {first:number} | second> {second:number}"
            " | shift> {shift:interval}",
            group["systems"],
        )
    if group.get("confusion"):
        yield _confusion(group)
    if group.get("largest"):
        yield _largest(group)


def _confusion(group: Json) -> TextTable:
    """Return how often a value of the first run became which of the second, in % of its row."""
    confusion = group["confusion"]
    names = [f"{value:g}" for value in confusion["columns"]]
    rows = []
    for value, counts in zip(confusion["rows"], confusion["counts"], strict=True):
        total = sum(counts)
        shares = [f"{n} ({percentage(n / total)})" if n else "0" for n in counts]
        rows.append((f"{value:g}", *shares, str(total)))
    return TextTable(
        title=f"Values of the first run (rows) and of the second (columns): {group_title(group)}",
        columns=columns("first", *names, "items", numbers=(*names, "items")),
        rows=tuple(rows),
        notes=("In brackets: share of the row.",),
    )


def _largest(group: Json) -> TextTable:
    """Return the items that differ most; a page links them to the judgements that it has."""
    items = group["largest"]
    largest = table(
        f"Items that differ most: {group_title(group)}",
        "cluster: {eid} | system: {systems} | part: {unit} | first> {first:g} | second> {second:g}",
        items,
        notes=(f"{len(items)} of {pluralize(group['n_changed'], 'item')} that changed.",),
        systems=lambda item: " - ".join(filter(None, (item["system"], item.get("system_b")))),
    )
    addresses = [item.get("address", "") for item in items]
    return replace(largest, links=tuple(at and f"#judgement-{at}" for at in addresses))


def comparison_findings(report: Json) -> Iterator[str]:
    """Yield whether the second run judges higher or lower, and how often both agree."""
    for group in report["groups"]:
        judges = significant_words(
            group["shift"],
            above="judges higher",
            below="judges lower",
            neither="judges neither significantly higher nor lower",
        )
        yield (
            f"In {group['aspect']} the second run {judges} (shift {interval(group['shift'])}); "
            f"the same value for a share of {interval(group['agreement'])} of "
            f"{pluralize(group['n_items'], 'item')}."
        )


_SAID = {
    "better": "It agrees with people better than before.",
    "same": "It agrees with people as before, within the margin.",
    "worse": "It agrees with people less than before, and the loss may exceed the margin.",
    "constant": "Such a judge cannot agree with people, on however many anchors.",
    "cannot tell": "Whether a loss of agreement is within the margin is not known.",
}
_MEASURES = {
    "spearman": "agreement with people (Spearman)",
    "agreement": "agreement with people (share of the same answer)",
}
_CHANGES = {
    "shift": "the judge's mean value",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "without_score": "share of anchors without a score",
}


_WATCHED = {
    "agreement": "watched: agreement with people",
    "shift": "watched: the judge's values of anchors",
    "systems": "watched: the systems, by values of new summaries minus those of anchors",
}
_LOOKS = {
    "agreement": "Agreement with people, 0 as in the baseline. Dashed: the margin.",
    "shift": "The judge's values of the same anchors, as a part of its scale.",
    "systems": "New summaries since the first look that had such, less the change of anchors.",
}
_MOVED = {
    "neither": "Neither judge nor systems have changed significantly.",
    "judge": "The judge changed: its values of the same anchors differ.",
    "systems": "The systems changed: values of new summaries differ, those of anchors do not.",
    "judge and systems": "Both judge and systems changed.",
}


def check_plots(report: Json, group: Json) -> Iterator[Plot]:
    """Yield the change of agreement beside its margin, or every change that was watched by look."""
    title = f"{_check_title(group)}, by {group['judge_after']}"
    margin = report["margin"]
    by_look = group.get("watch", {}).get("by_look", ())
    if len(by_look) < 2:
        yield forest(
            [row("agreement with people", group["agreement"])],
            title=f"Change of agreement, {title}",
            across="change: after minus before",
            band=(-margin, 0.0),
            caption="Dashed: the margin. Passed where the interval lies to the right of its left "
            "border.",
        )
        return
    for name, words in _WATCHED.items():
        changes = [look[name] for look in by_look]
        intervals = "; ".join(f"look {n} {interval(change)}" for n, change in enumerate(changes, 1))
        plot = LooksPlot(
            name=f"{words.capitalize().replace(': ', ', ')}, {title}: {intervals}",
            changes=changes,
            up="change since the baseline",
            margin=margin if name == "agreement" else None,
        )
        yield Plot(plot, f"{_LOOKS[name]} Intervals hold at all looks at once.")


def check_tables(report: Json) -> Iterator[TextTable]:
    """Yield a table of changes for each aspect, protocol and judge."""
    for group in report["groups"]:
        judges = ", then ".join(dict.fromkeys((group["judge_before"], group["judge_after"])))
        yield table(
            f"Check: {_check_title(group)}, by {judges}",
            "figure: {figure} | before> {before} | after> {after} | change> {change:interval}",
            [{"before": "", "after": "", **row} for row in _rows(group)],
            notes=_notes(group, report["margin"]),
        )


def check_findings(report: Json) -> Iterator[str]:
    """Say whether the change passes, and which anchors have no score."""
    outcomes = {
        "passed": _passed(report["groups"]),
        "worse": "Failed: it agrees with people less than before.",
        "constant": f"Failed: {_constant(report['groups'])}.",
        "cannot tell": f"Failed by --strict: {_unknown(report['groups'])}.",
        "unscored": (
            f"Failed: more than --max-unscored {report['max_unscored']:g} is without a score."
        ),
    }
    yield outcomes[report["outcome"]]
    if report["outcome"] == "worse" and (constant := _constant(report["groups"])):
        yield sentence(constant)
    if since := report.get("since"):
        same = "" if since["is_new"] else ", the same as last time"
        yield f"Look {since['n_looks']} of {since['name']}{same}."
        yield from (
            f"{_check_title(group)}: {_MOVED[group['watch']['moved']]}"
            for group in report["groups"]
            if group["watch"]["moved"] != "neither"
        )
    for group in report["groups"]:
        if group["verdict"] == "cannot tell" and "watch" not in group and _is_moved(group["shift"]):
            yield (
                f"{_check_title(group)}: the judge's values of the same anchors changed by "
                f"{interval(group['shift'])} on average."
            )
    n_unscored, n_all = report["n_unscored"], report["n_judgements"]
    if n_unscored > report["max_unscored"] * n_all:
        yield f"{n_unscored:,} of {pluralize(n_all, 'judgement')} without a score."
    for group in report["groups"]:
        title, n = _check_title(group), group["n_labelled"]
        for side, when in (("after", "after"), ("before", "in the baseline")):
            if n_missing := group[f"n_without_{side}"]:
                part = percentage(n_missing / n, digits=1)
                share = f"{n_missing:,} of {pluralize(n, 'anchor')} ({part})"
                yield f"{title}: {share} without a score {when}."
        if absent := group["n_absent_after"]:
            yield f"Not judged at all: {absent:,}, such as {group['example_absent']}."


def _passed(groups: Sequence[Json]) -> str:
    """Say that no agreement is worse, and for which groups that is not known."""
    unknown = _unknown(groups)
    if not unknown:
        return "Passed."
    passed = "" if all(group["verdict"] == "cannot tell" for group in groups) else "Passed, but "
    return f"{sentence(passed + unknown)} This fails with --strict."


def _unknown(groups: Sequence[Json]) -> str:
    """Name the groups whose change of agreement is undecided, and the documents needed."""
    unknown = [group for group in groups if group["verdict"] == "cannot tell"]
    if not unknown:
        return ""
    which = "" if len(groups) == 1 else "of {}, "
    causes = "; ".join(f"{which.format(_check_title(group))}{_cause(group)}" for group in unknown)
    return f"cannot tell whether agreement with people fell by more than the margin: {causes}"


def _cause(group: Json) -> str:
    """Return why a change of agreement is undecided, and the documents needed."""
    if group["reason"]:
        return str(group["reason"])
    n = f"{pluralize(group['n_items'], 'anchor')} in {pluralize(group['n_documents'], 'document')}"
    needed, change = group["documents_needed"], group.get("watch", group)["agreement"]
    if needed is None:
        return f"{n}, {why(change) or change['method']}"
    documents = f"it takes about {pluralize(needed, 'document')}"
    return f"{n} are too few; {documents}, were the change of {change['value']:.2f} true"


def _constant(groups: Sequence[Json]) -> str:
    """Say of which groups the judge gave one score to all anchors, or to nearly all."""
    which = "{}: " if len(groups) > 1 else ""
    return "; ".join(
        f"{which.format(_check_title(group))}{group['reason']}"
        for group in groups
        if group["verdict"] == "constant"
    )


def _is_moved(change: Json) -> bool:
    return change.get("low") is not None and not change["low"] <= 0.0 <= change["high"]


def _check_title(group: Json) -> str:
    return f"{group['aspect']}, {protocol_of(group)}"


def _rows(group: Json) -> Iterator[Json]:
    """Yield the change of agreement, those with intervals over all looks, and the others."""
    measured = {side: number(group[side]) for side in ("before", "after")}
    yield {"figure": _MEASURES[group["measure"]], **measured, "change": group["agreement"]}
    watch = group.get("watch", {})
    for name, words in _WATCHED.items():
        if watch.get(name, {}).get("value") is not None:
            label = f"{words}, look {watch['n_looks']} of {watch['planned']}"
            yield {"figure": label, "change": watch[name]}
    n = group["n_labelled"]
    for name, words in _CHANGES.items():
        if PROTOCOLS[group["protocol"]].yes_no or name not in ("sensitivity", "specificity"):
            is_share = name == "without_score" and n
            missing = {side: group[f"n_without_{side}"] for side in measured} if is_share else {}
            shares = {
                side: f"{n_missing:,} of {n:,} ({percentage(n_missing / n, digits=1)})"
                for side, n_missing in missing.items()
            }
            yield {"figure": words, **shares, "change": group[name]}


def _notes(group: Json, margin: float) -> Iterator[str]:
    reason = f"{sentence(group['reason'])} " if group["verdict"] == "constant" else ""
    yield (
        f"{group['verdict'].capitalize()}. {reason}{_SAID[group['verdict']]} "
        f"Margin: {number(margin)}."
    )
    yield (
        f"{pluralize(group['n_items'], 'anchor')} judged both times, in "
        f"{pluralize(group['n_documents'], 'document')}, of {group['n_labelled']:,} labelled."
    )
    if "watch" in group:
        yield from _watch_notes(group["watch"])
    yield from _bound_notes(group.get("watch", group)["agreement"])
    if group["n_documents"] < MIN_DOCUMENTS:
        yield f"No verdict is given on fewer than {MIN_DOCUMENTS} documents."
    elif group["verdict"] == "cannot tell":
        yield sentence(_cause(group))


def _bound_notes(change: Json) -> Iterator[str]:
    """Say on which side of 0 an end of the interval lies that the table shows as 0; or no end."""
    if change.get("value") is None:
        return
    if change["low"] is None:
        yield f"The change of agreement has {change['method']}."
    for end in ("low", "high"):
        bound = change[end]
        if bound and not float(number(bound)):
            side = "below" if bound < 0.0 else "above"
            yield f"The {end} end of the change of agreement is {bound:.1g}, {side} 0."


def _watch_notes(watch: Json) -> Iterator[str]:
    yield (
        f"The verdict is that of the watched change: its intervals hold at all "
        f"{pluralize(watch['planned'], 'look')} at once. {_MOVED[watch['moved']]}"
    )
    if watch["first_worse"] not in (None, watch["n_looks"]):
        yield f"It was worse at look {watch['first_worse']}."
