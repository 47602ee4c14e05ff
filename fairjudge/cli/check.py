"""``fairjudge check``: whether a changed judge still agrees with people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say

_EXIT_CODES = {"worse": 4, "cannot tell": 4, "unscored": 3}


def check(
    judgements: Annotated[Path, typer.Argument(help="Judgements of the anchors after the change.")],
    *,
    baseline: Annotated[
        Path, typer.Option(help="Judgements of the same anchors before it, or what --save wrote.")
    ],
    labels: Annotated[Path, typer.Option(help="People's labels of the anchors.")],
    annotators: Annotated[
        list[str] | None,
        typer.Option(help="Only use labels by annotators with such names, e.g. 'expert*'."),
    ] = None,
    label_scale: opt.LabelScale = None,
    margin: Annotated[
        float,
        typer.Option(min=0.001, max=1.0, help="The largest loss of agreement to put up with."),
    ] = 0.05,
    level: opt.Level = 0.95,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail also where the anchors cannot tell.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(help="Write the new judgements as the next baseline, without their texts."),
    ] = None,
    seed: opt.Seed = 0,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Check that a new prompt, model or version still agrees with people: a gate for CI.

    The same labelled items are judged before and after; the paired change in agreement decides,
    with an interval over documents: better, same (within the margin), worse, or cannot tell.
    Ends with exit code 4 where it is worse, and 3 where more anchors than --max-unscored have no
    score; one that was not judged has none.

        fairjudge check new.jsonl --baseline old.jsonl --labels anchors.jsonl
    """
    from fairjudge.analysis.checking import without_texts
    from fairjudge.api import comparing
    from fairjudge.datasets import read_judgements, read_labels, write_records

    after = display.read(read_judgements, judgements, skip_bad=skip_bad)
    found = comparing.check(
        after,
        display.read(read_labels, labels, skip_bad=skip_bad),
        baseline=display.read(read_judgements, baseline, skip_bad=skip_bad),
        margin=margin,
        annotators=tuple(annotators or ("*",)),
        label_scale=opt.label_scale(label_scale),
        level=level,
        seed=seed,
        max_unscored=max_unscored,
        strict=strict,
    )
    display.found(found, json_file)
    if save is not None:
        write_records(save, without_texts(after.records))
    if found["outcome"] != "passed":
        if json_file == "-":
            say(" ".join(found.findings), err=True)
        raise typer.Exit(_EXIT_CODES[found["outcome"]])
