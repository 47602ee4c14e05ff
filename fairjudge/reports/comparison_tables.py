"""Tables, plots and findings of the comparison of two runs, and of the check of a judge."""

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
    protocol_in_words,
    row,
    sentence,
    significant_words,
    tally,
    undefined_reason,
)
from fairjudge.reports.parts import Plot
from fairjudge.reports.point_plots import ChecksPlot
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
    """Return the table of differing settings and the tables of each aspect, protocol and judge.

    The latter are statistics, systems, a confusion table, and the items that differ most.
    """
    return (*settings_table(report), *chain.from_iterable(map(group_tables, report["groups"])))


def settings_table(report: Json) -> tuple[TextTable, ...]:
    """Return a table of the files and of their differing settings, if there are any."""
    rows = [*report.get("settings", ())]
    if files := report.get("files"):
        names = ("file", "written")
        rows[:0] = [
            {"setting": name, **{run: [files[run][name]] for run in ("first", "second")}}
            for name in names
        ]
    spec = "setting: {setting} | first: {first:list} | second: {second:list}"
    title = "Compared files and their differing settings"
    return (table(title, spec, rows),) if rows else ()


def group_title(group: Json) -> str:
    """Return aspect, protocol and judges in one line."""
    judges = " and ".join(dict.fromkeys((group["first"], group["second"])))
    return f"{group['aspect']}, {protocol_in_words(group)}, by {judges}"


