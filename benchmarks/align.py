"""How often ``calibrate align`` accepts a prompt that is not better, and one that is.

    python benchmarks/align.py [--datasets 1000]

Simulated without an LLM: documents of 4 summaries, labels from 1 to 5, judges whose rating is the
label plus noise; half of the noise's variance is common to a document, half to all prompts.
Candidates are *no better* (the same noise), *recalibrated* (the old prompt rates all a point too
low, they do not: calibration alone does as much), or *better* (half the variance of the noise).
Naive rules on all labels are compared: accept the candidate with the best agreement if it exceeds
the old prompt, or if the interval of its gain is above 0, or accept the candidate with the least
error if that is below the old prompt's. At most 5 % of prompts that are no better should be
accepted. Writes its table to docs/alignment.md.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from _figures import ends, share_text
from _machine import describe_machine, write_between

from fairjudge.aligning.decision import (
    PairedScores,
    choose,
    decide,
    gain_of,
    split_documents,
    why_barred,
)
from fairjudge.aligning.measures import RATINGS, Measure
from fairjudge.stats.bootstrap import bootstrap
from fairjudge.stats.correlation import weighted_correlation
from fairjudge.text.counting import percentage

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "alignment.md"
PER_DOCUMENT = 4
MAX_FALSE = 0.05
SCENARIOS = {"no better": (0.0, 1.0), "recalibrated": (-1.0, 1.0), "better": (0.0, math.sqrt(0.5))}
"""What the old prompt adds to every rating; the size of the candidates' noise (the old's: 1)."""
LINES = (
    *(("no better", n, k) for n in (30, 100) for k in (1, 3, 6, 12, 24)),
    *(("recalibrated", n, 6) for n in (30, 100)),
    *(("better", n, 6) for n in (30, 60, 100, 200)),
)


def draw(
    rng: np.random.Generator, n_documents: int, n_candidates: int, scenario: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Draw the old ratings, the candidates' (one row per candidate), labels and documents."""
    bias, size = SCENARIOS[scenario]
    n = n_documents * PER_DOCUMENT
    documents = np.arange(n) // PER_DOCUMENT

    def shared() -> np.ndarray:
        return (rng.normal(size=n_documents)[documents] + rng.normal(size=n)) / math.sqrt(2)

    quality, common = shared(), shared()
    human = np.clip(np.round(3 + 1.2 * quality), 1, 5)
    noise = [(common + shared()) / math.sqrt(2) for _ in range(n_candidates + 1)]
    old = np.round(human + bias + noise[0])
    new = np.array([np.round(human + size * error) for error in noise[1:]])
    return old, new, human, [f"d{document}" for document in documents.tolist()]


def part(
    data: tuple[np.ndarray, np.ndarray, np.ndarray, list[str]],
    row: int,
    chosen: set[str],
    measure: Measure = RATINGS,
) -> PairedScores:
    """Return the data of the old prompt and of a candidate on the documents `chosen`."""
    old, new, human, documents = data
    is_chosen = np.array([document in chosen for document in documents])
    return PairedScores(
        old=old[is_chosen],
        new=new[row][is_chosen],
        human=human[is_chosen],
        documents=[document for document in documents if document in chosen],
        n_labelled=int(is_chosen.sum()),
        n_without_old=0,
        n_without_new=0,
        measure=measure,
    )


def aligned(
    data: tuple[np.ndarray, ...],
    rng: np.random.Generator,
    seed: int,
    measure: Measure = RATINGS,
) -> bool:
    """Return whether align accepts a candidate."""
    parts = split_documents(data[3], seed=seed)
    of_development = set(parts["development"])
    development = [part(data, row, of_development, measure) for row in range(len(data[1]))]
    gains = {
        str(row): gain_of(scores)
        for row, scores in enumerate(development)
        if why_barred(scores) is None
    }
    chosen = choose(gains)
    if chosen is None:
        return False
    test = part(data, int(chosen), set(parts["test"]), measure)
    return decide(development[int(chosen)], test, rng=rng).kept


def naive(data: tuple[np.ndarray, ...], rng: np.random.Generator) -> tuple[bool, bool, bool]:
    """Return whether the best candidate on all labels beats the old prompt on them.

    By agreement, by the interval of the gain in agreement, and by error.
    """
    every = set(data[3])
    errors = [float(np.mean((side - data[2]) ** 2)) for side in (data[0], *data[1])]
    is_less = min(errors[1:]) < errors[0]
    pairs = [part(data, row, every) for row in range(len(data[1]))]
    chosen = choose({str(row): gain_of(scores) for row, scores in enumerate(pairs)})
    if chosen is None:
        return False, False, is_less
    best = pairs[int(chosen)]
    old, new = (
        weighted_correlation("kendall", side, best.human, documents=best.documents)
        for side in (best.old, best.new)
    )
    gain = bootstrap(
        lambda counts: new(counts) - old(counts),
        n_documents=len(every),
        rng=rng,
        method="expanded",
    )
    low, _ = ends(gain) or (0.0, 0.0)
    return True, low > 0, is_less


def line(setting: tuple[str, int, int, int]) -> tuple[int, ...]:
    """Return in how many data sets each rule accepts a candidate."""
    scenario, n_documents, n_candidates, n_datasets = setting
    rng = np.random.default_rng([[*SCENARIOS].index(scenario), n_documents, n_candidates])
    counts = np.zeros(4, dtype=int)
    for seed in range(n_datasets):
        data = draw(rng, n_documents, n_candidates, scenario)
        counts += [aligned(data, rng, seed), *naive(data, rng)]
    return tuple(counts.tolist())


def report(
    line: Callable[[Any], tuple[int, ...]],
    lines: Sequence[tuple[str, int, int]],
    *,
    about: str | None,
    columns: Sequence[str],
    section: str,
    worse: Sequence[str],
) -> None:
    """Run `line` for all lines, write the table into `section`, and check scenarios `worse`.

    A line is the number of data sets in which align accepts a candidate, then those of `columns`.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--datasets", type=int, default=1000)
    n_datasets = parser.parse_args().datasets
    settings = [(*line, n_datasets) for line in lines]
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        counts = list(workers.map(line, settings))
    names = ["new prompts", "labelled documents", "candidates tried", "kept by `align`"]
    rows = [
        f"| {scenario} | {n_documents} | {n_candidates} | {share_text(n_kept, n_datasets)} | "
        f"{' | '.join(percentage(count / n_datasets, digits=1) for count in other_counts)} |"
        for (scenario, n_documents, n_candidates, _), (n_kept, *other_counts) in zip(
            settings, counts, strict=True
        )
    ]
    text = "\n".join(
        [
            f"| {' | '.join([*names, *columns])} |",
            f"|---{'|--:' * (len(names) - 1 + len(columns))}|",
            *rows,
            "",
            f"{n_datasets:,} data sets per row; {describe_machine()}.",
            "",
        ]
    )
    print(text)
    write_between(DOCUMENT, section, text)
    for (scenario, *_), (n_kept, *_) in zip(settings, counts, strict=True):
        assert scenario not in worse or n_kept / n_datasets <= MAX_FALSE, (scenario, n_kept)


def main() -> None:
    """Measure, check, and write the table."""
    report(
        line,
        LINES,
        about=__doc__,
        columns=[
            f"{label} on all labels" for label in ("more agreement", "significantly", "lower error")
        ],
        section="measured",
        worse=("no better", "recalibrated"),
    )


if __name__ == "__main__":
    main()
