"""The table of a cascade, made of the JSON that ``calibrate cascade --json`` writes."""

from __future__ import annotations

from fairjudge.reports.figures import Json
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable


def cascade_tables(report: Json) -> tuple[TextTable, ...]:
    """Return how each way of judging agrees with the labels (``calibrate cascade``)."""
    return (
        table(
            "Kendall's tau-b with the labels, on held-out documents",
            "judged by: {name} | tau-b> {tau:number.3}",
            [{"name": name, "tau": tau} for name, tau in report["kendall"].items()],
        ),
    )
