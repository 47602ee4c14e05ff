"""Write docs/case-study.md: three protocols of one LLM judge against SummEval's experts.

    python benchmarks/case_study.py FOLDER [-o docs/case-study.md]

FOLDER holds SummEval's ``clusters.jsonl``, ``summaries.jsonl`` and ``labels.jsonl`` and the
recorded replies ``judge_gpt-3.5_*.jsonl`` and ``pairwise_gpt-3.5_*.jsonl`` (Shen et al. 2023).
Every figure of the document is computed here; so is every word that depends on one.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from statistics import fmean

from _case_study_data import ASPECTS, CHARACTERS_PER_TOKEN, Json, Replies, Study
from _case_study_text import document

from fairjudge.analysis.calibrating import trained_support
from fairjudge.auditing.reports import position_report
from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.analysis import analyse
from fairjudge.calibration.settings import Settings
from fairjudge.calibration.to_json import analysis_json
from fairjudge.datasets import read_clusters, read_labels, read_replies, read_summaries
from fairjudge.importing import import_replies
from fairjudge.scales import Scale, likert, options, pairwise, stars
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import load_trained_models

PROTOCOLS: Mapping[str, tuple[str, Scale]] = {
    "reason, then score": ("rts", likert(["", "", "", "", ""])),
    "multiple choice": ("mcq", options(["A", "B", "C", "D", "E"])),
    "stars": ("stareval", stars()),
}


def study(folder: Path) -> Study:
    """Import, calibrate and audit."""
    clusters = read_clusters(folder / "clusters.jsonl").records
    summaries = read_summaries(folder / "summaries.jsonl").records
    articles = {cluster.eid: sum(len(a.content) for a in cluster.articles) for cluster in clusters}
    lengths = {
        (summary.eid, summary.system): len(summary.text) + articles[summary.eid]
        for summary in summaries
    }
    replies = {name: _replies(folder, name, lengths) for name in PROTOCOLS}
    result = analyse(
        chain.from_iterable(reply.judgements for reply in replies.values()),
        read_labels(folder / "labels.jsonl"),
        settings=Settings(annotators=("expert*",), resampling=Resampling(n_resamples=2000)),
        summaries=summaries,
        clusters=clusters,
        support=trained_support(
            summaries, clusters, models=load_trained_models(), embedder=load_embedder()
        ),
    )
    report = analysis_json(result, signature={}, list_all=False)
    return Study(
        replies=replies,
        groups={(group["judge"], group["aspect"]): group for group in report["groups"]},
        comparisons=report["comparisons"],
        position=[_position(folder, aspect) for aspect in ASPECTS],
    )


def _replies(folder: Path, name: str, lengths: Mapping[tuple[str, str], int]) -> Replies:
    file_name, scale = PROTOCOLS[name]
    file = folder / f"judge_gpt-3.5_{file_name}.jsonl"
    rows = [record.to_json() for record in read_replies(file)]
    result = import_replies(rows, scale=scale, judge=name, repeats="last")
    return Replies(
        judgements=result.judgements,
        n_replies=result.n_replies,
        n_repeated=len(result.repeated),
        input_tokens=fmean(lengths[row["eid"], row["system"]] for row in rows)
        / CHARACTERS_PER_TOKEN,
        output_tokens=fmean(len(row["response"]) for row in rows) / CHARACTERS_PER_TOKEN,
    )


def _position(folder: Path, aspect: str) -> Json:
    replies = read_replies(folder / f"pairwise_gpt-3.5_{aspect}.jsonl")
    rows = [record.to_json() for record in replies]
    judgements = import_replies(rows, scale=pairwise(), repeats="last").judgements
    (group,) = position_report(judgements, labels=None, close_within=0.5)["groups"]
    return dict(group)


def main() -> None:
    """Read the arguments and write the document."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/case-study.md"))
    arguments = parser.parse_args()
    arguments.output.write_text(document(study(arguments.folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
