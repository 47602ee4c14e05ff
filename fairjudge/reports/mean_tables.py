"""Systems' means by people and by the judge, of the JSON that ``calibrate --json`` writes."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import Json, interval, why
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable

_DECIMALS = 9
"""Decimals of means: smaller differences are rounding errors, and count as ties."""
WAYS = {"regression": "regression", "ppi_plus": "PPI++", "classical": "labels alone"}
_NOTE = (
    "Of all judged items, in units of the labels. PPI++ corrects the judge by the labels; the "
    "regression predicts labels from the judge, the other judges and the covariates instead. "
    "Which one to quote is chosen by the number of labels alone."
)


def mean_tables(report: Json) -> Iterator[TextTable]:
    """Yield a table a group: means from few labels, or by people beside the judge's of the same."""
    for group in report["groups"]:
        rows = [
            estimate
            for estimate in group["ppi"]
            if estimate["kind"] != "difference" and estimate["n_labelled"]
        ]
        few = [estimate for estimate in rows if estimate["n_unlabelled"]]
        if few:
            yield _table(group, few, report.get("settings", {}).get("strata"))
        elif len(rows) > 1:
            yield _means_of_both(group, rows)


def _means_of_both(group: Json, rows: list[Json]) -> TextTable:
    """Return people's and the judge's means of the same items, highest by people first."""
    quantity = "win rates" if rows[0]["kind"] == "win_rate" else "means"
    of = "answers" if rows[0].get("of") == "answers" else "items"
    ranks = {side: _ranks(rows, side) for side in ("classical", "naive")}
    return table(
        f"{group_title(group)}: systems' {quantity} by people and by the judge",
        f"system: {{name}} | {of}> {{n_labelled}} | people> {{classical:interval}}"
        " | rank> {rank_by_people} | judge> {naive:interval} | rank> {rank_by_judge}",
        [
            {
                **rows[place],
                "name": _name(rows[place]),
                "rank_by_people": ranks["classical"][place],
                "rank_by_judge": ranks["naive"][place],
            }
            for place in sorted(range(len(rows)), key=ranks["classical"].__getitem__)
        ],
        notes=("On the labels' scale; equal means share a rank.",),
    )


def _ranks(rows: list[Json], side: str) -> list[int]:
    """Return the rank of each mean, 1 for the highest; the last for one without a value."""
    values = [
        -inf if (value := estimate[side].get("value")) is None else round(value, _DECIMALS)
        for estimate in rows
    ]
    return [1 + sum(other > value for other in values) for value in values]


def _name(estimate: Json) -> str:
    return estimate.get("system") or f"{estimate['system_a']} vs {estimate['system_b']}"


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
                "name": _name(estimate),
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
