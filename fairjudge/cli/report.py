"""``fairjudge report``: one page about a run, judgements, and what other commands found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import options as opt
from fairjudge.options.declaring import Opt


def report(
    inputs: Annotated[
        list[Path],
        Opt(
            "Run folders, folders of files, judgements, references, clusters, summaries, "
            "labels, and what commands wrote by --json. The kind is told by the content.",
            metavar="RUN_OR_FILE...",
            argument=True,
        ),
    ],
    *,
    output: Annotated[Path, Opt("Page to write; - is standard output.", short="-o")],
    references: Annotated[
        Path | None, Opt("References or clusters: questions, answers, outlets.")
    ] = None,
    summaries: Annotated[Path | None, Opt("Summaries, shown with their judgements.")] = None,
    labels: Annotated[Path | None, Opt("Human labels: adds what 'calibrate' measures.")] = None,
    annotators: opt.Annotators = "*",
    label_scale: opt.LabelScale = None,
    title: Annotated[str, Opt("Heading of the page.")] = "FairJudge report",
    seed: opt.Seed = 0,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Write one self-contained HTML page: leaderboards, coverage by source, every reply, and plots.

    Filters, sorts and searches without a server or network. What was not given is left out.

        fairjudge report judgements.jsonl --references refs.jsonl --summaries s.jsonl -o report.html
    """
    from fairjudge.analysis.reporting import make_report
    from fairjudge.engine.runs import check_writable
    from fairjudge.options.checking import as_names

    check_writable(output)
    made = make_report(
        *inputs,
        references=references,
        summaries=summaries,
        labels=labels,
        annotators=as_names(annotators),
        label_scale=label_scale,
        title=title,
        seed=seed,
        skip_bad=skip_bad,
    )
    if str(output) == "-":
        typer.echo(made.html, nl=False)
        return
    made.save(output)
    typer.echo(f"Written: {output} ({len(made.html.encode()) / 1e6:.1f} MB)")
