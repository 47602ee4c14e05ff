"""The next command after judging: labels that lie beside the summaries are named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairjudge.datasets import read_labels
from fairjudge.errors import FairJudgeError
from fairjudge.options.judging import JudgeOptions
from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.next_commands import Data, NextCommand, after_judging, protocols_of

_NAMES = ("labels.jsonl", "labels.csv")


def next_of_judging(
    references: Path, summaries: Sequence[Path], output: Path, options: JudgeOptions
) -> NextCommand:
    """Return the command that calibrates the judgements in `output`."""
    plans = options.plans()
    folders = dict.fromkeys(path.parent for path in (*summaries, references, output))
    labels = next(
        (folder / name for folder in folders for name in _NAMES if (folder / name).is_file()), None
    )
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
