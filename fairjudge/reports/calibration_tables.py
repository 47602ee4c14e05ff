"""Tables of a calibration report, made of the JSON that ``calibrate --json`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.audit_tables import POSITION
from fairjudge.reports.decision_tables import annotator_tables, group_title, verdict
from fairjudge.reports.figures import Json, interval, p_value, percent, tally, why, why_no_interval
from fairjudge.reports.protocol_tables import protocol_tables
from fairjudge.reports.row_tables import side_by_side, table
from fairjudge.reports.tables import Column, TextTable
from fairjudge.text.counting import percentage, pluralize

_STATISTICS = ("kendall", "spearman", "pearson")
HUMAN = "human-human"
"""The row of annotators' own agreement: each against the mean of the others."""
HUMAN_NOTE = "Human-human: agreement of each annotator with the mean of the others."
LEVELS = {
    "pooled": "pooled",
    "per_document": "per document",
    "summary": "over summaries, means of their parts",
    "system": "systems",
}
PLANS = {"with_judge": "labels and judge (PPI++)", "without_judge": "labels alone"}
_FLAGS = {"flagged": "flagged", "few_documents": "few documents"}
_ERRORS = {"rmse": "RMSE", "mae": "MAE", "bias": "bias", "brier": "Brier", "ece": "ECE"}


def calibration_tables(report: Json) -> tuple[TextTable, ...]:
    """Return the summary, the tables of every group, the comparison of judges."""
    tables: list[TextTable] = [findings_table(report["groups"])] if report["groups"] else []
    tables += protocol_tables(report)
    for group in report["groups"]:
        tables += [
            *annotator_tables(group, group_title(group)),
            *agreement_tables(group),
            *gains_tables(group),
            errors_table(group),
        ]
    if report["comparisons"]:
        tables.append(comparison_table(report["comparisons"]))
    return tuple(tables)


def spearman(agreement: Json, level: str) -> Json:
    """Return Spearman's correlation at `level`, or {} if it is missing."""
    correlation: Json = agreement.get(level, {}).get("spearman", {})
    return correlation


def best_baseline(group: Json) -> tuple[str, float | None]:
    """Return the name and pooled Spearman of the best baseline; no name where none is known."""
    rhos = {
        name: value
        for name, baseline in group["baselines"].items()
        if (value := spearman(baseline, "pooled").get("value")) is not None
    }
    best = max(rhos, key=lambda name: rhos[name], default=None)
    return ("", None) if best is None else (baseline_name(best), rhos[best])


def baseline_name(name: str) -> str:
    """Return a baseline's name as people read it."""
    return name.replace("_", " ")


def findings_table(groups: Sequence[Json]) -> TextTable:
    """Return the summary of every judge."""
    return table(
        "Summary",
        "judge, aspect, protocol: {title} | finding: {finding}",
        groups,
        title=group_title,
        finding=_finding,
    )


def _finding(group: Json) -> str:
    figures = {"judge": group["agreement"], HUMAN: group["human"]}
    sentences = [
        f"{rater} {interval(rho)}"
        for rater, figure in figures.items()
        if (rho := spearman(figure, "pooled")).get("value") is not None
    ]
    name, best = best_baseline(group)
    if best is not None:
        sentences.append(f"best baseline, {name}, {best:.2f}")
    return f"{verdict(group)}." + (f" Spearman: {'; '.join(sentences)}." if sentences else "")


def sources(group: Json) -> dict[str, Json]:
    """Return everybody's agreement with people: the judge's, people's own, the baselines'."""
    return {"judge": group["agreement"], HUMAN: group["human"], **group["baselines"]}


_UNITS = {
    "pooled": ("item",),
    "per_document": ("document",),
    "summary": ("summary", "summaries"),
    "system": ("system",),
}
"""What is counted at each level, in the singular and where it is irregular in the plural."""


def _units(group: Json, level: str) -> str:
    """Return the number of units of the judge's agreement at `level`, or "" without a value."""
    n = spearman(group["agreement"], level).get("n")
    return "" if n is None else f", {pluralize(n, *_UNITS[level])}"


def agreement_tables(group: Json) -> Iterator[TextTable]:
    """Yield one table a level; the last has the notes.

    Where whole summaries were judged, the level of summaries is that of items.
    """
    unscored = group["counts"]["unscored"]
    reasons = f"Unscored: {tally(unscored)}." if unscored else ""
    notes = (HUMAN_NOTE, *_reasons(group), reasons, *group["notes"])
    for level, label in levels_of(group).items():
        yield table(
            f"{group_title(group)}: agreement with people, {label}{_units(group, level)}",
            "who: {who} | kendall> {kendall:interval} | spearman> {spearman:interval}"
            " | pearson> {pearson:interval}",
            [
                {**source[level], "who": baseline_name(name)}
                for name, source in sources(group).items()
                if level in source
            ],
            notes=notes if level == "system" else (),
        )


