"""``fairjudge calibrate cascade``: thresholds between a cheap and an expensive judge."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fairjudge.api import cascading
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.options.declaring import Opt


@opt.with_options(fit=opt.call_of(cascading.cascade, optional={"judged"}))
def cascade(
    *,
    fit: opt.Call[cascading.Cascade],
    output: opt.Output,
    guarantee: Annotated[
        float | None,
        Opt(
            "Guarantee mode: keep only answers of --local whose agreement with human labels is at "
            "least this rate, such as 0.9. For ratings, yes/no and pairs (both orders).",
            ge=0.01,
            le=0.999,
        ),
    ] = None,
    confidence: Annotated[float, Opt("Confidence level of --guarantee.", ge=0.5, le=0.999)] = 0.95,
    annotators: Annotated[
        list[str] | None,
        Opt("With --guarantee: only use labels of annotators whose name matches, e.g. 'expert*'."),
    ] = None,
    within: Annotated[
        float,
        Opt(
            "With --guarantee: maximum difference between a rating and the mean human rating that "
            "counts as agreement.",
            ge=0.0,
        ),
    ] = 0.5,
    ask: Annotated[
        Path | None,
        Opt(
            "With --guarantee: write the items that need a better judge to this file (JSONL).",
            panel="Output",
        ),
    ] = None,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    r"""Fit the thresholds of 'judge --cascade', and estimate saved calls and lost agreement.

    Both are measured on held-out documents. With --guarantee, finds the confidence above which the
    judge's agreement with human labels is at least this rate (fixed-sequence tests on the labels,
    which must be a random sample). 'judge --cascade kept.json --backend BETTER' then runs the cheap
    judge first, and the better one on the remaining items.

        fairjudge calibrate cascade --local pairs.jsonl --labels labels.jsonl \
            --guarantee 0.9 -o kept.json
    """
    from fairjudge.api.findings import Findings
    from fairjudge.records.folder import write_output

    if guarantee is None and fit.values["judged"] is None:
        raise typer.BadParameter("pass --judged or --guarantee")
    if guarantee is None and ask is not None:
        raise typer.BadParameter("--ask requires --guarantee")
    values = fit.read(skip_bad=skip_bad)
    if guarantee is not None:
        from fairjudge.analysis.guarantees import guarantee_report

        result = guarantee_report(
            values["local"],
            values["labels"],
            agreement=guarantee,
            confidence=confidence,
            within=within,
            annotators=tuple(annotators or ("*",)),
            seed=values["seed"],
        )
        write_output(output, json.dumps(asdict(result.guarantee)) + "\n")
        if ask is not None:
            lines = [json.dumps(row, ensure_ascii=False) for row in result.escalated]
            write_output(ask, "".join(line + "\n" for line in lines))
        display.show_findings(Findings("cascade --guarantee", result.report), json_file)
        return
    thresholds = fit()
    thresholds.save(output)
    display.show_findings(Findings("cascade", thresholds.figures), json_file)
