"""Corrected shares of consistent summaries by SummEval's recorded judge, compared with all labels.

    python benchmarks/rates_recorded.py [--draws 200] [--json [FILE]]

A summary is consistent if the experts' mean is at least 4.5; for the judge, if its score is at
least 4. The estimate uses labels of 30 of the 100 documents, the others define the truth; 200
draws. In "other systems" the labels are those of half of the systems, and the share is estimated
for the other, less consistent half: yes is rarer there, and the judge's error rates may differ.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from _data import read_rows
from _figures import ends, percent
from _machine import RESULTS, describe_machine, write_results
from _summeval import SUMMEVAL, recorded_verdicts

from fairjudge.calibration.rates import Answers, error_rates, prevalence
from fairjudge.domain import Estimate, Undefined

WAYS = ("judged", "labelled", "corrected", "ppi")


def answers() -> tuple[np.ndarray, np.ndarray, list[str], list[str]]:
    """Return the judge's and the experts' binary answers, with document and system."""
    people: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in read_rows(SUMMEVAL / "labels.jsonl"):
        if row["aspect"] == "consistency" and row["annotator"].startswith("expert"):
            people[row["eid"], row["system"]].append(row["value"])
    judged, labels, documents, systems = [], [], [], []
    for row, verdict in recorded_verdicts("rts"):
        key = row["eid"], row["system"]
        if row["aspect"] == "consistency" and key in people and "value" in verdict:
            judged.append(float(verdict["value"] >= 4))
            labels.append(float(np.mean(people[key]) >= 4.5))
            documents.append(key[0])
            systems.append(key[1])
    return np.array(judged), np.array(labels), documents, systems


def study(n_draws: int) -> list[dict[str, Any]]:
    """Return rates, and the coverage of each method's interval."""
    judged, labels, documents, systems = answers()
    names = sorted(set(documents))
    share = {system: labels[np.array(systems) == system].mean() for system in set(systems)}
    low_systems = set(sorted(share, key=lambda system: share[system])[: len(share) // 2])
    rates = error_rates(judged, labels, documents)
    rows = []
    for sample in ("other documents", "other systems"):
        result: dict[str, list[tuple[bool, float, float]]] = defaultdict(list)
        truths = []
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            label_documents = set(rng.choice(names, 30, replace=False).tolist())
            has_label_document = np.array([document in label_documents for document in documents])
            low = np.array([system in low_systems for system in systems])
            fit = has_label_document if sample == "other documents" else has_label_document & ~low
            is_target = (
                ~has_label_document if sample == "other documents" else ~has_label_document & low
            )
            truth = float(labels[is_target].mean())
            truths.append(truth)
            estimate = prevalence(
                Answers(
                    judged=judged[fit],
                    human=labels[fit],
                    documents=[documents[row] for row in np.flatnonzero(fit)],
                    rest=judged[is_target],
                    rest_documents=[documents[row] for row in np.flatnonzero(is_target)],
                )
            )
            for way in WAYS:
                result[way].append(_held(getattr(estimate, way), truth))
        rows.append(
            {
                "what": sample,
                "truth": round(100 * float(np.mean(truths)), 1),
                "sensitivity": round(100 * _value(rates.sensitivity), 1),
                "specificity": round(100 * _value(rates.specificity), 1),
                **{
                    way: {
                        "estimate": round(100 * float(np.nanmean([draw[1] for draw in draws])), 1),
                        "width": round(100 * float(np.nanmean([draw[2] for draw in draws])), 1),
                        "holds_truth": percent([draw[0] for draw in draws if draw[1] >= 0.0]),
                        "no_value": percent([not draw[1] >= 0.0 for draw in draws]),
                    }
                    for way, draws in result.items()
                },
            }
        )
    return rows


def _value(estimate: Estimate | Undefined) -> float:
    assert isinstance(estimate, Estimate)
    return estimate.value


def _held(estimate: Estimate | Undefined, truth: float) -> tuple[bool, float, float]:
    bounds = ends(estimate)
    if bounds is None:
        return False, float("nan"), float("nan")
    return bounds[0] <= truth <= bounds[1], _value(estimate), bounds[1] - bounds[0]


def main() -> int:
    """Print the coverage for the same and for other systems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS / "rates_recorded.json")
    options = parser.parse_args()
    rows = study(options.draws)
    for row in rows:
        print(row)
    results = {"machine": describe_machine(), "draws": options.draws, "recorded": rows}
    write_results(options.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
