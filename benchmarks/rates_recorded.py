"""Corrected shares of consistent summaries by SummEval's recorded judge, held against all labels.

    python benchmarks/rates_recorded.py [--draws 200] [--json [FILE]]

A summary is consistent where the experts' mean is at least 4.5, the judge says so from 4 up. Labels
of 30 of the 100 documents are shown to the estimate, the others tell the truth; 200 draws. In
"other systems" the labels are of half of the systems and the share is asked of the other half, the
less consistent one: yes is rarer there, and the judge may err otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from _machine import describe_machine

from fairjudge.calibration.rates import Answers, error_rates, prevalence
from fairjudge.domain import Estimate, Undefined, Unscored
from fairjudge.parsing import read_verdict
from fairjudge.scales import likert

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "summeval"
RESULTS = Path(__file__).parent / "results" / "rates_recorded.json"
WAYS = ("judged", "labelled", "corrected", "ppi")


def answers() -> tuple[np.ndarray, np.ndarray, list[str], list[str]]:
    """Return the judge's and the experts' yes or no, with document and system."""
    people: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in (DATA / "labels.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["aspect"] == "consistency" and row["annotator"].startswith("expert"):
            people[row["eid"], row["system"]].append(row["value"])
    judged, labels, documents, systems = [], [], [], []
    for line in (DATA / "judge_gpt-3.5_rts.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        key = row["eid"], row["system"]
        if row["aspect"] != "consistency" or key not in people:
            continue
        value = read_verdict(row["response"], likert(), aspect="consistency")
        if not isinstance(value, Unscored):
            judged.append(float(value >= 4))
            labels.append(float(np.mean(people[key]) >= 4.5))
            documents.append(key[0])
            systems.append(key[1])
    return np.array(judged), np.array(labels), documents, systems


def study(n_draws: int) -> list[dict[str, Any]]:
    """Return rates, and how often each way's interval holds the share that the labels tell."""
    judged, labels, documents, systems = answers()
    names = sorted(set(documents))
    share = {system: labels[np.array(systems) == system].mean() for system in set(systems)}
    poor = set(sorted(share, key=lambda system: share[system])[: len(share) // 2])
    rates = error_rates(judged, labels, documents)
    out = []
    for sample in ("other documents", "other systems"):
        result: dict[str, list[tuple[bool, float, float]]] = defaultdict(list)
        truths = []
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            labelled = set(rng.choice(names, 30, replace=False).tolist())
            near = np.array([document in labelled for document in documents])
            low = np.array([system in poor for system in systems])
            fit = near if sample == "other documents" else near & ~low
            other = ~near if sample == "other documents" else ~near & low
            truth = float(labels[other].mean())
            truths.append(truth)
            estimate = prevalence(
                Answers(
                    judged=judged[fit],
                    human=labels[fit],
                    documents=[documents[row] for row in np.flatnonzero(fit)],
                    rest=judged[other],
                    rest_documents=[documents[row] for row in np.flatnonzero(other)],
                )
            )
            for way in WAYS:
                result[way].append(_held(getattr(estimate, way), truth))
        out.append(
            {
                "what": sample,
                "truth": round(100 * float(np.mean(truths)), 1),
                "sensitivity": round(100 * _value(rates.sensitivity), 1),
                "specificity": round(100 * _value(rates.specificity), 1),
                **{
                    way: {
                        "estimate": round(100 * float(np.nanmean([draw[1] for draw in draws])), 1),
                        "width": round(100 * float(np.nanmean([draw[2] for draw in draws])), 1),
                        "holds_truth": _percent([draw[0] for draw in draws if draw[1] >= 0.0]),
                        "no_value": _percent([not draw[1] >= 0.0 for draw in draws]),
                    }
                    for way, draws in result.items()
                },
            }
        )
    return out


def _percent(hits: list[bool]) -> float:
    return round(100 * float(np.mean(hits)), 1)


def _value(estimate: Estimate | Undefined) -> float:
    assert isinstance(estimate, Estimate)
    return estimate.value


def _held(estimate: Estimate | Undefined, truth: float) -> tuple[bool, float, float]:
    if isinstance(estimate, Undefined) or estimate.low is None or estimate.high is None:
        return False, float("nan"), float("nan")
    return estimate.low <= truth <= estimate.high, estimate.value, estimate.high - estimate.low


def main() -> int:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS)
    options = parser.parse_args()
    rows = study(options.draws)
    for row in rows:
        print(row)
    if options.json:
        results = {"machine": describe_machine(), "draws": options.draws, "recorded": rows}
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