def gains_tables(group: Json) -> Iterator[TextTable]:
    """Yield the table of a judge's gains over baselines, if any gain is known."""
    over = group.get("over_baselines", {})
    columns = ("against", "measure", "judge", "without", "added")
    gains = _gains(group, over) if "best" in over else ()
    if rows := [dict(zip(columns, gain, strict=True)) for gain in gains]:
        yield table(
            f"{group_title(group)}: the judge against baselines that need no LLM",
            "against: {against} | measure: {measure} | judge> {judge:interval}"
            " | baseline> {without:interval} | difference> {added:interval}",
            rows,
            notes=(
                "Differences are over the same resampled documents. The constant answer is "
                "people's most frequent one; balanced accuracy is the mean recall over answers "
                "given ten times or more.",
            ),
        )


def _gains(group: Json, over: Json) -> Iterator[tuple[str | Json, ...]]:
    if over["gain"].get("value") is not None:
        best = spearman(group["baselines"][over["best"]], "pooled")
        judge = spearman(group["agreement"], "pooled")
        measure = "Spearman, pooled"
        yield baseline_name(over["best"]), measure, judge, best, over["gain"]
    constant = over["constant"]
    if not why(constant):
        answer, agrees = f"always {constant['answer']:g}", constant["constant_agreement"]
        yield answer, "agreement", constant["agreement"], agrees, constant["added"]
        by_chance = {"value": 1.0 / n} if (n := constant["n_answers"]) else {}
        balanced = constant["balanced_accuracy"], by_chance, constant["added_balanced"]
        yield answer, "balanced accuracy", *balanced


def levels_of(group: Json) -> dict[str, str]:
    """Return the levels that are worth a table: of whole summaries, items are summaries."""
    levels = dict(LEVELS)
    agreement = group["agreement"]
    of_parts = [
        agreement.get(level, {}).get("kendall", {}).get("n") for level in ("pooled", "summary")
    ]
    if why(agreement) or "summary" not in agreement or of_parts[0] == of_parts[1]:
        del levels["summary"]
    return levels


def errors_table(group: Json) -> TextTable:
    """Return the errors before and after calibration."""
    calibration = group["calibration"]
    held_out, reason = f"{calibration['method']}, held-out", calibration["calibrator"].get("why")
    return side_by_side(
        f"{group_title(group)}: error against human labels, in units of "
        f"{'differences of labels' if PROTOCOLS[group['protocol']].paired else 'the labels'}",
        "error",
        _ERRORS,
        {"as judged": calibration["before"], held_out: calibration["after"]},
        notes=(
            f"No calibrator for items without a label: {reason}." if reason else "",
            replaceability_note(group),
            *_unfair(group),
        ),
    )


def comparison_table(rows: Sequence[Json]) -> TextTable:
    """Return the differences between judges."""
    return table(
        "Which judge agrees better: difference of pooled Spearman on common items",
        "aspect: {aspect} | first: {first} | second: {second} | difference: {difference:interval}"
        " | p (Holm): {p}",
        rows,
        p=lambda row: p_value(row["adjusted_p_value"], row["difference"]),
    )


def overview_table(groups: Sequence[Json]) -> TextTable:
    """Return agreement and errors of every judge in a row."""
    return table(
        "Spearman's correlation with people, pooled, and errors in units of the labels",
        "judge, aspect, protocol: {title} | finding: {verdict} | judge> {judge:interval}"
        " | human-human> {people:interval} | best baseline> {baseline}"
        " | RMSE as judged> {before:interval} | RMSE held-out> {after:interval}",
        groups,
        notes=(
            "Errors of pairs are distances between differences, and stand in their own tables."
            if any(PROTOCOLS[group["protocol"]].paired for group in groups)
            else "",
        ),
        title=group_title,
        verdict=verdict,
        judge=lambda group: spearman(group["agreement"], "pooled"),
        people=lambda group: spearman(group["human"], "pooled"),
        baseline=_best_baseline_in_words,
        before=lambda group: _rmse(group, "before"),
        after=lambda group: _rmse(group, "after"),
    )


def _best_baseline_in_words(group: Json) -> str:
    name, best = best_baseline(group)
    return "-" if best is None else f"{name} {best:.2f}"


def _rmse(group: Json, when: str) -> Json | None:
    """Return the error before or after calibration; None for pairs, whose units differ."""
    paired = PROTOCOLS[group["protocol"]].paired
    return None if paired else group["calibration"][when].get("rmse")


def reliability_stages(calibration: Json) -> dict[str, Sequence[Json]]:
    """Return the bins before and after calibration, by the name of the stage."""
    return {
        "as judged": calibration["reliability_before"],
        f"{calibration['method']}, held-out": calibration["reliability_after"],
    }


