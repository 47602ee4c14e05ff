"""``fairjudge cascade``: when a judge is sure enough that nobody else need be asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from fairjudge.cli import options as opt


def cascade(
    *,
    local: Annotated[
        Path,
        typer.Option(help="Judgements by a local scorer, or with --guarantee by any judge."),
    ],
    judged: Annotated[
        Path | None, typer.Option(help="Judgements of the same items by the LLM.")
    ] = None,
    labels: Annotated[Path, typer.Option(help="Human labels of these items.")],
    output: opt.Output,
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="Maximum increase of the mean absolute error.")
    ] = 0.05,
    agreement_tolerance: Annotated[
        float, typer.Option(min=0.0, help="Maximum decrease of Kendall's tau-b with the labels.")
    ] = 0.05,
    guarantee: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=0.999,
            help="Instead: keep the answers of --local that agree with people at least this "
            "often, such as 0.9. For ratings, yes or no, and pairs (both orders).",
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="With --guarantee: how surely it holds.")
    ] = 0.95,
    annotators: Annotated[
        list[str] | None,
        typer.Option(
            help="With --guarantee: take labels of annotators of such names alone, e.g. 'expert*'."
        ),
    ] = None,
    within: Annotated[
        float,
        typer.Option(min=0.0, help="With --guarantee: a rating this near people's mean agrees."),
    ] = 0.5,
    ask: Annotated[
        Path | None,
        typer.Option(help="With --guarantee: write the items that others must judge here, JSONL."),
    ] = None,
    seed: opt.Seed = None,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Fit the thresholds for 'judge --cascade', and estimate what they save and cost.

    Saved calls and lost agreement are measured on documents that took no part in the fit. With
    --guarantee: find how sure the judge must be for its answers to agree with people as often as
    promised (fixed-sequence tests on the labels, which must be a random draw). With what this
    writes, 'judge --cascade kept.json --backend BETTER' asks that judge first, and the better one
    for the rest.

        fairjudge cascade --local pairs.jsonl --labels labels.jsonl --guarantee 0.9 -o kept.json
    """
    from fairjudge.cli import display
    from fairjudge.records import write_atomically

    if guarantee is not None:
        from fairjudge.analysis.guarantees import guarantee_report

        kept = guarantee_report(
            local,
            labels,
            agreement=guarantee,
            confidence=confidence,
            within=within,
            annotators=tuple(annotators or ("*",)),
            seed=seed or 0,
            skip_bad=skip_bad,
        )
        write_atomically(output, json.dumps(asdict(kept.promise)) + "\n")
        if ask is not None:
            lines = [json.dumps(row, ensure_ascii=False) for row in kept.escalated]
            write_atomically(ask, "".join(line + "\n" for line in lines))
        if json_file != "-":
            _say_promise(kept.report)
        display.write_json(json_file, kept.report)
        return
    if judged is None:
        raise typer.BadParameter("--judged is needed, or --guarantee")
    if ask is not None:
        raise typer.BadParameter("--ask needs --guarantee")
    from fairjudge.run.routing import cascade_report

    report = cascade_report(
        local,
        judged,
        labels,
        tolerance=tolerance,
        agreement_tolerance=agreement_tolerance,
        seed=seed or 0,
        skip_bad=skip_bad,
    )
    thresholds = {"low": report["low"], "high": report["high"]}
    write_atomically(output, json.dumps(thresholds) + "\n")
    if json_file != "-":
        _say(report)
    display.write_json(json_file, report)


def _say(report: Mapping[str, Any]) -> None:
    from fairjudge.reports.figures import interval, percent

    typer.echo(
        f"The LLM is asked between {report['low']:.3g} and {report['high']:.3g} of the local "
        f"score. On held-out documents (n = {report['n']}): percent of calls saved "
        f"{percent(report['saved'])}, mean absolute error grows by "
        f"{interval(report['error_added'], digits=3)}, Kendall's tau-b falls by "
        f"{interval(report['agreement_lost'], digits=3)}."
    )
    for name, tau in report["kendall"].items():
        said = "undefined" if tau is None else f"{tau:.3f}"
        typer.echo(f"Kendall's tau-b with the labels, {name}: {said}")


def _say_promise(report: Mapping[str, Any]) -> None:
    from fairjudge.reports.figures import interval
    from fairjudge.text.printable import counted

    n_labels = counted(report["n_labelled"], "label")
    who = f"{report['judge']}, {report['aspect']}, {report['protocol']}"
    promised = f"agree with people at least {report['agreement_promised']:.0%} of the time"
    overall = f"All its labelled answers agree {interval(report['overall'], digits=2)}."
    if report["threshold"] is None:
        typer.echo(
            f"{who}: at no confidence do its answers {promised} with "
            f"{report['confidence']:.0%} certainty on {n_labels}. {overall} "
            "Nothing is kept."
        )
        return
    typer.echo(
        f"{who}: answers with a confidence of {report['threshold']:.2f} or more {promised}, with "
        f"{report['confidence']:.0%} certainty ({n_labels}; test: "
        f"{report['test']}). {overall} Kept: {interval(report['kept'], digits=2)} of all items; "
        f"of the labelled ones kept, {report['n_kept_labelled']}, "
        f"{interval(report['agreement'], digits=2)} agree."
    )
    if report["n_one_order"]:
        typer.echo(
            f"Asked in one order alone: {counted(report['n_one_order'], 'pair')}. A judge that "
            "follows the place seems sure of these."
        )
