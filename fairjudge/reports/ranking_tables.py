"""Tables and findings of rankings; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairjudge.reports.figures import Json, by_unit, first_items, interval, significant_sign, who_in
from fairjudge.reports.findings import compared, together
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import percentage, pluralize

RANKS_ALLOWED = "ranks that the data allow, for all systems at once"


def rank_tables(report: Json) -> tuple[TextTable, ...]:
    """Return the tables of each judge and aspect, then those of several judges together."""
    return (*ranking_tables(report), *together_tables(report))


def ranking_tables(report: Json) -> Iterator[TextTable]:
    """Yield one table a judge and aspect."""
    for group in report["groups"]:
        yield table(
            f"Ranking by {group['judge']}, {group['aspect']}{by_unit(group)}",
            "rank> {shown_rank} | system: {system} | strength> {strength:interval}"
            " | expected wins> {expected} | wins> {wins}",
            group["systems"],
            notes=_notes(group),
            shown_rank=shown_rank,
            expected=lambda system: _percent(system["expected_win_rate"]),
            wins=lambda system: _percent(system["win_rate"]),
        )


def together_tables(report: Json) -> Iterator[TextTable]:
    """Yield two tables an aspect that several judges compared: systems, and judges."""
    for group in report.get("together", ()):
        of = f"{group['aspect']}{by_unit(group)}"
        yield table(
            f"Ranking by {pluralize(len(group['judges']), 'judge')} together, {of}",
            "rank> {shown_rank} | system: {system} | strength> {strength:interval}",
            group["systems"],
            notes=_of_judges(group),
            shown_rank=shown_rank,
        )
        yield table(
            f"How well each judge discriminates between systems, {of}",
            "judge: {judge} | comparisons> {n_comparisons}"
            " | discrimination> {discrimination:interval} | standing first> "
            "{position_effect:interval}",
            group["judges"],
            notes=(
                "Discrimination: the slope of a judge's log-odds in the difference of strengths; "
                "the geometric mean is 1, a judge that decides by chance has 0. Standing first: "
                "what it adds to the log-odds.",
            ),
        )


def rank_findings(report: Json) -> Iterator[str]:
    """Yield who ranks first by each judge and aspect, then by several judges together."""
    for group in report["groups"]:
        if group["why"]:
            yield f"{who_in(group)}: no ranking: {group['why']}."
            continue
        first, comparison = _leaders(group)
        if comparison and group["separated"]:
            comparison = "; by how much cannot be estimated: some system never loses"
        yield f"{first} for {who_in(group)}{comparison}."
        if side := significant_sign(group["position_effect"]):
            place = "first" if side > 0 else "second"
            yield f"Being shown {place} helps significantly; the ranking is adjusted for it."
    yield from together_findings(report)


def together_findings(report: Json) -> Iterator[str]:
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
    """Return who stands first, and how the systems below compare, "" where there are none."""
    systems: Sequence[Json] = group["systems"]
    first = [system["system"] for system in systems if system["rank"] == systems[0]["rank"]]
    below = systems[len(first) :]
    as_good = [system["system"] for system in below if system["best_rank"] in {None, 1}]
    stands = "ranks first" if len(first) == 1 else "tie for first place"
    comparison = compared(as_good, by_rank=True, n_clusters=group["n_documents"])
    return f"{together(first)} {stands}", f"; {comparison}" if below else ""


def _of_judges(group: Json) -> Iterator[str]:
    if group["why"] is not None:
        yield f"No ranking: {group['why']}."
        return
    yield (
        f"{pluralize(group['n_comparisons'], 'comparison')} in "
        f"{pluralize(group['n_documents'], 'document')}, by a Bradley-Terry model in which a judge "
        "that discriminates better between systems counts for more. Strengths are log-odds of a "
        f"judge of mean discrimination, and add up to 0. In brackets after the rank: "
        f"{RANKS_ALLOWED}."
    )
    if group["separated"]:
        yield "Some systems never lose to the others: there are no intervals."


def _percent(figure: Json) -> str:
    """Return ``69 % (61-78)``, short enough for a narrow terminal."""
    if figure.get("value") is None:
        return "-"
    if figure.get("low") is None:
        return percentage(figure["value"])
    return f"{percentage(figure['value'])} ({100 * figure['low']:.0f}-{100 * figure['high']:.0f})"


def shown_rank(row: Json) -> str:
    """Return a rank and, in brackets, those that the data allow: ``2 (1-4)``."""
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
            "are log-worths and add up to 0; the expected wins are against every other system "
            "equally often, the wins are the share of the others that stood lower. In brackets "
            f"after the rank: {RANKS_ALLOWED}."
        )
    else:
        yield from _of_pairs(group)
    if group["separated"]:
        yield (
            "Some systems never lose to the others: how far above cannot be estimated, and "
            "there are no intervals."
        )
    if group["n_unscored"]:
        yield f"Excluded: {group['n_unscored']} without a score."


def _of_pairs(group: Json) -> Iterator[str]:
    position, ties = group["position_effect"], group["tie_weight"]
    yield (
        f"{pluralize(group['n_comparisons'], 'comparison')} ({pluralize(group['n_ties'], 'tie')}) "
        f"in {pluralize(group['n_documents'], 'document')}. Strengths are log-odds and add up to "
        "0; the expected wins are against every other system equally often, the wins against those "
        "it met, ties half. "
        f"In brackets after the rank: {RANKS_ALLOWED}."
    )
    if position.get("value") is not None:
        yield f"Being shown first adds {interval(position)} to the log-odds of winning."
    else:
        yield f"Effect of position: none, {position['why']}."
    if ties.get("value") is not None:
        yield f"Log-weight of a tie: {interval(ties)}."
