"""Tables of the audits, made of their JSON."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.figures import Json, interval, p_value, percent, tally
from fairjudge.reports.tables import TextTable, columns

_MAX_NAMED = 12
POSITION = {
    "first": "prefers the first",
    "second": "prefers the second",
    "consistency": "same verdict both ways",
}
CHANGES = {
    "first minus last": "first_minus_last",
    "ends minus middle": "ends_minus_middle",
    "share changed by shuffling": "changed",
    "highest minus lowest of the shuffles": "spread",
}


def position_tables(report: Json) -> Iterator[TextTable]:
    """Yield position bias: one table a judge and aspect."""
    heads = ("n", "first", "second", "consistent", "one tie", "p")
    for group in report["groups"]:
        slices = [("all", group), *group["by_closeness"].items(), *group["by_systems"].items()]
        yield TextTable(
            title=f"Position bias of {group['judge']}, {group['aspect']} (percent of pairs)",
            columns=columns("pairs", *heads, numbers=heads),
            rows=tuple(
                (
                    name,
                    str(some["n_pairs"]),
                    *(percent(some[share]) for share in POSITION),
                    interval({"value": some["one_tie"]["value"]}, digits=1),
                    p_value(some["first_minus_second"]),
                )
                for name, some in slices
            ),
            notes=tuple(_position_notes(group)),
        )


def _position_notes(group: Json) -> Iterator[str]:
    yield "p: test of first = second. Intervals: 95 %, documents taken as clusters."
    left_out = {
        "without a score": group["n_unscored"],
        "in one order alone": group["n_one_order"],
        "of unknown order": group["n_unknown_order"],
        "repeated": group["n_repeated"],
    }
    if any(left_out.values()):
        yield f"Left out: {tally(left_out)}."
    if shift := group.get("shift"):
        yield (
            "Graded: standing first rather than second moves the probability of being named by "
            f"{interval(shift, digits=3)} (p {p_value(shift)})."
        )


def verbosity_tables(report: Json) -> Iterator[TextTable]:
    """Yield verbosity bias: one row a judge, aspect, protocol and probe."""
    heads = ("n", "original", "longer", "p")
    yield TextTable(
        title="Verbosity bias (percent of summaries that the judge puts first)",
        columns=columns("judge", "aspect", "protocol", "added", *heads, numbers=heads),
        rows=tuple(
            (
                *(group[name] for name in ("judge", "aspect", "protocol", "probe")),
                str(group["n"]),
                percent(group["original"]),
                percent(group["extended"]),
                p_value(group["original_minus_extended"]),
            )
            for group in report["groups"]
        ),
        notes=("p: test of original = longer. What is added is as long as the summary.",),
    )


def parse_tables(report: Json) -> Iterator[TextTable]:
    """Yield how many judgements have no score, and why."""
    from fairjudge.judges.leaderboards import weak_judge

    heads = ("judged", "unscored")
    by_default = dict.fromkeys(
        group["aspect"] for group in report["groups"] if "embedding" in group["scored_by"]
    )
    yield TextTable(
        title="Judgements with and without a score",
        columns=columns(
            "judge", "aspect", "protocol", *heads, "reasons", "scored by", numbers=heads
        ),
        rows=tuple(
            (
                *(group[name] for name in ("judge", "aspect", "protocol")),
                str(group["n_judgements"]),
                str(group["n_unscored"]),
                tally(group["unscored"]),
                tally(group["scored_by"]),
            )
            for group in report["groups"]
        ),
        notes=tuple(map(weak_judge, by_default)),
    )


def length_tables(report: Json) -> Iterator[TextTable]:
    """Yield win rates as judged, at equal length, and on matched pairs."""
    heads = ("n", "as judged", "adjusted", "matched", "n matched")
    for group in report["groups"]:
        yield TextTable(
            title=f"Win rates at equal length, {group['judge']}, {group['aspect']} (percent)",
            columns=columns("pair", *heads, numbers=heads),
            rows=tuple(
                (
                    f"{one['system_a']} beats {one['system_b']}",
                    str(one["raw"].get("n", "-")),
                    *(percent(one[how]) for how in ("raw", "adjusted", "matched")),
                    str(one["matched"].get("n", "-")),
                )
                for one in group["win_rates"]
            ),
            notes=(_length_effect(group),),
        )


def _length_effect(group: Json) -> str:
    if group["why"]:
        return f"Not adjusted: {group['why']}."
    effect = group["length_effect"]
    return (
        "Log-odds of winning for one typical difference of length: "
        f"{interval(effect)} (p {p_value(effect)})."
    )


def order_tables(report: Json) -> Iterator[TextTable]:
    """Yield ratings by the article's place, and what shuffling changes."""
    places = [(f"article {place}", interval(one), "-") for place, one in report["by_place"].items()]
    changes = [(name, interval(report[key]), p_value(report[key])) for name, key in CHANGES.items()]
    yield TextTable(
        title=f"Order of articles, {report['judge']}, faithfulness from 1 to 5",
        columns=columns("", "rating", "p", numbers=("rating", "p")),
        rows=(*places, *changes),
        notes=(f"Without a score: {report['n_unscored']}.",) if report["n_unscored"] else (),
    )


def checks_tables(report: Json, *, limit: int | None = _MAX_NAMED) -> Iterator[TextTable]:
    """Yield how often each relation held, naming where it did not, `limit` of these."""
    heads = ("n", "kept", "unscored")
    broken = [
        f"{one['name']}: {item['item']} gave {' then '.join(map(str, item['values']))}"
        for one in report["checks"]
        for item in one["broken"]
    ]
    more = len(broken) - len(broken[:limit])
    yield TextTable(
        title=f"Checks of {report['judge']}, {report['aspect']} (percent kept)",
        columns=columns("check", *heads, numbers=heads),
        rows=tuple(
            (one["name"], str(one["n"]), percent(one["kept"]), str(one["n_unscored"]))
            for one in report["checks"]
        ),
        notes=(*broken[:limit], *([f"... and {more} more (--json)"] if more else [])),
    )
