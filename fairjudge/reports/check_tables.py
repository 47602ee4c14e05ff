"""Tables and figures of a judge before and after a change; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairjudge.calibration.drift import FEWEST_DOCUMENTS
from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.figures import Json, forest, interval, protocol_of, row
from fairjudge.reports.parts import Plot
from fairjudge.reports.point_plots import LooksPlot
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import percentage, pluralize

_SAID = {
    "better": "It agrees with people better than before.",
    "same": "It agrees with people as before, within the margin.",
    "worse": "It agrees with people less than before, and the loss may exceed the margin.",
    "cannot tell": "The anchors are too few to tell whether the loss is within the margin.",
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
    title = f"{_title(group)}, by {group['judge_after']}"
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


def check_tables(report: Json) -> tuple[TextTable, ...]:
    """Return a table of changes for each aspect, protocol and judge."""
    return tuple(_table(group, report["margin"]) for group in report["groups"])


def check_findings(report: Json) -> Iterator[str]:
    """Say whether the change passes, and which anchors have no score."""
    outcomes = {
        "passed": _passed(report["groups"]),
        "worse": "Failed: it agrees with people less than before.",
        "cannot tell": "Failed: the anchors are too few to tell, which --strict does not accept.",
        "unscored": (
            f"Failed: more than --max-unscored {report['max_unscored']:g} is without a score."
        ),
    }
    yield outcomes[report["outcome"]]
    if since := report.get("since"):
        same = "" if since["is_new"] else ", the same as last time"
        yield f"Look {since['n_looks']} of {since['name']}{same}."
        yield from (
            f"{_title(group)}: {_MOVED[group['watch']['moved']]}"
            for group in report["groups"]
            if group["watch"]["moved"] != "neither"
        )
    n_unscored, n_all = report["n_unscored"], report["n_judgements"]
    if n_unscored > report["max_unscored"] * n_all:
        yield f"{n_unscored:,} of {pluralize(n_all, 'judgement')} without a score."
    for group in report["groups"]:
        title, n = _title(group), group["n_labelled"]
        for side, when in (("after", "after"), ("before", "in the baseline")):
            if lost := group[f"n_without_{side}"]:
                share = f"{lost:,} of {pluralize(n, 'anchor')} ({percentage(lost / n, digits=1)})"
                yield f"{title}: {share} without a score {when}."
        if absent := group["n_absent_after"]:
            yield f"Not judged at all: {absent:,}, such as {group['example_absent']}."


def _passed(groups: Sequence[Json]) -> str:
    """Say that nothing is worse, and for which groups the anchors are too few to tell."""
    unknown = [_title(group) for group in groups if group["verdict"] == "cannot tell"]
    if not unknown:
        return "Passed."
    few = "the anchors are too few to tell, which fails with --strict"
    if len(unknown) == len(groups):
        return f"Cannot tell: {few}."
    return f"Passed, but cannot tell of {'; '.join(unknown)}: {few}."


def _title(group: Json) -> str:
    return f"{group['aspect']}, {protocol_of(group)}"


def _table(group: Json, margin: float) -> TextTable:
    names = group["judge_before"], group["judge_after"]
    judges = names[0] if names[0] == names[1] else f"{names[0]}, then {names[1]}"
    return table(
        f"Check: {_title(group)}, by {judges}",
        "figure: {figure} | before> {before} | after> {after} | change> {change:interval}",
        [
            {
                "figure": _MEASURES[group["measure"]],
                "before": number(group["before"]),
                "after": number(group["after"]),
                "change": group["agreement"],
            },
            *_watched(group),
            *(
                {"figure": words, **_levels(group, name), "change": group[name]}
                for name, words in _CHANGES.items()
                if PROTOCOLS[group["protocol"]].yes_no or name not in ("sensitivity", "specificity")
            ),
        ],
        notes=_notes(group, margin),
    )


def _watched(group: Json) -> Iterator[Json]:
    """Yield the changes whose intervals hold at all looks at once, where there are looks."""
    if "watch" not in group:
        return
    watch = group["watch"]
    for name, words in _WATCHED.items():
        if watch[name].get("value") is not None:
            label = f"{words}, look {watch['n_looks']} of {watch['planned']}"
            yield {"figure": label, "before": "", "after": "", "change": watch[name]}


def _levels(group: Json, name: str) -> Json:
    """Return the figure before and after, where it is one of shares of anchors."""
    n = group["n_labelled"]
    if name != "without_score" or not n:
        return {"before": "", "after": ""}
    lost = {side: group[f"n_without_{side}"] for side in ("before", "after")}
    return {
        side: f"{n_lost:,} of {n:,} ({percentage(n_lost / n, digits=1)})"
        for side, n_lost in lost.items()
    }


def _notes(group: Json, margin: float) -> Iterator[str]:
    yield f"{group['verdict'].capitalize()}. {_SAID[group['verdict']]} Margin: {number(margin)}."
    yield (
        f"{pluralize(group['n_items'], 'anchor')} judged both times, in "
        f"{pluralize(group['n_documents'], 'document')}, of {group['n_labelled']:,} labelled."
    )
    if "watch" in group:
        yield from _watch_notes(group["watch"])
    if group["n_documents"] < FEWEST_DOCUMENTS:
        yield f"No verdict is given on fewer than {FEWEST_DOCUMENTS} documents."
    elif "watch" in group:
        return
    elif group["verdict"] == "cannot tell" and group["documents_needed"]:
        yield (
            f"About {pluralize(group['documents_needed'], 'document')} would make the interval "
            "narrow enough for this margin."
        )


def _watch_notes(watch: Json) -> Iterator[str]:
    yield (
        f"The verdict is that of the watched change: its intervals hold at all "
        f"{pluralize(watch['planned'], 'look')} at once. {_MOVED[watch['moved']]}"
    )
    if watch["first_worse"] not in (None, watch["n_looks"]):
        yield f"It was worse at look {watch['first_worse']}."
