"""Juries fitted on labels: what they gain on recorded judges, and whether their intervals hold.

    python benchmarks/juries.py                                  SummEval's recorded judges
    python benchmarks/juries.py --judgements A B C --labels L    any others, such as six judges
    python benchmarks/juries.py --datasets 2000 --json           coverage, in simulation, too

``--page FILE`` writes what is printed as Markdown; ``--summaries`` and ``--clusters`` give other
judges their baselines; ``--no-local`` leaves the local judge out of SummEval's jury.

Recorded: gpt-3.5 by three prompts (reasons and a score, a letter, stars) and the packaged local
judge on SummEval's 1,200 summaries, against the mean of three experts. Simulated: see
``_jury_simulation.py``; ``--only TEXT`` runs the simulations whose name has it, and takes others
from the JSON file.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from _jury_simulation import SETTINGS, simulate_gains, simulate_juries, simulate_ranking
from _machine import describe_machine
from _summeval import DATA, JUDGES

import fairjudge as fj
from fairjudge.analysis.calibrating import trained_support
from fairjudge.datasets import read_clusters, read_summaries
from fairjudge.domain import Judgement, Unscored
from fairjudge.parsing import read_verdict
from fairjudge.reports.calibration_tables import gains_tables
from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.jury_tables import jury_findings, jury_tables
from fairjudge.reports.tables import TextTable, columns, to_markdown
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import load_trained_models

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "calibration.md"
BEGIN, END = "<!-- juries: begin -->\n", "<!-- juries: end -->\n"
RESULTS = Path(__file__).parent / "results" / "juries.json"


def recorded(*, local: bool) -> list[Judgement]:
    """Return SummEval's recorded judges: each prompt is a judge of its own."""
    rows = []
    for prompt, scale in JUDGES.items():
        with (DATA / f"judge_gpt-3.5_{prompt}.jsonl").open(encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        for record in records:
            value = read_verdict(record["response"], scale, aspect=record["aspect"])
            said = {"unscored": value.reason} if isinstance(value, Unscored) else {"value": value}
            rows.append(_row(record, f"gpt-3.5, {prompt}", "likert", said))
    return [*rows, *_local()] if local else rows


def _local() -> Iterator[Judgement]:
    summaries = tuple(read_summaries(DATA / "summaries.jsonl"))
    clusters = tuple(read_clusters(DATA / "clusters.jsonl"))
    found = trained_support(
        summaries, clusters, models=load_trained_models(), embedder=load_embedder()
    )
    for (eid, system), value in found.items():
        for aspect in ("consistency", "relevance"):
            record = {"eid": eid, "system": system, "aspect": aspect}
            yield _row(
                record, "local support", "binary", {"value": value, "scored_by": "embedding"}
            )


def _row(
    record: Mapping[str, Any], judge: str, protocol: str, said: Mapping[str, Any]
) -> Judgement:
    of = {name: record[name] for name in ("eid", "system", "aspect")}
    return Judgement.model_validate({**of, "judge": judge, "protocol": protocol, **said})


def coverage_table(found: Mapping[str, Any]) -> TextTable:
    """Return what a simulation covered."""
    title = f"{found['what']}: coverage (%) of 95 % intervals, {found['n_datasets']} data sets"
    truth = found.get("true", {})
    return TextTable(
        title=title,
        columns=columns("interval of", "truth", "covers", numbers=("truth", "covers")),
        rows=tuple(
            (name, f"{truth[name]:.3f}" if name in truth else "-", f"{share:.1f}")
            for name, share in found["coverage"].items()
        ),
    )


def coverage_lines(simulated: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a Markdown table: a row a figure (of judges: the range), a column a setting."""
    groups: dict[str, list[str]] = defaultdict(list)
    shown = [one for one in simulated if one["what"].startswith("juries")]
    for one in shown:
        cells: dict[str, list[float]] = defaultdict(list)
        for name, share in one["coverage"].items():
            cells[re.sub(r"(the )?judge \d", "a member", name)].append(share)
        for name, shares in cells.items():
            low, high = f"{min(shares):.1f}", f"{max(shares):.1f}"
            groups[name].append(low if low == high else f"{low} to {high}")
    titles = [f"{one['what'].removeprefix('juries, ')} ({one['n_datasets']:,})" for one in shown]
    return [
        f"| interval of | {' | '.join(titles)} |",
        f"| --- |{' --: |' * len(shown)}",
        *(f"| {name} | {' | '.join(cells)} |" for name, cells in groups.items()),
    ]


def write_page(simulated: Sequence[Mapping[str, Any]]) -> None:
    """Put the coverage of juries into docs/calibration.md."""
    head, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
    table = "\n".join(coverage_lines(simulated)) + "\n"
    DOCUMENT.write_text(head + BEGIN + table + END + rest.split(END)[1], encoding="utf-8")


def _simulated(n_datasets: int, only: str, path: Path | None) -> list[dict[str, Any]]:
    """Run the simulations named, and take others from `path`, as far as that has them."""
    kept = json.loads(path.read_text("utf-8"))["simulated"] if path and path.exists() else []
    before = {one["what"]: one for one in kept}
    ways: dict[str, Any] = {one.name: partial(simulate_juries, setting=one) for one in SETTINGS} | {
        "judge-aware ranking": simulate_ranking,
        "baselines": simulate_gains,
    }
    found = []
    for name, simulate in ways.items():
        if n_datasets and only in name:
            found.append(simulate(n_datasets))
        elif name in before:
            found.append(before[name])
    return found


def main() -> int:
    """Run the simulations and data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=Path, nargs="+")
    parser.add_argument("--labels", type=Path, default=DATA / "labels.jsonl")
    parser.add_argument("--annotators", default="expert*")
    parser.add_argument("--summaries", type=Path)
    parser.add_argument("--clusters", type=Path)
    parser.add_argument("--no-local", action="store_true")
    parser.add_argument("--datasets", type=int, default=0)
    parser.add_argument("--only", default="", help="simulations whose name has this; others stay")
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    own = given.judgements is None
    judgements: Any = recorded(local=not given.no_local) if own else given.judgements
    began = time.perf_counter()
    report = fj.calibrate(
        judgements,
        given.labels,
        annotators=given.annotators,
        summaries=DATA / "summaries.jsonl" if own else given.summaries,
        clusters=DATA / "clusters.jsonl" if own else given.clusters,
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
    text += [to_markdown(one) for group in report["groups"] for one in gains_tables(group)]
    simulated = _simulated(given.datasets, given.only, given.json)
    text += [to_markdown(coverage_table(found)) for found in simulated]
    print("\n\n".join(text))
    if given.page:
        given.page.write_text("\n\n".join(text) + "\n", encoding="utf-8")
    if given.json:
        found = {
            "machine": describe_machine(),
            "seconds": seconds,
            "gains": {group_title(one): one["over_baselines"] for one in report["groups"]},
            "juries": [{**one, "fitted": None} for one in report["juries"]],
            "simulated": simulated,
        }
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        write_page(simulated)
    return 0


if __name__ == "__main__":
    sys.exit(main())
