"""What ``calibrate --json`` has of a judge beside its agreement: means, rates, disagreements.

Systems' means by people and by the judge; error rates of yes or no and corrected prevalence; the
items on which judge and people differ most. No arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from fairjudge.calibration.disagreements import CAUSE_DESCRIPTIONS
from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import Json, interval, why
from fairjudge.reports.row_tables import rows_of, side_by_side, table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize

_DECIMALS = 9
"""Decimals of means: smaller differences are rounding errors, and count as ties."""
WAYS = {"regression": "regression", "ppi_plus": "PPI++", "classical": "labels alone"}
_NOTE = (
    "Of all judged items, in units of the labels. PPI++ corrects the judge by the labels; the "
    "regression predicts labels from the judge, the other judges and the covariates instead. "
    "Which one to quote is chosen by the number of labels alone."
)
_RATES = {
    "sensitivity": "sensitivity: says yes where people do",
    "specificity": "specificity: says no where people do",
    "positive_predictive_value": "positive predictive value: people say yes where it does",
    "negative_predictive_value": "negative predictive value: people say no where it does",
}
_SHOWN = 5
_LONGEST = 160


def mean_tables(report: Json) -> Iterator[TextTable]:
    """Yield a table a group: means from few labels, or by people beside the judge's of the same."""
    for group in report["groups"]:
        rows = [
            {**estimate, "name": _name(estimate)}
            for estimate in group["ppi"]
            if estimate["kind"] != "difference" and estimate["n_labelled"]
        ]
        few = [estimate for estimate in rows if estimate["n_unlabelled"]]
        if few:
            yield _from_few_labels(group, few, report.get("settings", {}).get("strata"))
        elif len(rows) > 1:
            yield _means_of_both(group, rows)


def _quantity(rows: Sequence[Json]) -> tuple[str, str]:
    """Return what is estimated, and of what, in words."""
    quantity = "win rates" if rows[0]["kind"] == "win_rate" else "means"
    return quantity, "answers" if rows[0].get("of") == "answers" else "items"


def _means_of_both(group: Json, rows: Sequence[Json]) -> TextTable:
    """Return people's and the judge's means of the same items, highest by people first."""
    quantity, of = _quantity(rows)
    by_people, by_judge = _ranks(rows, "classical"), _ranks(rows, "naive")
    ranked = [
        {**estimate, "by_people": people, "by_judge": judge}
        for estimate, people, judge in zip(rows, by_people, by_judge, strict=True)
    ]
    return table(
        f"{group_title(group)}: systems' {quantity} by people and by the judge",
        f"system: {{name}} | {of}> {{n_labelled}} | people> {{classical:interval}}"
        " | rank> {by_people} | judge> {naive:interval} | rank> {by_judge}",
        sorted(ranked, key=lambda row: row["by_people"]),
        notes=("On the labels' scale; equal means share a rank.",),
    )


def _ranks(rows: Sequence[Json], side: str) -> list[int]:
    """Return the rank of each mean, 1 for the highest; the last for one without a value."""
    values = [
        -inf if (value := estimate[side].get("value")) is None else round(value, _DECIMALS)
        for estimate in rows
    ]
    return [1 + sum(other > value for other in values) for value in values]


def _name(estimate: Json) -> str:
    return estimate.get("system") or f"{estimate['system_a']} vs {estimate['system_b']}"


def _from_few_labels(group: Json, rows: Sequence[Json], strata: str | None) -> TextTable:
    quantity, of = _quantity(rows)
    regressed = any(not why(estimate.get("regression") or {"why": "none"}) for estimate in rows)
    regression = " | regression> {regression:interval}" if regressed else ""
    correlation = group.get("correlation") or {}
    return table(
        f"{group_title(group)}: {quantity} from few labels",
        f"system: {{name}} | labelled {of}> {{n_labelled}} | others> {{n_unlabelled}}"
        " | labels alone> {classical:interval} | judge alone> {naive:interval}"
        f" | PPI++> {{ppi_plus:interval}}{regression} | to quote: {{way}}",
        rows,
        notes=(
            _NOTE if regressed else f"{_NOTE.partition(';')[0]}.",
            f"Labels weigh so that each {strata} has its share of all judged items."
            if strata
            else "",
            f"Pearson's correlation with people over all judged items: {interval(correlation)}."
            if correlation.get("value") is not None
            else "",
        ),
        regression=lambda estimate: estimate.get("regression"),
        way=lambda estimate: WAYS.get(estimate.get("chosen") or "", "-"),
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
            f"Yes by people: {rates['n_yes']} of {items}; no: {rates['n_no']}.",
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
        [{**prevalence, "of": "all systems"}, *rows_of(rates["by_system"], "of")],
        notes=(
            "judged: the judge alone. labelled: labels alone, all systems. corrected: Rogan and "
            "Gladen, where the judge errs as often on these items as on the labelled ones, however "
            "common yes is. ppi: PPI++, where the labelled items are a random draw of all.",
            f"No correction: {reason}." if reason else "",
        ),
    )


def disagreement_tables(
    report: Json, *, limit: int = _SHOWN, longest: int = _LONGEST
) -> Iterator[TextTable]:
    """Yield the `limit` largest disagreements of each group, and their common properties.

    Reasons are cut after `longest` characters.
    """
    for group in report["groups"]:
        if group.get("disagreements"):
            yield _largest(group, limit, longest)
        if group.get("disagreements") and group.get("disagreement_causes"):
            yield table(
                f"What the largest disagreements share, {group_title(group)}",
                "what: {what} | of these> {n_listed} of {listed} | of all> {n_all} of {all}",
                group["disagreement_causes"],
                notes=["An item may stand in several rows."],
                what=lambda shared: CAUSE_DESCRIPTIONS[shared["cause"]],
            )


def _largest(group: Json, limit: int, longest: int) -> TextTable:
    disagreements = group["disagreements"]
    largest = disagreements[:limit]
    # A column without a note would take the room of the reasons.
    has_notes = any(_people_reasons(row, longest) != "-" for row in largest)
    return table(
        f"Largest disagreements, {group_title(group)}",
        "item: {item} | judge> {judged:number} | people> {people:number}"
        " | judge's reason: {reason}" + (" | people's notes: {people_notes}" if has_notes else ""),
        largest,
        notes=[
            f"{min(limit, len(disagreements))} of the {len(disagreements)} in the JSON; on the "
            "labels' scale."
        ],
        item=_item,
        reason=lambda row: _cut(" | ".join(row["judge_reasons"]), longest),
        people_notes=lambda row: _people_reasons(row, longest),
    )


def _item(row: Json) -> str:
    systems = " vs ".join(filter(None, (row["system_a"], row["system_b"])))
    unit = "" if row["unit"] == "summary" else f", {row['unit']}"
    return f"{row['eid']}, {systems}{unit}"


def _people_reasons(row: Json, longest: int) -> str:
    notes = (f"{annotator}: {text}" for annotator, text in row["people_reasons"].items())
    return _cut(" | ".join(notes), longest)


def _cut(text: str, longest: int) -> str:
    text = " ".join(text.split())
    if not text:
        return "-"
    return text if len(text) <= longest else text[:longest].rstrip() + " ..."
