"""The next command after judging, with the labels in the summaries' folder, if any."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairjudge.datasets import read_labels
from fairjudge.domain import Label
from fairjudge.errors import FairJudgeError
from fairjudge.options.judging import JudgeOptions
from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.next_commands import (
    Data,
    NextCommand,
    command_after_judging,
    label_protocols,
    ranking_obstacle,
)

_NAMES = ("labels.jsonl", "labels.csv")


def note_on_labels(references: Path, summaries: Sequence[Path], options: JudgeOptions) -> str:
    """Return why the labels next to the data are too few to validate ranks; "" if enough."""
    _, labels = _find_labels(*summaries, references)
    aspects = {plan.aspect for plan in options.plans()}
    return ranking_obstacle(label for label in labels if label.aspect in aspects)


def _find_labels(*files: Path) -> tuple[Path | None, Sequence[Label]]:
    """Return the first usable file of labels next to `files` (or None), and its labels."""
    folders = dict.fromkeys(path.parent for path in files)
    paths = (folder / name for folder in folders for name in _NAMES)
    path = next((path for path in paths if path.is_file()), None)
    try:
        return path, read_labels(path, skip_bad=True).records if path else ()
    except FairJudgeError:  # calibrate reports the error
        return None, ()


def next_of_judging(
    references: Path, summaries: Sequence[Path], output: Path, options: JudgeOptions
) -> NextCommand:
    """Return the command that calibrates the judgements in `output`."""
    plans = options.plans()
    path, labels = _find_labels(*summaries, references, output)
    data = Data(
        folder=output.parent,
        references=references,
        summaries=summaries,
        labels=path,
        label_protocols=label_protocols(labels),
    )
    aspects = [plan.aspect for plan in plans]
    is_paired = PROTOCOLS[plans[0].protocol].paired
    return command_after_judging(data, output, aspects, is_paired=is_paired)
