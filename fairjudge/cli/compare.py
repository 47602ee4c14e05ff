"""``fairjudge compare``: two runs on the same items."""

from __future__ import annotations

from fairjudge.api import comparing
from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.reporting import Reporting, reporting_with_page


@opt.with_options(comparison=opt.call_of(comparing.compare), reporting=reporting_with_page)
def compare(*, comparison: opt.Call[Findings], reporting: Reporting) -> None:
    """Compare two runs item by item: agreement, mean shift, and each system in both.

    By aspect and protocol, on the items that both runs scored, with intervals over documents: what
    judging several aspects together changed, another model, another prompt. To see which run is
    right, compare both with human labels: 'fairjudge check'.

        fairjudge compare apart.jsonl together.jsonl --html compared.html
    """
    from fairjudge.analysis.changed_items import with_judgements
    from fairjudge.engine.runs import check_writable

    if reporting.html is not None:
        check_writable(reporting.html)
    findings = comparison(skip_bad=reporting.skip_bad)
    display.show_findings(findings, reporting.json_file)

    def page() -> str:
        from fairjudge.reports.result_sections import comparison_page

        runs = (comparison.values[run].records for run in ("first", "second"))
        return comparison_page(*with_judgements(findings.figures, *runs))

    reporting.page(page)
