"""Tables of rankings; no arithmetic."""

from __future__ import annotations

from fairjudge.reports.figures import Json, interval
from fairjudge.reports.tables import TextTable, columns
from fairjudge.text.printable import counted


def ranking_tables(report: Json) -> tuple[TextTable, ...]:
    """Return one table a judge and aspect."""
    return tuple(_table(group) for group in report["groups"])


def _table(group: Json) -> TextTable:
    rows = tuple(
        (
            _rank(one),
            one["system"],
            interval(one["strength"]),
            _percent(one["expected_win_rate"]),
            _percent(one["win_rate"]),
        )
        for one in group["systems"]
    )
    return TextTable(
        title=f"Ranking by {group['judge']}, {group['aspect']}",
        columns=columns(
            "rank", "system", "strength", "expected wins", "wins",
            numbers=("rank", "strength", "expected wins", "wins"),
        ),
        rows=rows,
        notes=_notes(group),
    )  # fmt: skip


def _percent(figure: Json) -> str:
    """Return ``69% (61%-78%)``, short enough for a narrow terminal."""
    if figure.get("value") is None:
        return "-"
    if figure.get("low") is None:
        return f"{figure['value']:.0%}"
    return f"{figure['value']:.0%} ({figure['low']:.0%}-{figure['high']:.0%})"


def _rank(one: Json) -> str:
    best, worst = one["best_rank"], one["worst_rank"]
    if best is None:
        return str(one["rank"])
    return f"{one['rank']} ({best})" if best == worst else f"{one['rank']} ({best}-{worst})"


def _notes(group: Json) -> tuple[str, ...]:
    if group["why"] is not None:
        return (f"No ranking: {group['why']}.",)
    position, ties = group["position_effect"], group["tie_weight"]
    notes = [
        f"{counted(group['n_comparisons'], 'comparison')} ({counted(group['n_ties'], 'tie')}) in "
        f"{counted(group['n_documents'], 'document')}. Strengths are log-odds and add up to 0; the "
        "expected wins are against every other system equally often, the wins against those it "
        "met, ties half. In brackets after the rank: ranks that the data allow, for all systems "
        "at once.",
    ]
    if position.get("value") is not None:
        notes.append(f"Standing first adds {interval(position)} to the log-odds of winning.")
    else:
        notes.append(f"Effect of position: none, {position['why']}.")
    if ties.get("value") is not None:
        notes.append(f"Log-weight of a tie: {interval(ties)}.")
    if group["separated"]:
        notes.append(
            "Some systems never lose to the others: how far above cannot be told, and "
            "there are no intervals."
        )
    if group["n_unscored"]:
        notes.append(f"Left out: {group['n_unscored']} without a score.")
    return tuple(notes)
