"""Tables and findings of rankings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairjudge.reports.figures import (
    Json,
    first_items,
    interval,
    judge_and_aspect,
    significant_sign,
    unit_suffix,
)
from fairjudge.reports.findings import comparison_clause, join_names
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import percentage, pluralize

POSSIBLE_RANKS = "ranks compatible with the data, simultaneously for all systems"


def rank_tables(report: Json) -> tuple[TextTable, ...]:
    """Return the tables of each judge and aspect, then the joint tables of several judges."""
    return (*ranking_tables(report), *joint_tables(report))


def ranking_tables(report: Json) -> Iterator[TextTable]:
    """Yield one table per judge and aspect."""
    for group in report["groups"]:
        yield table(
            f"Ranking by {group['judge']}, {group['aspect']}{unit_suffix(group)}",
            "rank> {shown_rank} | system: {system} | strength> {strength:interval}"
            " | expected wins> {expected} | wins> {wins}",
            group["systems"],
            notes=_notes(group),
            shown_rank=rank_in_words,
            expected=lambda system: _percent(system["expected_win_rate"]),
            wins=lambda system: _percent(system["win_rate"]),
        )


def joint_tables(report: Json) -> Iterator[TextTable]:
    """Yield two tables per aspect with several judges: of systems and of judges."""
    for group in report.get("together", ()):
        group_name = f"{group['aspect']}{unit_suffix(group)}"
        yield table(
            f"Ranking by {pluralize(len(group['judges']), 'judge')} together, {group_name}",
            "rank> {shown_rank} | system: {system} | strength> {strength:interval}",
            group["systems"],
            notes=_joint_notes(group),
            shown_rank=rank_in_words,
        )
        yield table(
            f"How well each judge discriminates between systems, {group_name}",
            "judge: {judge} | comparisons> {n_comparisons}"
            " | discrimination> {discrimination:interval} | shown first> "
            "{position_effect:interval}",
            group["judges"],
            notes=(
                "Discrimination: the slope of a judge's log-odds in the difference of strengths; "
                "the geometric mean is 1, and 0 is a random judge. Shown first: its effect on the "
                "log-odds.",
            ),
        )


def rank_findings(report: Json) -> Iterator[str]:
    """Yield the first system by each judge and aspect, then by several judges jointly."""
    for group in report["groups"]:
        if group["why"]:
            yield f"{judge_and_aspect(group)}: no ranking: {group['why']}."
            continue
        first, comparison = _leaders(group)
        if comparison and group["separated"]:
            comparison = "; the differences cannot be estimated: some system never loses"
        yield f"{first} for {judge_and_aspect(group)}{comparison}."
        if side := significant_sign(group["position_effect"]):
            place = "first" if side > 0 else "second"
            yield f"Being shown {place} helps significantly; the ranking is adjusted for it."
    yield from joint_findings(report)


def joint_findings(report: Json) -> Iterator[str]:
    """Yield the first system by all judges jointly, and judges with low discrimination."""
    for group in report.get("together", ()):
        if group["why"] or not group["systems"]:
            continue
        first, comparison = _leaders(group)
        judges = pluralize(len(group["judges"]), "judge")
        yield f"By {judges} together {first} in {group['aspect']}{comparison}."
        weak = [
            judge["judge"]
            for judge in group["judges"]
            if (judge["discrimination"]["high"] or 1.0) < 1.0
        ]
        if weak:
            yield f"Discriminate less between systems than average: {first_items(weak)}."


def _leaders(group: Json) -> tuple[str, str]:
    """Return a clause on the leading systems, and one on those below ("" without any)."""
    systems: Sequence[Json] = group["systems"]
    leaders = [system["system"] for system in systems if system["rank"] == systems[0]["rank"]]
    lower_systems = systems[len(leaders) :]
    rivals = [system["system"] for system in lower_systems if system["best_rank"] in {None, 1}]
    predicate = "ranks first" if len(leaders) == 1 else "tie for first place"
    comparison = comparison_clause(rivals, by_rank=True, n_clusters=group["n_documents"])
    return f"{join_names(leaders)} {predicate}", f"; {comparison}" if lower_systems else ""


def _joint_notes(group: Json) -> Iterator[str]:
    if group["why"] is not None:
        yield f"No ranking: {group['why']}."
        return
    yield (
        f"{pluralize(group['n_comparisons'], 'comparison')} in "
        f"{pluralize(group['n_documents'], 'document')}, by a Bradley-Terry model in which a judge "
        "that discriminates better between systems has more weight. Strengths are log-odds of a "
        f"judge of mean discrimination, and sum to 0. In brackets after the rank: "
        f"{POSSIBLE_RANKS}."
    )
    if group["separated"]:
        yield "Some systems never lose to the others: no intervals can be estimated."


def _percent(figure: Json) -> str:
    """Return ``69 % (61-78)``, short enough for a narrow terminal."""
    if figure.get("value") is None:
        return "-"
    if figure.get("low") is None:
        return percentage(figure["value"])
    return f"{percentage(figure['value'])} ({100 * figure['low']:.0f}-{100 * figure['high']:.0f})"


def rank_in_words(row: Json) -> str:
    """Return a rank and, in brackets, the possible ranks: ``2 (1-4)``."""
    best, worst = row["best_rank"], row["worst_rank"]
    if best is None:
        return str(row["rank"])
    return f"{row['rank']} ({best})" if best == worst else f"{row['rank']} ({best}-{worst})"


def _notes(group: Json) -> Iterator[str]:
    if group["why"] is not None:
        yield f"No ranking: {group['why']}."
        return
    if "n_rankings" in group:
        yield (
            f"{pluralize(group['n_rankings'], 'ranking')} in "
            f"{pluralize(group['n_documents'], 'document')}, by the Plackett-Luce model. Strengths "
            "are log-worths and sum to 0; expected wins: against every other system equally often; "
            "wins: the share of the others that ranked lower. In brackets "
            f"after the rank: {POSSIBLE_RANKS}."
        )
    else:
        yield from _pair_notes(group)
    if group["separated"]:
        yield (
            "Some systems never lose to the others: their strengths and intervals cannot be "
            "estimated."
        )
    if group["n_unscored"]:
        yield f"Excluded: {group['n_unscored']} without a score."


def _pair_notes(group: Json) -> Iterator[str]:
    position, ties = group["position_effect"], group["tie_weight"]
    yield (
        f"{pluralize(group['n_comparisons'], 'comparison')} ({pluralize(group['n_ties'], 'tie')}) "
        f"in {pluralize(group['n_documents'], 'document')}. Strengths are log-odds and sum to 0; "
        "expected wins: against every other system equally often; wins: against actual opponents, "
        "ties count half. "
        f"In brackets after the rank: {POSSIBLE_RANKS}."
    )
    if position.get("value") is not None:
        yield f"Being shown first adds {interval(position)} to the log-odds of winning."
    else:
        yield f"Effect of position: none, {position['why']}."
    if ties.get("value") is not None:
        yield f"Log-weight of a tie: {interval(ties)}."
