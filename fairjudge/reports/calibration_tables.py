"""Tables of a calibration report, from the JSON of ``calibrate --json``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.audit_tables import POSITION
from fairjudge.reports.decision_tables import annotator_tables, group_title, verdict
from fairjudge.reports.figures import (
    Json,
    interval,
    no_interval_reason,
    p_value,
    percent,
    tally,
    undefined_reason,
)
from fairjudge.reports.protocol_tables import protocol_tables
from fairjudge.reports.row_tables import side_by_side, table
from fairjudge.reports.tables import Column, TextTable
from fairjudge.text.counting import percentage, pluralize

_STATISTICS = ("kendall", "spearman", "pearson")
HUMAN = "human-human"
"""Name of the row of human-human agreement: each annotator against the mean of the others."""
HUMAN_NOTE = "Human-human: agreement of each annotator with the mean of the others."
LEVELS = {
    "pooled": "pooled",
    "per_document": "per document",
    "summary": "summaries (means of their parts)",
    "system": "systems",
}
PLANS = {"with_judge": "labels and judge (PPI++)", "without_judge": "labels alone"}
_FLAGS = {"flagged": "flagged", "few_documents": "few documents"}
_ERRORS = {"rmse": "RMSE", "mae": "MAE", "bias": "bias", "brier": "Brier", "ece": "ECE"}


def calibration_tables(report: Json) -> tuple[TextTable, ...]:
    """Return the summary, the tables of every group, and the comparison of judges."""
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
    """Return the name and pooled Spearman of the best baseline; ``("", None)`` without one."""
    rhos = {
        name: value
        for name, baseline in group["baselines"].items()
        if (value := spearman(baseline, "pooled").get("value")) is not None
    }
    best = max(rhos, key=lambda name: rhos[name], default=None)
    return ("", None) if best is None else (baseline_name(best), rhos[best])


def baseline_name(name: str) -> str:
    """Return the display name of a baseline."""
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
    agreements = {"judge": group["agreement"], HUMAN: group["human"]}
    sentences = [
        f"{rater} {interval(rho)}"
        for rater, agreement in agreements.items()
        if (rho := spearman(agreement, "pooled")).get("value") is not None
    ]
    name, best = best_baseline(group)
    if best is not None:
        sentences.append(f"best baseline, {name}, {best:.2f}")
    return f"{verdict(group)}." + (f" Spearman: {'; '.join(sentences)}." if sentences else "")


def sources(group: Json) -> dict[str, Json]:
    """Return the agreement with human labels of the judge, of annotators and of baselines."""
    return {"judge": group["agreement"], HUMAN: group["human"], **group["baselines"]}


_UNITS = {
    "pooled": ("item",),
    "per_document": ("document",),
    "summary": ("summary", "summaries"),
    "system": ("system",),
}
"""Noun of the unit at each level, with its plural if irregular."""


def _units(group: Json, level: str) -> str:
    """Return the number of units of the judge's agreement at `level`, or "" without a value."""
    n = spearman(group["agreement"], level).get("n")
    return "" if n is None else f", {pluralize(n, *_UNITS[level])}"


def agreement_tables(group: Json) -> Iterator[TextTable]:
    """Yield one table per level; the last has the notes."""
    unscored_counts = group["counts"]["unscored"]
    reasons = f"Unscored: {tally(unscored_counts)}." if unscored_counts else ""
    notes = (HUMAN_NOTE, *_reasons(group), reasons, *group["notes"])
    for level, label in distinct_levels(group).items():
        yield table(
            f"{group_title(group)}: agreement with human labels, {label}{_units(group, level)}",
            "source: {who} | kendall> {kendall:interval} | spearman> {spearman:interval}"
            " | pearson> {pearson:interval}",
            [
                {**source[level], "who": baseline_name(name)}
                for name, source in sources(group).items()
                if level in source
            ],
            notes=notes if level == "system" else (),
        )


