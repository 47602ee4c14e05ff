"""The tables of docs/fairness.md on reviews: a check of a scorer, a comparison of two systems.

    python benchmarks/yelp_systems.py FOLDER

FOLDER contains FairSumm's ``clusters.jsonl`` and ``summaries_alpaca.jsonl``. The second system
concatenates the first sentences of all reviews. Prints the output of the commands.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from _machine import describe_machine

from fairjudge.datasets import read_clusters, read_summaries, write_records
from fairjudge.domain import Summary
from fairjudge.text.sentences import sentence_texts


def main(folder: Path) -> None:
    """Check the scorer with oracle summaries, then compare lead sentences with Alpaca."""
    print(describe_machine(), flush=True)
    clusters = folder / "clusters.jsonl"
    about = (clusters, "--attribute", "sentiment")
    _fairjudge("oracle", *about, "--documents", 4)
    with tempfile.TemporaryDirectory() as scratch:
        summaries = Path(scratch) / "summaries.jsonl"
        alpaca = read_summaries(folder / "summaries_alpaca.jsonl").records
        write_records(summaries, [*alpaca, *_lead_sentences(clusters)])
        reports = []
        for measure in ("coverage", "proportional"):
            reports.append(Path(scratch) / f"{measure}.json")
            _fairjudge(measure, *about, "--summaries", summaries, "--json", reports[-1])
        _fairjudge("compare", *reports, "--baseline", alpaca[0].system)


def _lead_sentences(clusters: Path) -> list[Summary]:
    leads = {
        cluster.eid: [sentence_texts(article.content)[:1] for article in cluster.articles]
        for cluster in read_clusters(clusters).records
    }
    return [
        Summary(
            eid=eid,
            system="lead-sentences",
            text=" ".join(first for (first,) in filter(None, sentences)),
        )
        for eid, sentences in leads.items()
    ]


def _fairjudge(command: str, *args: object) -> None:
    words = [sys.executable, "-m", "fairjudge", "fairness", command, *map(str, args)]
    subprocess.run(words, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
