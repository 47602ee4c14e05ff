"""Savings and losses of a cascade on SummEval: the local judge in front of GPT-3.5.

Data: consistency of 12 systems' summaries; GPT-3.5's recorded replies as the costly judge (reason-
then-score, letters, stars), the local judge as the router, the mean of three experts as the labels.
Thresholds are fitted and evaluated by cross-fitting over documents. Only documents are used that
were not used to develop the local judge (see local.py).

Measured on 42 such documents, 504 summaries, with a tolerance of 0.05 in the mean absolute error
and in tau-b. In front of reason-then-score the cascade saves 95.6 % [93.3, 98.0] of the calls, the
error falls by 0.139 [0.005, 0.273] and tau-b by 0.066 [-0.014, 0.137] from 0.388. In front of
letters and stars it saves 99.4 %, and tau-b (0.311 and 0.268) does not fall. So where GPT-3.5 is
the better judge, the savings cost agreement: even with zero tolerance in the fit, 17.1 % of the
calls are saved and 0.071 [0.021, 0.124] of tau-b is lost on held-out documents, since two scales
are mixed.

    python benchmarks/summeval_cascade.py [FOLDER] [--json FILE]

FOLDER contains SummEval (default: ../shared/data/summeval beside the project).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _machine import describe_machine, write_results
from _summeval import JUDGES, SUMMEVAL, Item, read, recorded

from fairjudge.analysis.calibrating import trained_support
from fairjudge.calibration.cascade import CascadeFit, fit_cascade
from fairjudge.domain import Undefined
from fairjudge.judges.local import verdict_of
from fairjudge.records.results import figure
from fairjudge.reports.figures import interval
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import load_trained_models

TOLERANCES = (0.0, 0.02, 0.05)
"""Of mean absolute error and of tau-b, as they are."""
SEED = 0


def measure(folder: Path) -> list[dict[str, Any]]:
    """Return one row per judge and tolerance."""
    data = read(folder)
    result = trained_support(
        data.summaries, data.clusters, models=load_trained_models(), embedder=load_embedder()
    )
    local = {item: verdict_of("likert", support) for item, support in result.items()}
    rows = []
    for name in JUDGES:
        replies = recorded(folder, name, local)
        items: list[Item] = sorted(item for item in replies if item in data.human)
        for tolerance in TOLERANCES:
            fitted = fit_cascade(
                [local[item] for item in items],
                [replies[item] for item in items],
                [data.human[item] for item in items],
                documents=[eid for eid, _ in items],
                tolerance=tolerance,
                agreement_tolerance=tolerance,
                rng=np.random.default_rng(SEED),
            )
            if isinstance(fitted, Undefined):
                raise SystemExit(f"{name}: {fitted.why}")
            rows.append({"judge": name, "tolerance": tolerance, **_row(fitted)})
    return rows


def _row(fitted: CascadeFit) -> dict[str, Any]:
    kendall = {
        name: None if isinstance(tau, Undefined) else tau for name, tau in fitted.agreement.items()
    }
    return {
        "n": fitted.n,
        "low": fitted.thresholds.low,
        "high": fitted.thresholds.high,
        "saved_percent": figure(fitted.saved, times=100.0),
        "error_added": figure(fitted.error_added),
        "agreement_lost": figure(fitted.agreement_lost),
        "kendall": kendall,
    }


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Print the table."""
    heads = f"{'saved %':>20}{'error added':>24}{'tau-b lost':>24}"
    print(f"{'judge':10}{'may lose':>9}{'n':>6}{heads}   tau-b with experts")
    for row in rows:
        saved, added, lost = (
            interval(row[name], digits=digits)
            for name, digits in (("saved_percent", 1), ("error_added", 3), ("agreement_lost", 3))
        )
        taus = ", ".join(f"{name} {tau:.3f}" for name, tau in row["kendall"].items())
        row_heads = f"{row['judge']:10}{row['tolerance']:>9}{row['n']:>6}"
        print(f"{row_heads}{saved:>20}{added:>24}{lost:>24}   {taus}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="A cascade on SummEval.")
    parser.add_argument("folder", nargs="?", type=Path, default=SUMMEVAL)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures")
    chosen = parser.parse_args(arguments)
    if not (chosen.folder / "summaries.jsonl").is_file():
        print(f"no summaries.jsonl in {str(chosen.folder)!r}", file=sys.stderr)
        return 1
    rows = measure(chosen.folder)
    show(rows)
    print(f"\n{describe_machine()}")
    write_results(chosen.json, {"machine": describe_machine(), "rows": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
