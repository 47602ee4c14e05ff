"""The audits' tables; no arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairjudge.reports.tables import TextTable, columns, number, print_table

Json = Mapping[str, Any]


def interval(figure: Json | None, *, digits: int = 1) -> str:
    """Return ``value [low, high]``, or a dash."""
    if figure is None or figure.get("value") is None:
        return "-"
    if figure.get("low") is None or figure.get("high") is None:
        return number(figure["value"], digits=digits)
    low, high = (number(figure[end], digits=digits) for end in ("low", "high"))
    return f"{number(figure['value'], digits=digits)} [{low}, {high}]"


def p_value(figure: Json | None) -> str:
    """Return a test's p-value, or a dash."""
    p = None if figure is None else figure.get("p_value")
    if p is None:
        return "-"
    return "< 0.001" if p < 0.001 else number(p, digits=3)


def percent(figure: Json) -> str:
    """Return ``22.0 (19-26)``: percent with its interval, short enough for a narrow terminal."""
    if figure.get("value") is None or figure.get("low") is None:
        return interval(figure)
    return f"{figure['value']:.1f} ({figure['low']:.0f}-{figure['high']:.0f})"


_SHARES = ("first", "second", "consistency")


def show_position(report: Json) -> None:
    """Show position bias: one table a judge and aspect."""
    for group in report["groups"]:
        slices = [("all", group)]
        slices += [(name, some) for name, some in group["by_closeness"].items()]
        slices += [(name, some) for name, some in group["by_systems"].items()]
        rows = tuple(
            (
                name,
                str(some["n_pairs"]),
                *(percent(some[share]) for share in _SHARES),
                number(some["one_tie"].get("value"), digits=1),
                p_value(some["first_minus_second"]),
            )
            for name, some in slices
        )
        print_table(
            TextTable(
                title=f"Position bias of {group['judge']}, {group['aspect']} (percent of pairs)",
                columns=columns(
                    "pairs", "n", "first", "second", "consistent", "one tie", "p",
                    numbers=("n", "first", "second", "consistent", "one tie", "p"),
                ),
                rows=rows,
                notes=_position_notes(group),
            )
        )  # fmt: skip


def _position_notes(group: Json) -> tuple[str, ...]:
    notes = ["p: test of first = second. Intervals: 95 %, documents taken as clusters."]
    counts = {
        "without a score": group["n_unscored"],
        "in one order alone": group["n_one_order"],
        "of unknown order": group["n_unknown_order"],
        "repeated": group["n_repeated"],
    }
    left_out = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
    if left_out:
        notes.append(f"Left out: {left_out}.")
    if group.get("shift"):
        notes.append(
            "Graded: standing first rather than second moves the probability of being named by "
            f"{interval(group['shift'], digits=3)} (p {p_value(group['shift'])})."
        )
    return tuple(notes)


def show_verbosity(report: Json) -> None:
    """Show verbosity bias: one row a judge, aspect, protocol and probe."""
    rows = tuple(
        (
            group["judge"],
            group["aspect"],
            group["protocol"],
            group["probe"],
            str(group["n"]),
            percent(group["original"]),
            percent(group["extended"]),
            p_value(group["original_minus_extended"]),
        )
        for group in report["groups"]
    )
    print_table(
        TextTable(
            title="Verbosity bias (percent of summaries that the judge puts first)",
            columns=columns(
                "judge", "aspect", "protocol", "added", "n", "original", "longer", "p",
                numbers=("n", "original", "longer", "p"),
            ),
            rows=rows,
            notes=("p: test of original = longer. What is added is as long as the summary.",),
        )
    )  # fmt: skip


def show_parse(report: Json) -> None:
    """Show how many judgements have no score, and why."""
    rows = tuple(
        (
            group["judge"],
            group["aspect"],
            group["protocol"],
            str(group["n_judgements"]),
            str(group["n_unscored"]),
            ", ".join(f"{n} {why}" for why, n in group["unscored"].items()),
            ", ".join(f"{n} {who}" for who, n in group["scored_by"].items()),
        )
        for group in report["groups"]
    )
    print_table(
        TextTable(
            title="Judgements with and without a score",
            columns=columns(
                "judge", "aspect", "protocol", "judged", "unscored", "reasons", "scored by",
                numbers=("judged", "unscored"),
            ),
            rows=rows,
        )
    )  # fmt: skip


