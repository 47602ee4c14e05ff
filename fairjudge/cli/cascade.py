"""``fairjudge cascade``: when a local scorer is sure enough that no LLM need be asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import options as opt


def cascade(
    *,
    local: Annotated[Path, typer.Option(help="Judgements by a local scorer.")],
    judged: Annotated[Path, typer.Option(help="Judgements of the same items by the LLM.")],
    labels: Annotated[Path, typer.Option(help="People's labels of these items.")],
    output: opt.Output,
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="Most by which the mean absolute error may grow.")
    ] = 0.05,
    agreement_tolerance: Annotated[
        float, typer.Option(min=0.0, help="Most by which Kendall's tau-b with labels may fall.")
    ] = 0.05,
    seed: opt.Seed = None,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Fit the thresholds for 'judge --cascade', and say what they save and what they cost.

    Saved calls and lost agreement are measured on documents that took no part in the fit.
    """
    from fairjudge.app.routing import cascade_report
    from fairjudge.cli import audit_tables, display
    from fairjudge.records import write_atomically

    report = cascade_report(
        local,
        judged,
        labels,
        tolerance=tolerance,
        agreement_tolerance=agreement_tolerance,
        seed=seed or 0,
        skip_bad=skip_bad,
    )
    kept = {"low": report["low"], "high": report["high"]}
    write_atomically(output, json.dumps(kept) + "\n")
    if json_file != "-":
        typer.echo(
            f"The LLM is asked between {report['low']:.3g} and {report['high']:.3g} of the local "
            f"score. On held-out documents (n = {report['n']}): percent of calls saved "
            f"{audit_tables.percent(report['saved'])}, mean absolute error grows by "
            f"{audit_tables.interval(report['error_added'], digits=3)}, Kendall's tau-b falls by "
            f"{audit_tables.interval(report['agreement_lost'], digits=3)}."
        )
        for name, tau in report["kendall"].items():
            said = "undefined" if tau is None else f"{tau:.3f}"
            typer.echo(f"Kendall's tau-b with the labels, {name}: {said}")
    display.write_json(json_file, report)
