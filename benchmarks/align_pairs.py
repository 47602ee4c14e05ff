"""How often ``fairjudge calibrate align --protocol pairwise`` accepts a prompt that is not better.

    python benchmarks/align_pairs.py [--datasets 1000]

Simulated without an LLM: documents of 4 summaries, all 6 pairs judged in both orders. Annotators
prefer the summary of higher quality, with noise; a difference below 0.5 is a tie. A judge sees the
difference with noise, drawn for each order, half of its variance common to a document and half to
all prompts, and favours the first position. Candidates are *no better* (the same noise and position
bias), or *better*: half the variance (*sharper*), or no position bias (*no lean*). The naive rule
is compared: accept the best candidate by agreement on all labels, if it exceeds the old prompt. At
most 5 % of prompts that are no better should be accepted. Writes its table to docs/alignment.md.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from align import aligned, part, report

from fairjudge.aligning.decision import choose, gain_of
from fairjudge.aligning.measures import PAIRS

SIDES = np.array(list(combinations(range(4), 2)))
TIE, LEAN = 0.5, 0.5
SCENARIOS = {"no better": (1.0, LEAN), "sharper": (math.sqrt(0.5), LEAN), "no lean": (1.0, 0.0)}
"""The size of the candidates' noise (the old's: 1), and what they add to the first."""
LINES = (
    *(("no better", n, k) for n in (30, 100) for k in (1, 6, 24)),
    *((better, n, 6) for better in ("sharper", "no lean") for n in (30, 100, 200)),
)


def decided(lead: np.ndarray) -> np.ndarray:
    """Return 1, 0 (tie) or -1: the sign of a difference that exceeds a tie."""
    return np.sign(lead) * (np.abs(lead) >= TIE)


def draw(
    rng: np.random.Generator, n_documents: int, n_candidates: int, scenario: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Draw preferences (old prompt, candidates as rows, annotators) and documents."""
    size, lean = SCENARIOS[scenario]
    n_pairs = len(SIDES)
    documents = np.repeat(np.arange(n_documents), n_pairs)
    quality = rng.normal(size=(n_documents, 4))
    leads = (quality[:, SIDES[:, 0]] - quality[:, SIDES[:, 1]]).ravel()
    human = decided(leads + 0.5 * rng.normal(size=leads.size))

    def noise() -> np.ndarray:
        shared = rng.normal(size=(n_documents, 4))
        of_document = (shared[:, SIDES[:, 0]] - shared[:, SIDES[:, 1]]).ravel() / math.sqrt(2)
        return (of_document + rng.normal(size=leads.size)) / math.sqrt(2)

    common = noise()

    def judged(size: float, lean: float) -> np.ndarray:
        own = [(common + noise()) / math.sqrt(2) for _ in range(2)]
        orders = [
            decided(leads + size * error + to_first * lean)
            for error, to_first in zip(own, (1.0, -1.0), strict=True)
        ]
        return np.asarray(sum(orders) / 2.0)

    old = judged(1.0, LEAN)
    new = np.array([judged(size, lean) for _ in range(n_candidates)])
    return old, new, human, [f"d{document}" for document in documents.tolist()]


def naive(data: tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]) -> bool:
    """Return whether the best candidate on all labels agrees more than the old prompt."""
    every = set(data[3])
    gains = {
        str(row): gain_of(part(data, row, every, measure=PAIRS)) for row in range(len(data[1]))
    }
    return choose(gains) is not None


def line(setting: tuple[str, int, int, int]) -> tuple[int, int]:
    """Return in how many data sets a candidate is accepted, by align and by the naive rule."""
    scenario, n_documents, n_candidates, n_datasets = setting
    rng = np.random.default_rng([[*SCENARIOS].index(scenario), n_documents, n_candidates, 2])
    counts = np.zeros(2, dtype=int)
    for seed in range(n_datasets):
        data = draw(rng, n_documents, n_candidates, scenario)
        counts += [aligned(data, rng, seed, measure=PAIRS), naive(data)]
    return int(counts[0]), int(counts[1])


def main() -> None:
    """Measure, check, and write the table."""
    report(
        line,
        LINES,
        about=__doc__,
        columns=["more agreement on all labels"],
        section="measured pairs",
        worse=("no better",),
    )


if __name__ == "__main__":
    main()
