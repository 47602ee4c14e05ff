"""``fairjudge calibrate cascade``: when a judge is sure enough that nobody else need be asked."""

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


def cascade(
    *,
    local: Annotated[
        Path,
        Opt("Judgements by a local scorer, or with --guarantee by any judge."),
    ],
    judged: Annotated[Path | None, Opt("Judgements of the same items by the LLM.")] = None,
    labels: Annotated[Path, Opt("Human labels of these items.")],
    output: opt.Output,
    tolerance: cascading.Tolerance = 0.05,
    agreement_tolerance: cascading.AgreementTolerance = 0.05,
    guarantee: Annotated[
        float | None,
        Opt(
            "Instead: keep the answers of --local that agree with people at least this "
            "often, such as 0.9. For ratings, yes or no, and pairs (both orders).",
            ge=0.01,
            le=0.999,
        ),
    ] = None,
    confidence: Annotated[
        float, Opt("With --guarantee: how surely it holds.", ge=0.5, le=0.999)
    ] = 0.95,
    annotators: Annotated[
        list[str] | None,
        Opt("With --guarantee: take labels of annotators of such names alone, e.g. 'expert*'."),
    ] = None,
    within: Annotated[
        float,
        Opt("With --guarantee: a rating this near people's mean agrees.", ge=0.0),
    ] = 0.5,
    ask: Annotated[
        Path | None,
        Opt(
            "With --guarantee: write the items that others must judge here, JSONL.", panel="Output"
        ),
    ] = None,
    seed: opt.Seed = 0,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    r"""Fit the thresholds for 'judge --cascade', and estimate what they save and cost.

    Saved calls and lost agreement are measured on held-out documents. With
    --guarantee: find how sure the judge must be for its answers to agree with people as often as
    promised (fixed-sequence tests on the labels, which must be a random draw). With what this
    writes, 'judge --cascade kept.json --backend BETTER' asks that judge first, and the better one
    for the rest.

        fairjudge calibrate cascade --local pairs.jsonl --labels labels.jsonl \
            --guarantee 0.9 -o kept.json
    """
    from fairjudge.api.findings import Findings
    from fairjudge.datasets import read_judgements, read_labels
    from fairjudge.records.folder import write_output

    if guarantee is None and judged is None:
        raise typer.BadParameter("--judged is needed, or --guarantee")
    if guarantee is None and ask is not None:
        raise typer.BadParameter("--ask needs --guarantee")
    cheap = display.read(read_judgements, local, skip_bad=skip_bad)
    costly = display.read(read_judgements, judged, skip_bad=skip_bad) if judged else None
    people = display.read(read_labels, labels, skip_bad=skip_bad)
    if guarantee is not None:
        from fairjudge.analysis.guarantees import guarantee_report

        kept = guarantee_report(
            cheap,
            people,
            agreement=guarantee,
            confidence=confidence,
            within=within,
            annotators=tuple(annotators or ("*",)),
            seed=seed,
        )
        write_output(output, json.dumps(asdict(kept.promise)) + "\n")
        if ask is not None:
            lines = [json.dumps(row, ensure_ascii=False) for row in kept.escalated]
            write_output(ask, "".join(line + "\n" for line in lines))
        display.found(Findings("cascade --guarantee", kept.report), json_file)
        return
    from fairjudge.run.routing import cascade_report

    report = cascade_report(
        cheap,
        costly,
        people,
        tolerance=tolerance,
        agreement_tolerance=agreement_tolerance,
        seed=seed,
    )
    thresholds = {"low": report["low"], "high": report["high"]}
    write_output(output, json.dumps(thresholds) + "\n")
    display.found(Findings("cascade", report), json_file)
