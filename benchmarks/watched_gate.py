"""Error rate of repeated checks over a year, and time until a loss of .1 is detected.

    python benchmarks/watched_gate.py [--years 2000]

Simulated: years of 52 looks (checks) at the same anchors, with binary answers as in
``drift_gate.py``: one baseline, and a judge that answers anew at every look, right with probability
.85. A year has an error if any interval of the change in agreement does not cover the truth (fixed
intervals, as ``check`` without ``--since``; both confidence sequences), and a false alarm if any
verdict is worse. The error-spending sequence is that of ``check --since``,
`fairjudge.calibration.watching.agreement_sequence`; it estimates the variance and correlation of
the looks from the documents of each year. About every 50th year is also compared with `watch`.
With a loss, the judge is right with probability .75 from the first look on. Theory assumes normal
looks with known variance and correlation (from 200,000 documents), over 20,000 years. Attribution:
in 30 years the judge loses .15 at look 5, and in 30 the systems lose .25, with 200 anchors and 200
new summaries per look; counted is the cause reported first. Writes its table to docs/ci.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _machine import describe_machine, write_between
from scipy.special import ndtri
from scipy.stats import norm
from scipy.stats import t as student_t

from fairjudge.calibration.watching import Look, agreement_sequence, watch
from fairjudge.domain import Estimate
from fairjudge.stats.sequences import betting_bounds, log_capital
from fairjudge.text.counting import percentage

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "ci.md"
LOOKS, RIGHT, FALL, MARGIN = 52, 0.85, 0.1, 0.05
N_POPULATION, N_THEORY = 200_000, 20_000
N_CHECKED = 50
"""About one simulated year in this many is also computed by `watch`, for comparison."""
SIZES = ((40, 3), (100, 1), (100, 3), (200, 3))
WAYS = ("fixed", "spending", "betting")


class Anchors:
    """Anchors of documents; errors are correlated within documents and between looks."""

    def __init__(self, rng: np.random.Generator, n_documents: int, per_document: int) -> None:
        self.rng, self.n = rng, n_documents
        self.documents = np.repeat(np.arange(n_documents), per_document)
        own = rng.normal(size=self.documents.size)
        self.error = (rng.normal(size=n_documents)[self.documents] + own) / math.sqrt(2)
        self.per_document = per_document

    def right(self, accuracy: float) -> np.ndarray:
        """Return each document's share of right answers at one look."""
        noise = self.rng.normal(size=self.documents.size)
        right = (self.error + noise) / math.sqrt(2) < ndtri(accuracy)
        return np.bincount(self.documents, right, self.n) / self.per_document


