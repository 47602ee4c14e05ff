"""Checklist compared with binary questions, on the human labels of Summary of a Haystack.

Whole summaries are drawn with a seed until they have the required number of labels (60). Each is
judged twice by the same model: with a checklist of all its labelled insights, one call per summary,
and with binary questions, one call per insight. Prints the agreement of both with the labels, with
95 % intervals over summaries, and the paired difference: if partial coverage counts as covered, if
only full coverage does, and (checklist only) in three levels. Recorded judges' binary agreement on
all 1,419 labels of the data set: gemini-1.5-pro .858, gpt-4o .829, gpt-3.5 .765.

    python benchmarks/summhay_checklist.py --backend openai:my-model --base-url http://127.0.0.1:8000/v1
        [--data FILE] [--labels 60] [--seed 0] [--cache DIR] [--json FILE]

``--backend local`` uses the local judge. Replies are cached, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from _data import CONVERSATIONS, read_rows
from _figures import interval_text
from _machine import write_results

from fairjudge.domain import Answer, Judgement, JudgeTask, ProtocolName, QuestionAnswers
from fairjudge.engine.models import open_models
from fairjudge.judges.asking import ReferenceUnit
from fairjudge.judges.ports import Judge, Reply, as_writing_judge
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.records.results import figure
from fairjudge.run.judges import make_judge
from fairjudge.stats.clustered import clip_interval, clustered_mean

QUESTION = "Which of these findings about the documents does the summary give?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A summary, its insights, and the human label of each: 1, 0.5 or 0."""

    eid: str
    system: str
    text: str
    insights: tuple[str, ...]
    labels: tuple[float, ...]


def draw(path: Path, *, n_labels: int, seed: int) -> list[Item]:
    """Return whole summaries in random order until they have `n_labels` labels."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in read_rows(path):
        groups[row["eid"], row["system"]].append(row)
    keys = sorted(groups)
    items: list[Item] = []
    for place in np.random.default_rng(seed).permutation(len(keys)):
        if sum(len(item.labels) for item in items) >= n_labels:
            break
        eid, system = keys[place]
        rows = groups[eid, system]
        items.append(
            Item(
                eid=eid,
                system=system,
                text=rows[0]["text"],
                insights=tuple(row["unit"] for row in rows),
                labels=tuple(float(row["covered"]) for row in rows),
            )
        )
    return items


def tasks(item: Item) -> tuple[JudgeTask, tuple[JudgeTask, ...]]:
    """Return the checklist task on a summary, and one binary task per insight."""
    groups = tuple((Answer(aid="source", answer=insight),) for insight in item.insights)
    whole = JudgeTask(
        eid=item.eid,
        systems=(item.system,),
        texts=(item.text,),
        aspect="coverage",
        protocol="checklist",
        unit="summary",
        questions=(QuestionAnswers(question=QUESTION, answer_groups=groups),),
    )
    single = tuple(
        replace(
            whole,
            protocol="binary",
            unit=f"answer:0.{g}",
            questions=(QuestionAnswers(question=QUESTION, answer_groups=(group,)),),
        )
        for g, group in enumerate(groups)
    )
    return whole, single


async def judge_with_repair(judge: Judge, task: JudgeTask) -> Judgement:
    """Return a task's judgement; ask again if the reply is unparsable, as ``fairjudge judge``."""
    first = await judge.ask(task)
    outcome = as_writing_judge(judge).read(task, first) if isinstance(first, Reply) else first
    if isinstance(first, Reply) and not isinstance(outcome, Judgement):
        second_reply = await as_writing_judge(judge).repair(task, first)
        if isinstance(second_reply, Reply):
            second = as_writing_judge(judge).read(task, second_reply)
            outcome = second if isinstance(second, Judgement) else outcome
    return outcome if isinstance(outcome, Judgement) else judge.unscored_judgement(task, outcome)


async def ask(items: Sequence[Item], model: Model) -> list[dict[str, Any]]:
    """Return one row per label, with both methods' values; None if unscored."""
    async with open_models(model) as models:

        def judge_of(protocol: ProtocolName, unit: ReferenceUnit) -> Judge:
            options = JudgeOptions(aspect="coverage", protocol=protocol, reference_unit=unit)
            (plan,) = options.plans()
            return make_judge(models, options, plan=plan)

        checklist, binary = judge_of("checklist", "qa_pairs"), judge_of("binary", "qa_pair")

        async def rows(item: Item) -> list[dict[str, Any]]:
            whole, single = tasks(item)
            checklist_judgement, *binary_judgements = await asyncio.gather(
                judge_with_repair(checklist, whole),
                *(judge_with_repair(binary, task) for task in single),
            )
            entries = [entry.covered for entry in checklist_judgement.checklist or ()]
            return [
                {
                    "summary": f"{item.eid} {item.system}",
                    "label": label,
                    "checklist": entries[place] if entries else None,
                    "binary": binary_judgements[place].value,
                }
                for place, label in enumerate(item.labels)
            ]

        results = [
            row for item_rows in await asyncio.gather(*map(rows, items)) for row in item_rows
        ]
        spent = models.cost()
        if spent is not None:
            print(f"calls: {spent.n_calls}, from the cache: {spent.n_cached}", file=sys.stderr)
        return results


def agreement(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return both methods' agreement with the labels, on the labels that both scored."""
    scored_rows = [
        row for row in rows if row["checklist"] is not None and row["binary"] is not None
    ]
    documents = [row["summary"] for row in scored_rows]

    def share(hits: Sequence[float], *, minimum: float = 0.0) -> dict[str, Any]:
        return figure(clip_interval(clustered_mean(hits, documents), minimum, 1.0))

    def hits(way: str, minimum: float) -> list[float]:
        return [float((row[way] >= minimum) == (row["label"] >= minimum)) for row in scored_rows]

    results: dict[str, Any] = {"n": len(scored_rows), "n_unscored": len(rows) - len(scored_rows)}
    for name, minimum in (("part counts", 0.5), ("whole counts", 1.0)):
        by_checklist, by_binary = hits("checklist", minimum), hits("binary", minimum)
        results[name] = {
            "checklist": share(by_checklist),
            "binary": share(by_binary),
            "checklist minus binary": share(
                [a - b for a, b in zip(by_checklist, by_binary, strict=True)], minimum=-1.0
            ),
        }
    exact = [float(row["checklist"] == row["label"]) for row in scored_rows]
    results["three levels"] = {"checklist": share(exact)}
    return results


def main() -> None:
    """Print the agreement of both methods."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backend", default="local")
    parser.add_argument("--base-url")
    parser.add_argument("--data", type=Path, default=CONVERSATIONS)
    parser.add_argument("--labels", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if not arguments.data.exists():
        sys.exit(f"no labels at {arguments.data}: give them by --data")
    items = draw(arguments.data, n_labels=arguments.labels, seed=arguments.seed)
    model = Model(
        target=arguments.backend,
        base_url=arguments.base_url,
        cache=arguments.cache,
        concurrency=arguments.concurrency,
        timeout=arguments.timeout,
    )
    rows = asyncio.run(ask(items, model))
    result = agreement(rows)
    print(f"{result['n']} labels of {len(items)} summaries, {result['n_unscored']} unscored")
    for name in ("part counts", "whole counts", "three levels"):
        for way, share in result[name].items():
            print(f"{name:13} {way:23} {interval_text(share)}")
    write_results(arguments.json, {**result, "rows": rows})


if __name__ == "__main__":
    main()
