"""``fairjudge rank``, ``compare`` and ``check``: systems in order, two runs, a changed judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.api import comparing
from fairjudge.api.findings import Findings
from fairjudge.cli import audit_options, display
from fairjudge.cli import options as opt
from fairjudge.cli.reporting import Reporting, reporting, reporting_with_page
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt


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

    def page() -> str:
        from fairjudge.reports.result_sections import ranking_page

        return ranking_page(findings.figures)

    reporting.page(page)
    ranked = [row for row in rows if PROTOCOLS[row.protocol].paired]
    audit_options.finish(ranked, protocol=None, limit=max_unscored)


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


_EXIT_CODES = {"worse": 4, "constant": 4, "cannot tell": 4, "unscored": 3}


@opt.with_options(gate=opt.call_of(comparing.check), reporting=reporting)
def check(
    *,
    gate: opt.Call[Findings],
    save: Annotated[
        Path | None,
        Opt("Write the new judgements as the next baseline, without their texts.", panel="Output"),
    ] = None,
    reporting: Reporting,
) -> None:
    """Check that a new prompt, model or version still agrees with people: a gate for CI.

    The same labelled items are judged before and after; the paired change in agreement decides,
    with an interval over documents: better, same (within the margin), worse, or cannot tell.
    Ends with exit code 4 where it is worse, or where the judge gives one score to all anchors or
    nearly all, and 3 where more anchors than --max-unscored have no score; anchors that were not
    judged are unscored.

        fairjudge check new.jsonl --baseline old.jsonl --labels anchors.jsonl
    """
    from fairjudge.analysis.checking import without_texts
    from fairjudge.datasets import write_records

    findings = gate(skip_bad=reporting.skip_bad)
    display.show_findings(findings, reporting.json_file, reporting.figures)
    if save is not None:
        write_records(save, without_texts(gate.values["judgements"].records))
    if findings["outcome"] != "passed":
        if reporting.json_file == "-":
            say(" ".join(findings.findings), err=True)
        raise typer.Exit(_EXIT_CODES[findings["outcome"]])
