"""How often a watched gate errs in a year of looks, and how soon it sees a fall of .1.

    python benchmarks/watched_gate.py [--years 2000]

Simulated years of 52 looks at the same anchors, as ``drift_gate.py`` draws answers of yes and no:
one baseline, and a judge that answers anew at every look, right with probability .85. A year errs
where any interval of the change in agreement does not hold the truth (fixed intervals, as
``check`` without ``--since``; both confidence sequences), and has a false alarm where any verdict
is worse. With a fall: the judge is right with .75 from the first look on; "theory" is the share of
first looks whose normal statistic passes the boundary of this one look,
Phi((.1 - half-width) / standard error). Attribution: 30 years in which the judge falls by .15 at
look 5 and 30 in which the systems do by .25, of 200 anchors and 200 new summaries a look; it counts
whom the first look that names a mover names. Writes its table to docs/ci.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _machine import describe_machine
from scipy.stats import norm
from scipy.stats import t as student_t

from fairjudge.calibration.watching import Look, watch
from fairjudge.stats.sequences import betting_bounds, log_capital, mean_at_look, spending_sequence

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "ci.md"
BEGIN, END = "<!-- watched: begin -->\n", "<!-- watched: end -->\n"
LOOKS, RIGHT, FALL, MARGIN = 52, 0.85, 0.1, 0.05
SIZES = ((40, 3), (100, 1), (100, 3), (200, 3))
WAYS = ("fixed", "spending", "betting")


class Anchors:
    """Anchors of documents; errors are alike within a document, and at every look at an item."""

    def __init__(self, rng: np.random.Generator, n_documents: int, per_document: int) -> None:
        self.rng, self.n = rng, n_documents
        self.documents = np.repeat(np.arange(n_documents), per_document)
        own = rng.normal(size=self.documents.size)
        self.error = (rng.normal(size=n_documents)[self.documents] + own) / math.sqrt(2)
        self.per_document = per_document

    def right(self, accuracy: float) -> np.ndarray:
        """Return each document's share of right answers at one look."""
        noise = self.rng.normal(size=self.documents.size)
        right = (self.error + noise) / math.sqrt(2) < norm.ppf(accuracy)
        return np.bincount(self.documents, right, self.n) / self.per_document


def bounds_of(changes: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the intervals of each way: shape (looks, 2)."""
    n = changes.shape[1]
    half = student_t.ppf(0.975, n - 1) * changes.std(axis=1, ddof=1) / math.sqrt(n)
    means = changes.mean(axis=1)
    yield "fixed", np.column_stack([means - half, means + half])
    looks = [mean_at_look(dict(enumerate(change.tolist()))) for change in changes]
    yield "spending", np.array([(b.low, b.high) for b in spending_sequence(looks, planned=LOOKS)])
    yield "betting", np.array([betting(one, number) for number, one in enumerate(changes)])


def betting(changes: np.ndarray, number: int) -> tuple[float, float]:
    """Return bounds by betting; after the first look only on which side of 0 they lie: quicker."""
    if number == 0:
        found = betting_bounds(changes, least=-1, most=1, planned=LOOKS)
        return found.low, found.high
    wanted = math.log(2 * LOOKS / 0.05)
    above, below = (log_capital((1 + sign * changes) / 2, 0.5) > wanted for sign in (1, -1))
    return (0.01 if above else -1.0), (-0.01 if below else 1.0)


def year(rng: np.random.Generator, size: tuple[int, int], fall: float) -> dict[str, np.ndarray]:
    """Return the intervals of every look of a year, by way."""
    anchors = Anchors(rng, *size)
    before = anchors.right(RIGHT)
    changes = np.array([anchors.right(RIGHT - fall) - before for _ in range(LOOKS)])
    return dict(bounds_of(changes))


def row(size: tuple[int, int], n_years: int) -> Iterator[str]:
    """Yield a line of the table for each way."""
    rng = np.random.default_rng([*size, 31])
    still = [year(rng, size, 0.0) for _ in range(n_years)]
    fallen = [year(rng, size, FALL) for _ in range(max(1, n_years // 10))]
    for way in WAYS:
        bounds = np.array([one[way] for one in still])
        errs = np.mean(((bounds[..., 0] > 0) | (bounds[..., 1] < 0)).any(axis=1))
        alarms = np.mean(worse(bounds).any(axis=1))
        bounds = np.array([one[way] for one in fallen])
        alarm = worse(bounds)
        when = np.where(alarm.any(axis=1), alarm.argmax(axis=1) + 1, LOOKS + 1)
        middle = np.median(when)
        # half-width = boundary x standard error, so that the boundary is half / error
        first = alarm[:, 0].mean()
        half = float(np.mean(bounds[:, 0, 1] - bounds[:, 0, 0])) / 2
        error = float(np.mean([spread(one["fixed"][0], size[0]) for one in fallen]))
        theory = norm.cdf((FALL - half) / error)
        yield (
            f"| {size[0]} x {size[1]} | {way} | {errs:.1%} | {alarms:.1%} | {first:.0%} | "
            f"{theory:.0%} | {'later' if middle > LOOKS else f'{middle:.0f}'} | "
            f"{alarm.any(axis=1).mean():.0%} |"
        )


def spread(interval: np.ndarray, n_documents: int) -> float:
    """Return the standard error of a fixed interval."""
    return float(interval[1] - interval[0]) / 2 / float(student_t.ppf(0.975, n_documents - 1))


def worse(bounds: np.ndarray) -> np.ndarray:
    """Return which verdicts are worse."""
    return (bounds[..., 1] < 0) & (bounds[..., 0] <= -MARGIN)


def attributed(rng: np.random.Generator, mover: str) -> str:
    """Return the mover that the first look names that names one."""
    anchors = Anchors(rng, 200, 1)
    before, looks = anchors.right(RIGHT), []
    for number in range(1, 13):
        moved = number >= 5
        shift = 0.15 if moved and mover == "judge" else 0.0
        after = anchors.right(RIGHT - shift)
        good = 0.7 - (0.25 if moved and mover == "systems" else 0.0)
        # a judge that misses more says yes less often, of anchors and of new summaries alike
        live = (rng.random(200) < good - shift).astype(float)
        change = dict(zip(map(str, range(200)), (after - before).tolist(), strict=True))
        new = dict(zip((f"{number}-{i}" for i in range(200)), live.tolist(), strict=True))
        looks.append(Look(agreement=change, shift=change, live=new))
        found = watch(looks, margin=MARGIN, planned=LOOKS).moved
        if found != "neither":
            return found
    return "neither"


def main() -> None:
    """Run the simulation and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--years", type=int, default=2000)
    n_years = parser.parse_args().years
    rng = np.random.default_rng(60)
    named = {mover: [attributed(rng, mover) for _ in range(30)] for mover in ("judge", "systems")}
    said = "; ".join(
        f"of 30 changes of the {mover}, {some.count(mover)} were laid to the {mover}, "
        f"{30 - some.count(mover) - some.count('neither')} to another"
        for mover, some in named.items()
    )
    lines = [
        "| documents x anchors | intervals | years with a wrong interval | with a false alarm | "
        "fall of .1 seen at the first look | theory | median look | within the year |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
        *(line for size in SIZES for line in row(size, n_years)),
        "",
        f"{n_years:,} years a line without a fall, {max(1, n_years // 10):,} with one; {LOOKS} "
        f"looks, margin {MARGIN}; {describe_machine()}. Attribution: {said}.",
    ]
    table = "\n".join(lines) + "\n"
    print(table)
    text = DOCUMENT.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    DOCUMENT.write_text(head + BEGIN + table + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
