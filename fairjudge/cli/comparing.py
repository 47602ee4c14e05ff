"""``fairjudge rank``, ``compare`` and ``check``: rank systems, compare runs, gate a judge."""

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
    ranking=opt.call_of(comparing.rank, repeatable={"judgements": ""}),
    reporting=reporting_with_page,
)
def rank(
    *, ranking: opt.Call[Findings], max_unscored: opt.MaxUnscored = 0.05, reporting: Reporting
) -> None:
    """Rank systems by a Bradley-Terry model with ties (Davidson) and a position effect.

    A win against a strong system counts more than one against a weak system, and the advantage of
    the first position is removed. For judgements by --protocol ranking, a Plackett-Luce model is
    used. Intervals are over documents; intervals of ranks are simultaneous for all systems.

        fairjudge rank pairs.jsonl --json ranking.json

    Pairwise judgements of several judges are combined in one model: each judge has a discrimination
    parameter, and judges that separate systems better count more.

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

    reporting.write_page(page)
    paired_rows = [row for row in rows if PROTOCOLS[row.protocol].paired]
    audit_options.finish(paired_rows, protocol=None, limit=max_unscored)


@opt.with_options(comparison=opt.call_of(comparing.compare), reporting=reporting_with_page)
def compare(*, comparison: opt.Call[Findings], reporting: Reporting) -> None:
    """Compare two runs item by item: agreement, mean shift, and each system's scores in both.

    Compares by aspect and protocol, on the items that both runs scored, with intervals over
    documents: for instance, to measure the effect of judging several aspects together, of another
    model or of another prompt. To find out which run is right, compare both with human labels:
    'fairjudge check'.

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

    reporting.write_page(page)


_EXIT_CODES = {"worse": 4, "constant": 4, "cannot tell": 4, "unscored": 3}


@opt.with_options(gate=opt.call_of(comparing.check), reporting=reporting)
def check(
    *,
    gate: opt.Call[Findings],
    save: Annotated[
        Path | None,
        Opt("Write the new judgements, without texts, as the next baseline.", panel="Output"),
    ] = None,
    reporting: Reporting,
) -> None:
    """Check that a new prompt, model or version still agrees with human labels: a gate for CI.

    The same labelled items (anchors) are judged before and after the change. The verdict is based
    on the paired change in agreement, with an interval over documents: better, same (within the
    margin), worse, or cannot tell. The exit code is 4 if agreement is worse or if (nearly) all
    anchors get the same score, and 3 if more anchors than --max-unscored have no score; anchors
    that were not judged count as unscored.

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
