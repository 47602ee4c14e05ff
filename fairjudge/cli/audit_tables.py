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
