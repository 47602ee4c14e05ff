"""Gains of juries fitted on labels, on recorded judges.

    python benchmarks/juries.py                                  SummEval's recorded judges
    python benchmarks/juries.py --judgements A B C --labels L    any others, such as six judges

``--page FILE`` writes the output as Markdown; ``--summaries`` and ``--clusters`` are required for
the baselines of other judges; ``--no-local`` leaves the local judge out of SummEval's jury.

Recorded: gpt-3.5 with three prompts (reasons and a score, a letter, stars) and the packaged local
judge on SummEval's 1,200 summaries, against the mean of three experts. ``juries_coverage.py``
measures the coverage of the intervals.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from _machine import RESULTS, describe_machine, write_results
from _summeval import JUDGES, SUMMEVAL, recorded_verdicts

import fairjudge as fj
from fairjudge.analysis.calibrating import trained_support
from fairjudge.datasets import read_clusters, read_summaries
from fairjudge.domain import Judgement
from fairjudge.reports.calibration_tables import gains_tables
from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.protocol_tables import jury_findings, jury_tables
from fairjudge.reports.tables import to_markdown
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import load_trained_models


def recorded(*, local: bool) -> list[Judgement]:
    """Return the rows of SummEval's recorded judges, with one judge per prompt."""
    rows = [
        _row(record, f"gpt-3.5, {prompt}", "likert", verdict)
        for prompt in JUDGES
        for record, verdict in recorded_verdicts(prompt)
    ]
    return [*rows, *_local()] if local else rows


def _local() -> Iterator[Judgement]:
    summaries = tuple(read_summaries(SUMMEVAL / "summaries.jsonl"))
    clusters = tuple(read_clusters(SUMMEVAL / "clusters.jsonl"))
    supports = trained_support(
        summaries, clusters, models=load_trained_models(), embedder=load_embedder()
    )
    for (eid, system), value in supports.items():
        for aspect in ("consistency", "relevance"):
            record = {"eid": eid, "system": system, "aspect": aspect}
            yield _row(
                record, "local support", "binary", {"value": value, "scored_by": "embedding"}
            )


def _row(
    record: Mapping[str, Any], judge: str, protocol: str, verdict: Mapping[str, Any]
) -> Judgement:
    of = {name: record[name] for name in ("eid", "system", "aspect")}
    return Judgement.model_validate({**of, "judge": judge, "protocol": protocol, **verdict})


def main() -> int:
    """Fit juries on SummEval's judges, or on those on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=Path, nargs="+")
    parser.add_argument("--labels", type=Path, default=SUMMEVAL / "labels.jsonl")
    parser.add_argument("--annotators", default="expert*")
    parser.add_argument("--summaries", type=Path)
    parser.add_argument("--clusters", type=Path)
    parser.add_argument("--no-local", action="store_true")
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS / "juries.json")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    own = options.judgements is None
    judgements: Any = recorded(local=not options.no_local) if own else options.judgements
    began = time.perf_counter()
    report = fj.calibrate(
        judgements,
        options.labels,
        annotators=options.annotators,
        summaries=SUMMEVAL / "summaries.jsonl" if own else options.summaries,
        clusters=SUMMEVAL / "clusters.jsonl" if own else options.clusters,
    ).to_dict()
    seconds = time.perf_counter() - began
    names = "SummEval's recorded judges" if own else ", ".join(path.name for path in judgements)
    text = [
        "# Juries fitted on labels",
        f"{describe_machine()}.",
        f"Data: {names}; {seconds:.1f} s.",
    ]
    text += ["\n".join(f"- {sentence}" for sentence in jury_findings(report))]
    text += map(to_markdown, jury_tables(report))
    text += [to_markdown(gains) for group in report["groups"] for gains in gains_tables(group)]
    print("\n\n".join(text))
    if options.page:
        options.page.write_text("\n\n".join(text) + "\n", encoding="utf-8")
    if options.json:
        results = {
            "machine": describe_machine(),
            "seconds": seconds,
            "gains": {group_title(group): group["over_baselines"] for group in report["groups"]},
            "juries": [{**jury, "fitted": None} for jury in report["juries"]],
        }
        write_results(options.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
