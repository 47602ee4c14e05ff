"""Systems' means from few labels, of the JSON that ``calibrate --json`` writes."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import Json, interval, why
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable

WAYS = {"regression": "regression", "ppi_plus": "PPI++", "classical": "labels alone"}
_NOTE = (
    "Of all judged items, in units of the labels. PPI++ corrects the judge by the labels; the "
    "regression predicts labels from the judge, the other judges and the covariates instead. "
    "Which one to quote is chosen by the number of labels alone."
)


def mean_tables(report: Json) -> Iterator[TextTable]:
    """Yield a table a group in which some judged items have no label."""
    for group in report["groups"]:
        rows = [
            estimate
            for estimate in group["ppi"]
            if estimate["kind"] != "difference"
            and estimate["n_labelled"]
            and estimate["n_unlabelled"]
        ]
        if rows:
            yield _table(group, rows, report.get("settings", {}).get("strata"))


def _table(group: Json, rows: list[Json], strata: str | None) -> TextTable:
    quantity = "win rates" if rows[0]["kind"] == "win_rate" else "means"
    of = "answers" if rows[0].get("of") == "answers" else "items"
    regressed = any(not why(estimate.get("regression") or {"why": "none"}) for estimate in rows)
    regression = " | regression> {regression:interval}" if regressed else ""
    return table(
        f"{group_title(group)}: {quantity} from few labels",
        f"system: {{name}} | labelled {of}> {{n_labelled}} | others> {{n_unlabelled}}"
        " | labels alone> {classical:interval} | judge alone> {naive:interval}"
        f" | PPI++> {{ppi_plus:interval}}{regression} | to quote: {{way}}",
        [
            {
                **estimate,
                "name": estimate.get("system")
                or f"{estimate['system_a']} vs {estimate['system_b']}",
                "regression": estimate.get("regression") or {},
                "way": WAYS.get(estimate.get("chosen") or "", "-"),
            }
            for estimate in rows
        ],
        notes=(
            _NOTE if regressed else f"{_NOTE.partition(';')[0]}.",
            f"Labels weigh so that each {strata} has its share of all judged items."
            if strata
            else "",
            f"Pearson's correlation with people over all judged items: {interval(correlation)}."
            if (correlation := group.get("correlation")) and correlation.get("value") is not None
            else "",
        ),
    )