def show_covered(report: Json) -> None:
    """Show who is covered: one table a judge, and what is left out."""
    for group in report["groups"]:
        rows = tuple(
            (by, name, str(one.get("n", "-")), interval(one, digits=2))
            for by, some in group["slices"].items()
            for name, one in some.items()
        )
        uncovered = [
            f"{one['system']} on {one['eid']} leaves out: {one['question']} {one['answer']} "
            f"({', '.join(one['outlets'])})"
            for one in group["uncovered"][:_MOST_NAMED]
        ]
        more = len(group["uncovered"]) - len(uncovered)
        outlets = [
            f"{one['system']} on {one['eid']} has nothing of: {', '.join(one['outlets'])}"
            for one in group["left_out"][:_MOST_NAMED]
        ]
        print_table(
            TextTable(
                title=f"Who is covered, by {group['judge']} (0 to 1)",
                columns=columns("by", "slice", "n", "mean", numbers=("n", "mean")),
                rows=rows,
                notes=(
                    *uncovered,
                    *([f"... and {more} more answers (see --json)"] if more > 0 else []),
                    *outlets,
                ),
            )
        )


_MOST_NAMED = 12


def show_length(report: Json) -> None:
    """Show win rates as judged, at equal length, and on matched pairs."""
    for group in report["groups"]:
        notes = [f"Not adjusted: {group['why']}."] if group["why"] else []
        if not group["why"]:
            effect = group["length_effect"]
            notes.append(
                "Log-odds of winning for one typical difference of length: "
                f"{interval(effect, digits=2)} (p {p_value(effect)})."
            )
        rows = tuple(
            (
                f"{one['system_a']} beats {one['system_b']}",
                str(one["raw"].get("n", "-")),
                percent(one["raw"]),
                percent(one["adjusted"]),
                percent(one["matched"]),
                str(one["matched"].get("n", "-")),
            )
            for one in group["win_rates"]
        )
        print_table(
            TextTable(
                title=f"Win rates at equal length, {group['judge']}, {group['aspect']} (percent)",
                columns=columns(
                    "pair", "n", "as judged", "adjusted", "matched", "n matched",
                    numbers=("n", "as judged", "adjusted", "matched", "n matched"),
                ),
                rows=rows,
                notes=tuple(notes),
            )
        )  # fmt: skip


def show_order(report: Json) -> None:
    """Show ratings by the article's place, and what shuffling changes."""
    rows = [
        (f"article {place}", interval(one, digits=2), "-")
        for place, one in report["by_place"].items()
    ]
    rows += [
        (name, interval(report[key], digits=2), p_value(report[key]))
        for name, key in (
            ("first minus last", "first_minus_last"),
            ("ends minus middle", "ends_minus_middle"),
            ("share changed by shuffling", "changed"),
            ("highest minus lowest of the shuffles", "spread"),
        )
    ]
    print_table(
        TextTable(
            title=f"Order of articles, {report['judge']}, faithfulness from 1 to 5",
            columns=columns("", "rating", "p", numbers=("rating", "p")),
            rows=tuple(rows),
            notes=(f"Without a score: {report['n_unscored']}.",) if report["n_unscored"] else (),
        )
    )


def show_checks(report: Json) -> None:
    """Show how often each relation held, and name where it did not."""
    notes = [
        f"{one['name']}: {broken['item']} gave {' then '.join(map(str, broken['values']))}"
        for one in report["checks"]
        for broken in one["broken"]
    ]
    more = len(notes) - _MOST_NAMED
    rows = tuple(
        (one["name"], str(one["n"]), percent(one["kept"]), str(one["n_unscored"]))
        for one in report["checks"]
    )
    print_table(
        TextTable(
            title=f"Checks of {report['judge']}, {report['aspect']} (percent kept)",
            columns=columns("check", "n", "kept", "unscored", numbers=("n", "kept", "unscored")),
            rows=rows,
            notes=(*notes[:_MOST_NAMED], *([f"... and {more} more (--json)"] if more > 0 else [])),
        )
    )
