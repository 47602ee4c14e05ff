"""``fairjudge compare``: two runs on the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairjudge.api import comparing
from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.datasets import Loaded
    from fairjudge.domain import Judgement


@opt.with_options(comparison=opt.call_of(comparing.compare))
def compare(
    *,
    comparison: opt.Call[Findings],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    html: opt.Html = None,
    figures: opt.Figures = None,
) -> None:
    """Compare two runs item by item: agreement, mean shift, and each system in both.

    By aspect and protocol, on the items that both runs scored, with intervals over documents: what
    judging several aspects together changed, another model, another prompt. To see which run is
    right, compare both with human labels: 'fairjudge check'.

        fairjudge compare apart.jsonl together.jsonl --html compared.html
    """
    from fairjudge.engine.runs import check_writable

    if html is not None:
        check_writable(html)
    findings = comparison(skip_bad=skip_bad)
    display.show_findings(findings, json_file)
    runs = (comparison.values["first"], comparison.values["second"])
    display.page(lambda: _page(findings, *runs), html=html, figures=figures)


def _page(findings: Findings, first: Loaded[Judgement], second: Loaded[Judgement]) -> str:
    from fairjudge.analysis.changed_items import with_judgements
    from fairjudge.reports.result_sections import comparison_page

    return comparison_page(*with_judgements(findings.figures, first.records, second.records))
