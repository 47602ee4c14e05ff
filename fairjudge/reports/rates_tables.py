"""Tables of a yes-or-no judge's error rates and of corrected prevalence; no arithmetic."""

from __future__ import annotations

from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import Json
from fairjudge.reports.row_tables import rows_of, side_by_side, table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize

_RATES = {
    "sensitivity": "sensitivity: says yes where people do",
    "specificity": "specificity: says no where people do",
    "positive_predictive_value": "positive predictive value: people say yes where it does",
    "negative_predictive_value": "negative predictive value: people say no where it does",
}


def rates_tables(report: Json) -> tuple[TextTable, ...]:
    """Return error rates and prevalence of every group that has them."""
    groups = [group for group in report["groups"] if group.get("rates")]
    return tuple(
        rates_table for group in groups for rates_table in (_errors(group), _prevalence(group))
    )


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
    why = prevalence["corrected"].get("why")
    return table(
        f"Share of yes among items without a label, {group_title(group)}",
        "system: {of} | items> {n} | judged> {judged:interval} | labelled> {labelled:interval}"
        " | corrected> {corrected:interval} | ppi> {ppi:interval}",
        [{**prevalence, "of": "all systems"}, *rows_of(rates["by_system"], "of")],
        notes=(
            "judged: the judge alone. labelled: labels alone, all systems. corrected: Rogan and "
            "Gladen, where the judge errs as often on these items as on the labelled ones, however "
            "common yes is. ppi: PPI++, where the labelled items are a random draw of all.",
            f"No correction: {why}." if why else "",
        ),
    )