def gains_tables(group: Json) -> Iterator[TextTable]:
    """Yield the table of a judge's gains over baselines, if any was estimated."""
    comparisons = group.get("over_baselines", {})
    columns = ("against", "measure", "judge", "without", "added")
    gains = _gains(group, comparisons) if "best" in comparisons else ()
    if rows := [dict(zip(columns, gain, strict=True)) for gain in gains]:
        yield table(
            f"{group_title(group)}: the judge against baselines without an LLM",
            "against: {against} | measure: {measure} | judge> {judge:interval}"
            " | baseline> {without:interval} | difference> {added:interval}",
            rows,
            notes=(
                "Differences are over the same resampled documents. The constant answer is the "
                "most frequent human answer; balanced accuracy is the mean recall over answers "
                "with ten or more items.",
            ),
        )


def _gains(group: Json, comparisons: Json) -> Iterator[tuple[str | Json, ...]]:
    if comparisons["gain"].get("value") is not None:
        best_spearman = spearman(group["baselines"][comparisons["best"]], "pooled")
        judge = spearman(group["agreement"], "pooled")
        measure = "Spearman, pooled"
        yield baseline_name(comparisons["best"]), measure, judge, best_spearman, comparisons["gain"]
    constant = comparisons["constant"]
    if not undefined_reason(constant):
        answer, constant_agreement = (
            f"always {constant['answer']:g}",
            constant["constant_agreement"],
        )
        yield answer, "agreement", constant["agreement"], constant_agreement, constant["added"]
        by_chance = {"value": 1.0 / n} if (n := constant["n_answers"]) else {}
        accuracies = constant["balanced_accuracy"], by_chance, constant["added_balanced"]
        yield answer, "balanced accuracy", *accuracies


def distinct_levels(group: Json) -> dict[str, str]:
    """Return the distinct levels; if whole summaries were judged, items are summaries."""
    levels = dict(LEVELS)
    agreement = group["agreement"]
    counts = [
        agreement.get(level, {}).get("kendall", {}).get("n") for level in ("pooled", "summary")
    ]
    if undefined_reason(agreement) or "summary" not in agreement or counts[0] == counts[1]:
        del levels["summary"]
    return levels