def bounds_of(changes: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the intervals of each method, shape (looks, 2)."""
    n = changes.shape[1]
    half = student_t.ppf(0.975, n - 1) * changes.std(axis=1, ddof=1) / math.sqrt(n)
    means = changes.mean(axis=1)
    yield "fixed", np.column_stack([means - half, means + half])
    estimates = agreement_sequence(looks_of(changes), planned=LOOKS)
    yield (
        "spending",
        np.array(
            [
                (estimate.low, estimate.high)
                for estimate in estimates
                if isinstance(estimate, Estimate)
            ]
        ),
    )
    yield "betting", np.array([betting(change, number) for number, change in enumerate(changes)])


def looks_of(changes: np.ndarray) -> list[Look]:
    """Return the looks for an array of changes by look and document."""
    names = list(map(str, range(changes.shape[1])))
    rows = (dict(zip(names, change, strict=True)) for change in changes.tolist())
    return [Look(agreement=change, shift={}, live={}) for change in rows]


def betting(changes: np.ndarray, number: int) -> tuple[float, float]:
    """Return bounds by betting; after the first look only their signs, which is faster."""
    if number == 0:
        bounds = betting_bounds(changes, minimum=-1, maximum=1, planned=LOOKS)
        return bounds.low, bounds.high
    threshold = math.log(2 * LOOKS / 0.05)
    above, below = (log_capital((1 + sign * changes) / 2, 0.5) > threshold for sign in (1, -1))
    return (0.01 if above else -1.0), (-0.01 if below else 1.0)


def year(rng: np.random.Generator, size: tuple[int, int], fall: float) -> dict[str, np.ndarray]:
    """Return the intervals of every look of a year, by method."""
    anchors = Anchors(rng, *size)
    before = anchors.right(RIGHT)
    changes = np.array([anchors.right(RIGHT - fall) - before for _ in range(LOOKS)])
    intervals = dict(bounds_of(changes))
    if rng.random() < 1 / N_CHECKED:
        first = watch(looks_of(changes), margin=MARGIN, planned=LOOKS).first_worse or LOOKS + 1
        assert first == first_alarms(worse(intervals["spending"]))
    return intervals


def first_alarms(alarms: np.ndarray) -> np.ndarray:
    """Return the first look with an alarm (1-based), else LOOKS + 1; looks are the last axis."""
    return np.where(alarms.any(axis=-1), alarms.argmax(axis=-1) + 1, LOOKS + 1)


def theory(size: tuple[int, int], way: str) -> np.ndarray:
    """Return the first alarms of years of normal looks with known moments after a loss."""
    rng = np.random.default_rng([*size, 8])
    anchors = Anchors(rng, N_POPULATION, size[1])
    before = anchors.right(RIGHT)
    first, two = (anchors.right(RIGHT - FALL) - before for _ in range(2))
    variance, r = np.var([first, two]), np.corrcoef(first, two)[0, 1]

    def draw() -> np.ndarray:
        always, looks = rng.normal(size=(N_THEORY, 1)), rng.normal(size=(N_THEORY, LOOKS))
        return math.sqrt(r) * always + math.sqrt(1.0 - r) * looks

    error = math.sqrt(variance / size[0])
    half = error * (boundaries(np.abs(draw())) if way == "spending" else norm.ppf(0.975))
    means = error * draw() - FALL
    return first_alarms(worse(np.stack([means - half, means + half], axis=-1)))


def boundaries(sizes: np.ndarray) -> np.ndarray:
    """Return the bound of each look; each spends an equal part of the error .05."""
    out, inside = np.empty(LOOKS), np.ones(len(sizes), dtype=bool)
    for look in range(LOOKS):
        leave = int(0.05 * (look + 1) / LOOKS * len(sizes)) - np.count_nonzero(~inside)
        out[look] = np.sort(sizes[inside, look])[-1 - max(0, leave)]
        inside &= sizes[:, look] <= out[look]
    return out


def row(size: tuple[int, int], n_years: int) -> Iterator[str]:
    """Yield a row of the table for each method."""
    rng = np.random.default_rng([*size, 31])
    still = [year(rng, size, 0.0) for _ in range(n_years)]
    fallen = [year(rng, size, FALL) for _ in range(max(1, n_years // 5))]
    for way in WAYS:
        bounds = np.array([year[way] for year in still])
        errs = np.mean(((bounds[..., 0] > 0) | (bounds[..., 1] < 0)).any(axis=1))
        alarms = np.mean(worse(bounds).any(axis=1))
        simulated = delays(first_alarms(worse(np.array([year[way] for year in fallen]))))
        expected = ("-",) * 3 if way == "betting" else delays(theory(size, way))
        cells = (
            f"{observed} | {other}" for observed, other in zip(simulated, expected, strict=True)
        )
        shares = [percentage(share, digits=1) for share in (errs, alarms)]
        yield f"| {' | '.join([f'{size[0]} x {size[1]}', way, *shares, *cells])} |"


def delays(first: np.ndarray) -> tuple[str, str, str]:
    """Return the share detected at the first look, the median look, and the share detected."""
    middle = np.median(first)
    median = "later" if middle > LOOKS else f"{middle:.0f}"
    return percentage(np.mean(first == 1)), median, percentage(np.mean(first <= LOOKS))


def worse(bounds: np.ndarray) -> np.ndarray:
    """Return which verdicts are worse."""
    return (bounds[..., 1] < 0) & (bounds[..., 0] <= -MARGIN)


def first_mover(rng: np.random.Generator, mover: str) -> str:
    """Return the cause that is reported first."""
    anchors = Anchors(rng, 200, 1)
    before, looks = anchors.right(RIGHT), []
    for number in range(1, 13):
        has_changed = number >= 5
        shift = 0.15 if has_changed and mover == "judge" else 0.0
        after = anchors.right(RIGHT - shift)
        quality = 0.7 - (0.25 if has_changed and mover == "systems" else 0.0)
        # a less accurate judge says yes less often, for both anchors and new summaries
        live = (rng.random(200) < quality - shift).astype(float)
        change = dict(zip(map(str, range(200)), (after - before).tolist(), strict=True))
        new = dict(zip((f"{number}-{i}" for i in range(200)), live.tolist(), strict=True))
        looks.append(Look(agreement=change, shift=change, live=new))
        mover_named = watch(looks, margin=MARGIN, planned=LOOKS).moved
        if mover_named != "neither":
            return mover_named
    return "neither"


def main() -> None:
    """Run the simulation and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--years", type=int, default=2000)
    n_years = parser.parse_args().years
    rng = np.random.default_rng(60)
    movers = {mover: [first_mover(rng, mover) for _ in range(30)] for mover in ("judge", "systems")}
    attribution = "; ".join(
        f"of 30 changes of the {mover}, {movers_named.count(mover)} were attributed to the "
        f"{mover}, {30 - movers_named.count(mover) - movers_named.count('neither')} to another"
        for mover, movers_named in movers.items()
    )
    lines = [
        "| documents x anchors | intervals | years with a wrong interval | with a false alarm | "
        "decrease of .1 detected at the first look | theory | median look | theory | within the "
        "year | theory |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(line for size in SIZES for line in row(size, n_years)),
        "",
        f"{n_years:,} years per row without a decrease, {max(1, n_years // 5):,} with one; {LOOKS} "
        f"looks, margin {MARGIN}; {describe_machine()}. Attribution: {attribution}.",
    ]
    table = "\n".join(lines) + "\n"
    print(table)
    write_between(DOCUMENT, "watched", table)


if __name__ == "__main__":
    main()