def reliability_table(calibration: Json) -> TextTable:
    """Return the mean human label by judge's score."""
    return table(
        "Reliability: mean human label by judge's score",
        "stage: {stage} | judge's score> {mean_score:number} | items> {n}"
        " | people's mean> {mean_label:interval}",
        [
            {**bin_of_scores, "stage": stage}
            for stage, bins in reliability_stages(calibration).items()
            for bin_of_scores in bins
        ],
    )


def group_errors_table(name: str, groups: Sequence[Json]) -> TextTable:
    """Return the judge's error in each group of one grouping."""
    table_of_groups = table(
        f"Error by {name}",
        "group: {group} | items> {n} | documents> {n_documents} | mean error> {error:interval}"
        " | error minus rest> {error_gap:interval} | adjusted p> {adjusted_p_values[error_gap]:p}"
        " | flag: {flag}",
        groups,
        notes=(
            "A group is flagged for its mean error or for the size of its errors; adjusted p is "
            "that of the mean error.",
        ),
        flag=lambda group: ", ".join(word for mark, word in _FLAGS.items() if group[mark]),
    )
    return replace(table_of_groups, columns=(Column(heading=name), *table_of_groups.columns[1:]))


def position_table(audit: Json, title: str) -> TextTable:
    """Return the position audit of one judge and aspect."""
    return side_by_side(title, "verdicts", POSITION, {"percent": audit}, show=percent)


def planning_table(curve: Sequence[Json]) -> TextTable:
    """Return the half-width of a system's mean for each number of labels."""
    return table(
        "How many labels you need: half-width of the interval of a system's mean",
        f"labels> {{n_labels}} | {PLANS['with_judge']}> {{with_judge:number.3}}"
        f" | {PLANS['without_judge']}> {{without_judge:number.3}}",
        curve,
    )


def separations_table(planning: Json) -> TextTable:
    """Return the numbers of labels needed to distinguish pairs of systems."""

    def needed(plan: str, separation: Json) -> str:
        if why(separation):
            return "-"
        n = separation[plan]
        return f"more than {planning['n_judged']}" if n is None else str(n)

    return table(
        "Labelled documents needed to tell two systems apart, were the difference true",
        "systems: {system_a} and {system_b} | difference> {difference:number}"
        " | with judge> {with_judge} | labels alone> {without_judge}",
        planning["to_separate"],
        with_judge=partial(needed, "with_judge"),
        without_judge=partial(needed, "without_judge"),
    )


def _reasons(group: Json) -> list[str]:
    sentences = []
    for part, name in (("agreement", "Judge"), ("human", "People")):
        agreement = group[part]
        if why(agreement):
            sentences.append(f"{name}: {why(agreement)}.")
            continue
        reasons = {
            why(figure) or why_no_interval(figure): label
            for level, label in levels_of(group).items()
            for statistic in _STATISTICS
            for figure in (agreement[level][statistic],)
        }
        sentences += [f"{name}, {label}: {reason}." for reason, label in reasons.items() if reason]
    return sentences


_TEST_OUTCOMES = {"yes": "passed", "no": "not passed"}


def replaceability_note(group: Json) -> str:
    """Say what the alternative annotator test says, in step with the decision that follows."""
    results = group["replaceability"]
    if why(results):
        return f"Alternative-annotator test: not run; {why(results)}."
    decisions = {decision["question"]: decision for decision in group.get("decisions", ())}
    by_test = {"answer": "yes" if results["passes"] else "no", "reason": ""}
    decided = decisions.get("replace_annotator", by_test)
    outcome = _TEST_OUTCOMES.get(decided["answer"], decided["answer"])
    reason = f"; {decided['reason']}" if decided["reason"] else ""
    return (
        f"Alternative-annotator test: {outcome} (beats "
        f"{percentage(results['winning_rate'])} of annotators, "
        f"needs 50 %; advantage probability {results['advantage_probability']:.2f}, margin "
        f"{results['epsilon']:g}{reason})."
    )


_GAPS = {
    "error_gap": "Judge bias differs by {}: mean error",
    "absolute_error_gap": "The size of the judge's errors differs by {}: mean absolute error",
}


def _unfair(group: Json) -> Iterator[str]:
    """Name the groups whose error, or size of errors, differs significantly from the rest's."""
    for name, groups in group["fairness"]["groups"].items():
        for gap, title in _GAPS.items():
            named_groups = [
                f"{of_group['group']} {interval(of_group[gap])}"
                + (" (few documents)" if of_group["few_documents"] else "")
                for of_group in groups
                if _is_significant(of_group, gap)
            ]
            if named_groups:
                yield (
                    f"{title.format(name)} minus that of the rest, {', '.join(named_groups)} "
                    "(FDR 5 %)."
                )


def _is_significant(of_group: Json, gap: str) -> bool:
    """Whether a difference is: by its corrected p-value, and its interval excludes 0."""
    p, difference = of_group["adjusted_p_values"][gap], of_group[gap]
    return (
        p is not None
        and difference["low"] is not None
        and p < 1.0 - difference["level"]
        and not difference["low"] <= 0.0 <= difference["high"]
    )