def errors_table(group: Json) -> TextTable:
    """Return the errors before and after calibration."""
    calibration = group["calibration"]
    held_out_name, reason = (
        f"{calibration['method']}, held-out",
        calibration["calibrator"].get("why"),
    )
    return side_by_side(
        f"{group_title(group)}: error against human labels, in units of "
        f"{'differences of labels' if PROTOCOLS[group['protocol']].paired else 'the labels'}",
        "error",
        _ERRORS,
        {"as judged": calibration["before"], held_out_name: calibration["after"]},
        notes=(
            f"No calibrator for items without a label: {reason}." if reason else "",
            replaceability_note(group),
            *_significant_gaps(group),
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
    """Return agreement and errors, one row per judge."""
    return table(
        "Spearman's correlation with human labels, pooled, and errors in units of the labels",
        "judge, aspect, protocol: {title} | finding: {verdict} | judge> {judge:interval}"
        " | human-human> {people:interval} | best baseline> {baseline}"
        " | RMSE as judged> {before:interval} | RMSE held-out> {after:interval}",
        groups,
        notes=(
            "Errors of pairs are distances between differences, and are in their own tables."
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


def _rmse(group: Json, stage: str) -> Json | None:
    """Return the error before or after calibration; None for pairs, whose units differ."""
    is_paired = PROTOCOLS[group["protocol"]].paired
    return None if is_paired else group["calibration"][stage].get("rmse")


def reliability_stages(calibration: Json) -> dict[str, Sequence[Json]]:
    """Return the reliability bins before and after calibration, by name of the stage."""
    return {
        "as judged": calibration["reliability_before"],
        f"{calibration['method']}, held-out": calibration["reliability_after"],
    }


def reliability_table(calibration: Json) -> TextTable:
    """Return the mean human label per bin of the judge's score."""
    return table(
        "Reliability: mean human label by judge's score",
        "stage: {stage} | judge's score> {mean_score:number} | items> {n}"
        " | mean human label> {mean_label:interval}",
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
            "A group is flagged for its mean error or its mean absolute error; adjusted p is that "
            "of the mean error.",
        ),
        flag=lambda group: ", ".join(word for mark, word in _FLAGS.items() if group[mark]),
    )
    return replace(table_of_groups, columns=(Column(heading=name), *table_of_groups.columns[1:]))


def position_table(audit: Json, title: str) -> TextTable:
    """Return the position audit of one judge and aspect."""
    return side_by_side(title, "verdicts", POSITION, {"percent": audit}, format_cell=percent)


def planning_table(curve: Sequence[Json]) -> TextTable:
    """Return the half-width of a system's mean for each number of labels."""
    return table(
        "How many labels you need: half-width of the interval of a system's mean",
        f"labels> {{n_labels}} | {PLANS['with_judge']}> {{with_judge:number.3}}"
        f" | {PLANS['without_judge']}> {{without_judge:number.3}}",
        curve,
    )


def separations_table(label_plan: Json) -> TextTable:
    """Return the numbers of labels needed to distinguish pairs of systems."""

    def labels_needed(plan: str, separation: Json) -> str:
        if undefined_reason(separation):
            return "-"
        n = separation[plan]
        return f"more than {label_plan['n_judged']}" if n is None else str(n)

    return table(
        "Labelled documents needed to distinguish two systems, if the difference is true",
        "systems: {system_a} and {system_b} | difference> {difference:number}"
        " | with judge> {with_judge} | labels alone> {without_judge}",
        label_plan["to_separate"],
        with_judge=partial(labels_needed, "with_judge"),
        without_judge=partial(labels_needed, "without_judge"),
    )


def _reasons(group: Json) -> list[str]:
    sentences = []
    for part, name in (("agreement", "Judge"), ("human", "Humans")):
        agreement = group[part]
        if undefined_reason(agreement):
            sentences.append(f"{name}: {undefined_reason(agreement)}.")
            continue
        reasons = {
            undefined_reason(figure) or no_interval_reason(figure): label
            for level, label in distinct_levels(group).items()
            for statistic in _STATISTICS
            for figure in (agreement[level][statistic],)
        }
        sentences += [f"{name}, {label}: {reason}." for reason, label in reasons.items() if reason]
    return sentences


_TEST_OUTCOMES = {"yes": "passed", "no": "not passed"}


def replaceability_note(group: Json) -> str:
    """Return the result of the alternative-annotator test, consistent with the decision on it."""
    results = group["replaceability"]
    if undefined_reason(results):
        return f"Alternative-annotator test: not run; {undefined_reason(results)}."
    decisions = {decision["question"]: decision for decision in group.get("decisions", ())}
    test_decision = {"answer": "yes" if results["passes"] else "no", "reason": ""}
    decision = decisions.get("replace_annotator", test_decision)
    outcome = _TEST_OUTCOMES.get(decision["answer"], decision["answer"])
    reason = f"; {decision['reason']}" if decision["reason"] else ""
    return (
        f"Alternative-annotator test: {outcome} (beats "
        f"{percentage(results['winning_rate'])} of annotators, "
        f"needs 50 %; advantage probability {results['advantage_probability']:.2f}, margin "
        f"{results['epsilon']:g}{reason})."
    )


_GAPS = {
    "error_gap": "Judge bias differs by {}: mean error",
    "absolute_error_gap": "The judge's absolute error differs by {}: mean absolute error",
}


def _significant_gaps(group: Json) -> Iterator[str]:
    """Yield the groups whose mean or absolute error differs significantly from the rest."""
    for name, all_groups in group["fairness"]["groups"].items():
        for gap, title in _GAPS.items():
            groups_in_words = [
                f"{group['group']} {interval(group[gap])}"
                + (" (few documents)" if group["few_documents"] else "")
                for group in all_groups
                if _is_significant(group, gap)
            ]
            if groups_in_words:
                yield (
                    f"{title.format(name)} minus that of the rest, {', '.join(groups_in_words)} "
                    "(FDR 5 %)."
                )


def _is_significant(of_group: Json, gap: str) -> bool:
    """Whether a gap is significant by its corrected p-value, and its interval excludes 0."""
    p, difference = of_group["adjusted_p_values"][gap], of_group[gap]
    return (
        p is not None
        and difference["low"] is not None
        and p < 1.0 - difference["level"]
        and not difference["low"] <= 0.0 <= difference["high"]
    )
