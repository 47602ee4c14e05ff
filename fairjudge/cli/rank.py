"""``fairjudge rank``: systems in order, from pairwise judgements."""

from __future__ import annotations

from fairjudge.api import comparing
from fairjudge.api.findings import Findings
from fairjudge.cli import audit_options, display
from fairjudge.cli import options as opt
from fairjudge.cli.reporting import Reporting, reporting_with_page


@opt.with_options(
    ranking=opt.call_of(comparing.rank, several={"judgements": ""}), reporting=reporting_with_page
)
def rank(
    *, ranking: opt.Call[Findings], max_unscored: opt.MaxUnscored = 0.05, reporting: Reporting
) -> None:
    """Rank systems by a Bradley-Terry model with ties (Davidson) and a term for position.

    A win against a strong system counts for more than one against a weak one, and the advantage of
    the first position is removed. Judgements by --protocol ranking are ranked by the Plackett-Luce
    model. Intervals are over documents; those of ranks hold for all systems simultaneously.

        fairjudge rank pairs.jsonl --json ranking.json

    Pairwise judgements of several judges are ranked jointly: each judge has a discrimination
    parameter, and one that discriminates better between systems counts for more.

        fairjudge rank gpt.jsonl claude.jsonl local.jsonl
    """
    from fairjudge.datasets import read_judgements
    from fairjudge.protocols import PROTOCOLS

    rows = [
        row
        for path in ranking.values["judgements"]
        for row in display.read(read_judgements, path, skip_bad=reporting.skip_bad)
    ]
    findings = ranking(skip_bad=reporting.skip_bad, judgements=rows)
    display.show_findings(findings, reporting.json_file)
    reporting.page(lambda: _page(findings))
    ranked = [row for row in rows if PROTOCOLS[row.protocol].paired]
    audit_options.finish(ranked, protocol=None, limit=max_unscored)


def _page(findings: Findings) -> str:
    from fairjudge.reports.result_sections import ranking_page

    return ranking_page(findings.figures)
