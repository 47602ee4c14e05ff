"""The next command after judging: labels that lie beside the summaries are named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from fairjudge.datasets import read_labels
from fairjudge.errors import FairJudgeError
from fairjudge.options.judging import JudgeOptions
from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.next_commands import (
    Data,
    NextCommand,
    after_judging,
    protocols_of,
    too_few_to_rank,
)

_NAMES = ("labels.jsonl", "labels.csv")


def note_on_labels(references: Path, summaries: Sequence[Path], options: JudgeOptions) -> str:
    """Return why labels beside the data can never show that the judge ranks; empty if they can."""
    folders = dict.fromkeys(path.parent for path in (*summaries, references))
    path = _labels_in(folders)
    aspects = {plan.aspect for plan in options.plans()}
    try:
        labels = read_labels(path, skip_bad=True) if path else ()
    except FairJudgeError:  # calibrate says what is wrong with it
        return ""
    return too_few_to_rank(label for label in labels if label.aspect in aspects)


def _labels_in(folders: Iterable[Path]) -> Path | None:
    return next(
        (folder / name for folder in folders for name in _NAMES if (folder / name).is_file()), None
    )


def next_of_judging(
    references: Path, summaries: Sequence[Path], output: Path, options: JudgeOptions
) -> NextCommand:
    """Return the command that calibrates the judgements in `output`."""
    plans = options.plans()
    folders = dict.fromkeys(path.parent for path in (*summaries, references, output))
    labels = _labels_in(folders)
    try:
        labelled = protocols_of(read_labels(labels, skip_bad=True)) if labels else {}
    except FairJudgeError:  # calibrate says what is wrong with it
        labels, labelled = None, {}
    data = Data(
        folder=output.parent,
        references=references,
        summaries=summaries,
        labels=labels,
        labelled=labelled,
    )
    aspects = [plan.aspect for plan in plans]
    paired = PROTOCOLS[plans[0].protocol].paired
    return after_judging(data, output, aspects, paired=paired)