def group_tables(group: Json) -> Iterator[TextTable]:
    """Yield the tables of one aspect, protocol and judge."""
    exclusions = {
        "in the first run only": group["n_only_first"],
        "in the second run only": group["n_only_second"],
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
            f"{pluralize(group['n_documents'], 'document')}. Human labels show which is better.",
            f"Excluded: {tally(exclusions)}." if any(exclusions.values()) else "",
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
    """Return the counts of value pairs in the two runs, with percentages of the row."""
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
    """Return the items that differ most, with links to their judgements on the page."""
    items = group["largest"]
    item_table = table(
        f"Items that differ most: {group_title(group)}",
        "cluster: {eid} | system: {systems} | part: {unit} | first> {first:g} | second> {second:g}",
        items,
        notes=(f"{len(items)} of {pluralize(group['n_changed'], 'item')} that changed.",),
        systems=lambda item: " - ".join(filter(None, (item["system"], item.get("system_b")))),
    )
    anchors = [item.get("address", "") for item in items]
    return replace(item_table, links=tuple(anchor and f"#judgement-{anchor}" for anchor in anchors))


def comparison_findings(report: Json) -> Iterator[str]:
    """Yield whether the second run scores higher or lower, and the share of equal values."""
    for group in report["groups"]:
        predicate = significant_words(
            group["shift"],
            above="scores higher",
            below="scores lower",
            neither="scores neither significantly higher nor lower",
        )
        yield (
            f"In {group['aspect']} the second run {predicate} (shift {interval(group['shift'])}); "
            f"both runs agree on a share of {interval(group['agreement'])} of "
            f"{pluralize(group['n_items'], 'item')}."
        )


_VERDICTS = {
    "better": "It agrees with human labels better than before.",
    "same": "It agrees with human labels as before, within the margin.",
    "worse": "It agrees with human labels less than before, and the loss may exceed the margin.",
    "constant": "Such a judge cannot agree with human labels, on any number of anchors.",
    "cannot tell": "Whether a loss of agreement is within the margin is unknown.",
}
_MEASURES = {
    "spearman": "agreement with human labels (Spearman)",
    "agreement": "agreement with human labels (share of equal answers)",
}
_CHANGES = {
    "shift": "the judge's mean value",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "without_score": "share of anchors without a score",
}


_MONITORED = {
    "agreement": "monitored: agreement with human labels",
    "shift": "monitored: the judge's values of anchors",
    "systems": "monitored: the systems, by values of new summaries minus those of anchors",
}
_CAPTIONS = {
    "agreement": "Agreement with human labels; 0: as in the baseline. Dashed: the margin.",
    "shift": "The judge's values of the same anchors, as a fraction of its scale.",
    "systems": "New summaries, relative to the first check with any, minus the change of anchors.",
}
_CHANGE_SENTENCES = {
    "neither": "Neither judge nor systems have changed significantly.",
    "judge": "The judge changed: its values of the same anchors differ.",
    "systems": "The systems changed: values of new summaries differ, those of anchors do not.",
    "judge and systems": "Both judge and systems changed.",
}


def check_plots(report: Json, group: Json) -> Iterator[Plot]:
    """Yield the change of agreement with its margin, or every monitored change by check."""
    title = f"{_check_title(group)}, by {group['judge_after']}"
    margin = report["margin"]
    by_look = group.get("watch", {}).get("by_look", ())
    if len(by_look) < 2:
        yield forest(
            [row("agreement with human labels", group["agreement"])],
            title=f"Change of agreement, {title}",
            x_label="change: after minus before",
            band=(-margin, 0.0),
            caption="Dashed: the margin. Passed if the interval is right of its left border.",
        )
        return
    for name, label in _MONITORED.items():
        changes = [look[name] for look in by_look]
        intervals = "; ".join(
            f"check {n} {interval(change)}" for n, change in enumerate(changes, 1)
        )
        plot = ChecksPlot(
            name=f"{label.capitalize().replace(': ', ', ')}, {title}: {intervals}",
            changes=changes,
            y_label="change since the baseline",
            margin=margin if name == "agreement" else None,
        )
        yield Plot(plot, f"{_CAPTIONS[name]} Intervals are simultaneously valid over all checks.")


def check_tables(report: Json) -> Iterator[TextTable]:
    """Yield one table of changes per aspect, protocol and judge."""
    for group in report["groups"]:
        judges = ", then ".join(dict.fromkeys((group["judge_before"], group["judge_after"])))
        yield table(
            f"Check: {_check_title(group)}, by {judges}",
            "figure: {figure} | before> {before} | after> {after} | change> {change:interval}",
            [{"before": "", "after": "", **row} for row in _rows(group)],
            notes=_notes(group, report["margin"]),
        )


def check_findings(report: Json) -> Iterator[str]:
    """Yield whether the check passes, and the numbers of anchors without a score."""
    outcomes = {
        "passed": _passed_sentence(report["groups"]),
        "worse": "Failed: it agrees with human labels less than before.",
        "constant": f"Failed: {_constant_clause(report['groups'])}.",
        "cannot tell": f"Failed by --strict: {_undecided_clause(report['groups'])}.",
        "unscored": (
            f"Failed: more than --max-unscored {report['max_unscored']:g} is without a score."
        ),
    }
    yield outcomes[report["outcome"]]
    if report["outcome"] == "worse" and (constant := _constant_clause(report["groups"])):
        yield sentence(constant)
    if since := report.get("since"):
        repetition = "" if since["is_new"] else ", the same as last time"
        yield f"Check {since['n_looks']} of {since['name']}{repetition}."
        yield from (
            f"{_check_title(group)}: {_CHANGE_SENTENCES[group['watch']['moved']]}"
            for group in report["groups"]
            if group["watch"]["moved"] != "neither"
        )
    for group in report["groups"]:
        if (
            group["verdict"] == "cannot tell"
            and "watch" not in group
            and _is_significant(group["shift"])
        ):
            yield (
                f"{_check_title(group)}: the judge's values of the same anchors changed by "
                f"{interval(group['shift'])} on average."
            )
    n_unscored, n_all = report["n_unscored"], report["n_judgements"]
    if n_unscored > report["max_unscored"] * n_all:
        yield f"{n_unscored:,} of {pluralize(n_all, 'judgement')} without a score."
    for group in report["groups"]:
        group_name, n = _check_title(group), group["n_labelled"]
        for side, time in (("after", "after"), ("before", "in the baseline")):
            if n_missing := group[f"n_without_{side}"]:
                percent = percentage(n_missing / n, digits=1)
                share = f"{n_missing:,} of {pluralize(n, 'anchor')} ({percent})"
                yield f"{group_name}: {share} without a score {time}."
        if n_absent := group["n_absent_after"]:
            yield f"Not judged at all: {n_absent:,}, such as {group['example_absent']}."


def _passed_sentence(groups: Sequence[Json]) -> str:
    """Return the sentence for a check that did not fail, with the undecided groups."""
    clause = _undecided_clause(groups)
    if not clause:
        return "Passed."
    prefix = "" if all(group["verdict"] == "cannot tell" for group in groups) else "Passed, but "
    return f"{sentence(prefix + clause)} This fails with --strict."


def _undecided_clause(groups: Sequence[Json]) -> str:
    """Return the groups whose change of agreement is undecided, with causes; "" without any."""
    undecided_groups = [group for group in groups if group["verdict"] == "cannot tell"]
    if not undecided_groups:
        return ""
    prefix = "" if len(groups) == 1 else "of {}, "
    causes = "; ".join(
        f"{prefix.format(_check_title(group))}{_cause(group)}" for group in undecided_groups
    )
    return f"cannot tell whether agreement with human labels fell by more than the margin: {causes}"


def _cause(group: Json) -> str:
    """Return the reason why a change of agreement is undecided, and the documents needed."""
    if group["reason"]:
        return str(group["reason"])
    n = f"{pluralize(group['n_items'], 'anchor')} in {pluralize(group['n_documents'], 'document')}"
    n_needed, change = group["documents_needed"], group.get("watch", group)["agreement"]
    if n_needed is None:
        return f"{n}, {undefined_reason(change) or change['method']}"
    documents = f"about {pluralize(n_needed, 'document')} are needed"
    return f"{n} are too few; {documents}, if the change of {change['value']:.2f} is true"


def _constant_clause(groups: Sequence[Json]) -> str:
    """Return the groups in which the judge gave (nearly) all anchors one score, with reasons."""
    prefix = "{}: " if len(groups) > 1 else ""
    return "; ".join(
        f"{prefix.format(_check_title(group))}{group['reason']}"
        for group in groups
        if group["verdict"] == "constant"
    )


def _is_significant(change: Json) -> bool:
    return change.get("low") is not None and not change["low"] <= 0.0 <= change["high"]


def _check_title(group: Json) -> str:
    return f"{group['aspect']}, {protocol_in_words(group)}"


def _rows(group: Json) -> Iterator[Json]:
    """Yield the change of agreement, the monitored changes, and the other changes."""
    values = {side: number(group[side]) for side in ("before", "after")}
    yield {"figure": _MEASURES[group["measure"]], **values, "change": group["agreement"]}
    watch = group.get("watch", {})
    for name, label in _MONITORED.items():
        if watch.get(name, {}).get("value") is not None:
            check_label = f"{label}, check {watch['n_looks']} of {watch['planned']}"
            yield {"figure": check_label, "change": watch[name]}
    n = group["n_labelled"]
    for name, label in _CHANGES.items():
        if PROTOCOLS[group["protocol"]].yes_no or name not in ("sensitivity", "specificity"):
            is_share = name == "without_score" and n
            n_missing_by_side = (
                {side: group[f"n_without_{side}"] for side in values} if is_share else {}
            )
            shares = {
                side: f"{n_missing:,} of {n:,} ({percentage(n_missing / n, digits=1)})"
                for side, n_missing in n_missing_by_side.items()
            }
            yield {"figure": label, **shares, "change": group[name]}


def _notes(group: Json, margin: float) -> Iterator[str]:
    reason = f"{sentence(group['reason'])} " if group["verdict"] == "constant" else ""
    yield (
        f"{group['verdict'].capitalize()}. {reason}{_VERDICTS[group['verdict']]} "
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
        yield f"A verdict needs at least {MIN_DOCUMENTS} documents."
    elif group["verdict"] == "cannot tell":
        yield sentence(_cause(group))


def _bound_notes(change: Json) -> Iterator[str]:
    """Yield the sign of each bound that rounds to 0, and the reason of a missing interval."""
    if change.get("value") is None:
        return
    if change["low"] is None:
        yield f"The change of agreement has {change['method']}."
    for name in ("low", "high"):
        bound = change[name]
        if bound and not float(number(bound)):
            side = "below" if bound < 0.0 else "above"
            yield f"The {name} bound of the change of agreement is {bound:.1g}, {side} 0."


def _watch_notes(watch: Json) -> Iterator[str]:
    yield (
        "The verdict is that of the monitored change: its intervals are simultaneously valid over "
        f"{pluralize(watch['planned'], 'check')}. {_CHANGE_SENTENCES[watch['moved']]}"
    )
    if watch["first_worse"] not in (None, watch["n_looks"]):
        yield f"It was worse at check {watch['first_worse']}."
