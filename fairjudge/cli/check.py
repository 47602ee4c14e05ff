"""``fairjudge check``: whether a changed judge still agrees with people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.api import comparing
from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.reporting import Reporting, reporting
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt

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
