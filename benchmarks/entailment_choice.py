"""Compare the packaged support model with cosine, for `fairness coverage`.

    python benchmarks/entailment_choice.py DATA [--pairs N] [--sets N]

DATA contains ``entailment/pairs.jsonl.gz`` and ``yelp/``. First table: ROC AUC of supported against
all other pairs, by source, on groups used neither for training nor for calibration; intervals
resample groups. Second table: Spearman correlation of the two models' Equal Coverage, and seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from _data import read_rows
from _figures import roc_area
from scipy.stats import spearmanr

import fairjudge as fj
from fairjudge.analysis.supporting import load_support_scorer
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_entailment import load_trained_entailment

sys.path.insert(0, str(Path(__file__).parents[1]))
from training.data import split_of


def held_out(path: Path, limit: int) -> dict[str, list[dict[str, str]]]:
    """Return at most `limit` pairs per source from the test groups."""
    result: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in read_rows(path):
        source_rows = result[row["source"]]
        if len(source_rows) < limit and split_of(row["group"]) == "test":
            source_rows.append(row)
    return dict(sorted(result.items()))


def difference(scores: list[np.ndarray], positive: np.ndarray, groups: list[str]) -> list[float]:
    """Return the 95 % interval of the first AUC minus the second, by bootstrap over groups."""
    rng, names = np.random.default_rng(0), sorted(set(groups))
    rows = {name: np.flatnonzero(np.array(groups) == name) for name in names}
    differences = []
    for _ in range(500):
        rows_drawn = np.concatenate(
            [rows[names[i]] for i in rng.integers(0, len(names), len(names))]
        )
        if 0 < positive[rows_drawn].sum() < rows_drawn.size:
            first, second = (roc_area(score[rows_drawn], positive[rows_drawn]) for score in scores)
            differences.append(first - second)
    return list(np.quantile(differences, [0.025, 0.975]))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--sets", type=int, default=60)
    arguments = parser.parse_args()
    model, embedder = load_trained_entailment(), load_embedder(None)
    print("| source | pairs | support model | cosine | difference, 95 % |\n|---|--:|--:|--:|--:|")
    areas: list[tuple[float, float]] = []
    for source, rows in held_out(
        arguments.data / "entailment" / "pairs.jsonl.gz", arguments.pairs
    ).items():
        positive = np.array([row["label"] == "supported" for row in rows])
        if not 10 <= positive.sum() <= len(rows) - 10:
            continue
        pairs = [(row["premise"], row["hypothesis"]) for row in rows]
        p_entailed = model.classify(pairs)[:, 0]
        sides = [embedder.embed(list(side)) for side in zip(*pairs, strict=True)]
        cosine = (sides[0] * sides[1]).sum(axis=1)
        areas.append((roc_area(p_entailed, positive), roc_area(cosine, positive)))
        low, high = difference([p_entailed, cosine], positive, [row["group"] for row in rows])
        model_auc, cosine_auc = areas[-1]
        print(f"| {source} | {len(rows)} | {model_auc:.3f} | {cosine_auc:.3f} ", end="")
        print(f"| {low:+.3f} to {high:+.3f} |")
    model_auc, cosine_auc = np.mean(areas, axis=0)
    print(f"| mean of sources | | {model_auc:.3f} | {cosine_auc:.3f} | |")
    folder = arguments.data / "yelp"
    clusters = read_rows(folder / "clusters.jsonl")[: arguments.sets]
    eids = {cluster["eid"] for cluster in clusters}
    summaries = [row for row in read_rows(folder / "summaries_alpaca.jsonl") if row["eid"] in eids]
    results = {}
    for scorer in ("entailment", "embedding"):
        load_support_scorer(scorer, None)
        start = time.perf_counter()
        report = fj.fairness.coverage(clusters, summaries, attribute="sentiment", scorer=scorer)
        seconds = time.perf_counter() - start
        results[scorer] = {row["eid"]: row["equal_coverage"] for row in report.to_dict()["samples"]}
        (row,) = report.table()
        print(
            scorer,
            f"{seconds:.0f} s",
            {key: row[key] for key in ("n", "equal_coverage", "r_ec", "coverage_parity")},
        )
    shared = sorted(results["entailment"].keys() & results["embedding"].keys())
    print(
        "Spearman of Equal Coverage:",
        spearmanr(*([scores[eid] for eid in shared] for scores in results.values())).statistic,
        len(shared),
    )


if __name__ == "__main__":
    main()
