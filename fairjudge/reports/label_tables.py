"""Tables of systems' means, error rates and disagreements, from the JSON of ``calibrate --json``.

Systems' means by human labels and by the judge; error rates of yes/no answers and corrected
prevalence; the items on which judge and humans disagree most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from fairjudge.calibration.disagreements import CAUSE_DESCRIPTIONS
from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import Json, interval, undefined_reason
from fairjudge.reports.row_tables import keyed_rows, side_by_side, table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize

_DECIMALS = 9
"""Decimals of means; smaller differences are rounding errors and count as ties."""
ESTIMATORS = {"regression": "regression", "ppi_plus": "PPI++", "classical": "labels alone"}
_NOTE = (
    "Over all judged items, in units of the labels. PPI++ corrects the judge by the labels; the "
    "regression predicts labels from the judge, the other judges and the covariates instead. "
    "The estimate to quote depends only on the number of labels."
)
_RATES = {
    "sensitivity": "sensitivity: says yes if humans do",
    "specificity": "specificity: says no if humans do",
    "positive_predictive_value": "positive predictive value: humans say yes if it does",
    "negative_predictive_value": "negative predictive value: humans say no if it does",
}
_MAX_SHOWN = 5
_MAX_LENGTH = 160


def mean_tables(report: Json) -> Iterator[TextTable]:
    """Yield one table per group: estimated means from few labels, or human and judge means."""
    for group in report["groups"]:
        rows = [
            {**estimate, "name": _name(estimate)}
            for estimate in group["ppi"]
            if estimate["kind"] != "difference" and estimate["n_labelled"]
        ]
        estimates = [estimate for estimate in rows if estimate["n_unlabelled"]]
        if estimates:
            yield _from_few_labels(group, estimates, report.get("settings", {}).get("strata"))
        elif len(rows) > 1:
            yield _means_by_source(group, rows)


def _quantity(rows: Sequence[Json]) -> tuple[str, str]:
    """Return the name of the estimated quantity, and that of its units."""
    quantity = "win rates" if rows[0]["kind"] == "win_rate" else "means"
    return quantity, "answers" if rows[0].get("of") == "answers" else "items"


def _means_by_source(group: Json, rows: Sequence[Json]) -> TextTable:
    """Return human and judge means of the same items, the highest human mean first."""
    quantity, units = _quantity(rows)
    by_people, by_judge = _ranks(rows, "classical"), _ranks(rows, "naive")
    ranked_rows = [
        {**estimate, "by_people": human_rank, "by_judge": judge_rank}
        for estimate, human_rank, judge_rank in zip(rows, by_people, by_judge, strict=True)
    ]
    return table(
        f"{group_title(group)}: systems' {quantity} by humans and by the judge",
        f"system: {{name}} | {units}> {{n_labelled}} | people> {{classical:interval}}"
        " | rank> {by_people} | judge> {naive:interval} | rank> {by_judge}",
        sorted(ranked_rows, key=lambda row: row["by_people"]),
        notes=("On the labels' scale; equal means share a rank.",),
    )


def _ranks(rows: Sequence[Json], side: str) -> list[int]:
    """Return the rank of each mean, 1 for the highest; means without a value come last."""
    values = [
        -inf if (value := estimate[side].get("value")) is None else round(value, _DECIMALS)
        for estimate in rows
    ]
    return [1 + sum(other_value > value for other_value in values) for value in values]


def _name(estimate: Json) -> str:
    return estimate.get("system") or f"{estimate['system_a']} vs {estimate['system_b']}"


def _from_few_labels(group: Json, rows: Sequence[Json], strata: str | None) -> TextTable:
    quantity, units = _quantity(rows)
    has_regression = any(
        not undefined_reason(estimate.get("regression") or {"why": "none"}) for estimate in rows
    )
    regression = " | regression> {regression:interval}" if has_regression else ""
    correlation = group.get("correlation") or {}
    return table(
        f"{group_title(group)}: {quantity} from few labels",
        f"system: {{name}} | labelled {units}> {{n_labelled}} | others> {{n_unlabelled}}"
        " | labels alone> {classical:interval} | judge alone> {naive:interval}"
        f" | PPI++> {{ppi_plus:interval}}{regression} | to quote: {{way}}",
        rows,
        notes=(
            _NOTE if has_regression else f"{_NOTE.partition(';')[0]}.",
            f"Labels are weighted so that each {strata} has its share of all judged items."
            if strata
            else "",
            "Pearson's correlation with human labels over all judged items: "
            f"{interval(correlation)}."
            if correlation.get("value") is not None
            else "",
        ),
        regression=lambda estimate: estimate.get("regression"),
        way=lambda estimate: ESTIMATORS.get(estimate.get("chosen") or "", "-"),
    )


def rates_tables(report: Json) -> Iterator[TextTable]:
    """Yield error rates and prevalence of every group that has them."""
    for group in report["groups"]:
        if group.get("rates"):
            yield _errors(group)
            yield _prevalence(group)


def _errors(group: Json) -> TextTable:
    rates = group["rates"]
    items = pluralize(rates["n_yes"] + rates["n_no"], "labelled item")
    n_split = rates["n_split"]
    return side_by_side(
        f"Error rates, {group_title(group)}",
        "rate",
        _RATES,
        {"value": rates},
        notes=(
            f"Human yes: {rates['n_yes']} of {items}; no: {rates['n_no']}.",
            f"Excluded: {n_split} on which annotators are evenly split." if n_split else "",
        ),
    )


def _prevalence(group: Json) -> TextTable:
    rates = group["rates"]
    prevalence = rates["prevalence"]
    if "judged" not in prevalence:
        title = f"Share of yes, {group_title(group)}"
        return table(title, "items: | share:", [], notes=[f"None: {prevalence['why']}."])
    reason = prevalence["corrected"].get("why")
    return table(
        f"Share of yes among items without a label, {group_title(group)}",
        "system: {of} | items> {n} | judged> {judged:interval} | labelled> {labelled:interval}"
        " | corrected> {corrected:interval} | ppi> {ppi:interval}",
        [{**prevalence, "of": "all systems"}, *keyed_rows(rates["by_system"], "of")],
        notes=(
            "judged: the judge alone. labelled: labels alone, all systems. corrected: Rogan and "
            "Gladen, assuming the same error rates on these items as on the labelled ones, for any "
            "prevalence of yes. ppi: PPI++, assuming that the labelled items are a random sample.",
            f"No correction: {reason}." if reason else "",
        ),
    )


def disagreement_tables(
    report: Json, *, limit: int = _MAX_SHOWN, max_length: int = _MAX_LENGTH
) -> Iterator[TextTable]:
    """Yield the `limit` largest disagreements of each group, and their common properties.

    Reasons are cut after `max_length` characters.
    """
    for group in report["groups"]:
        if group.get("disagreements"):
            yield _largest(group, limit, max_length)
        if group.get("disagreements") and group.get("disagreement_causes"):
            yield table(
                f"Common properties of the largest disagreements, {group_title(group)}",
                "property: {what} | of these> {n_listed} of {listed} | of all> {n_all} of {all}",
                group["disagreement_causes"],
                notes=["An item may be in several rows."],
                what=lambda row: CAUSE_DESCRIPTIONS[row["cause"]],
            )


def _largest(group: Json, limit: int, max_length: int) -> TextTable:
    disagreements = group["disagreements"]
    largest = disagreements[:limit]
    # An empty column of notes would leave less width for the reasons.
    has_notes = any(_human_notes(row, max_length) != "-" for row in largest)
    return table(
        f"Largest disagreements, {group_title(group)}",
        "item: {item} | judge> {judged:number} | humans> {people:number}"
        " | judge's reason: {reason}" + (" | human notes: {human_notes}" if has_notes else ""),
        largest,
        notes=[
            f"{min(limit, len(disagreements))} of {len(disagreements)} in the JSON; on the labels' "
            "scale."
        ],
        item=_item,
        reason=lambda row: _cut(" | ".join(row["judge_reasons"]), max_length),
        human_notes=lambda row: _human_notes(row, max_length),
    )


def _item(row: Json) -> str:
    systems = " vs ".join(filter(None, (row["system_a"], row["system_b"])))
    unit = "" if row["unit"] == "summary" else f", {row['unit']}"
    return f"{row['eid']}, {systems}{unit}"


def _human_notes(row: Json, max_length: int) -> str:
    notes = (f"{annotator}: {text}" for annotator, text in row["people_reasons"].items())
    return _cut(" | ".join(notes), max_length)


def _cut(text: str, max_length: int) -> str:
    text = " ".join(text.split())
    if not text:
        return "-"
    return text if len(text) <= max_length else text[:max_length].rstrip() + " ..."
