"""Time of Equal Coverage and Coverage Parity on real reviews, including embeddings.

    python benchmarks/yelp_coverage.py FOLDER

FOLDER contains FairSumm's ``clusters.jsonl`` and ``summaries_alpaca.jsonl``. Required on 2 cores:
all 1,500 sets within 10 minutes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from _machine import describe_machine, peak_gib

from fairjudge.datasets import read_clusters, read_summaries
from fairjudge.fairness.coverage_report import CoverageOptions, report_coverage
from fairjudge.fairness.values import label_corpus
from fairjudge.scorers.coverage import embedding_supports
from fairjudge.scorers.embedding import load_embedder


def main(folder: Path) -> None:
    """Print the measures, the processor time of each part, and the peak memory."""
    print(describe_machine())
    clusters = read_clusters(folder / "clusters.jsonl").records
    summaries = read_summaries(folder / "summaries_alpaca.jsonl").records
    corpus = label_corpus(clusters, attribute="sentiment")
    usable = {sample.eid for sample in corpus.sets if sample.exclusion is None}
    embedder = load_embedder()
    started_at = time.process_time()
    supports = list(
        embedding_supports([c for c in clusters if c.eid in usable], summaries, embedder=embedder)
    )
    scored_at = time.process_time()
    report = report_coverage(corpus, summaries, supports, options=CoverageOptions())
    measured_at = time.process_time()
    for system, measures in report.systems.items():
        equal_coverage = measures.estimates["equal_coverage"]
        print(f"{system}: n {len(measures.samples)}, Equal Coverage {equal_coverage}")
    print(f"Support of {len(supports)} summaries: {scored_at - started_at:.0f} s of processor time")
    print(f"Measures with intervals: {measured_at - scored_at:.1f} s")
    print(f"Peak memory: {peak_gib():.2f} GiB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
