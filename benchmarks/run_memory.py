"""Memory of one run with many judgements: resume, record, score, write.

    python benchmarks/run_memory.py [N ...]

For each N, N tasks are judged in their own process by a judge that answers immediately with a reply
of about 250 characters. Prints the peak memory minus the memory before the first task. The tasks
are realistic: 40 systems, 25 articles per cluster, each article judged separately.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fairjudge.datasets import write_records
from fairjudge.domain import Article, Cluster, Judgement, JudgeTask, Summary, Unscored
from fairjudge.engine.in_process import judge_tasks
from fairjudge.engine.recorded import JudgementBook
from fairjudge.engine.runs import open_run
from fairjudge.judges.llm import judgement_of
from fairjudge.judges.ports import Reply
from fairjudge.judges.tasks import plan_tasks, resolve_plan
from fairjudge.options.models import Model
from fairjudge.scores.leaderboards import leaderboard
from fairjudge.text.sentences import sentence_texts

N_SYSTEMS, N_ARTICLES = 40, 25
SENTENCE = "Every statement can be found in the articles, as far as it goes. "
WORDS = SENTENCE * 4


class AtOnce:
    """A judge that answers immediately, without a model."""

    name = "scripted"
    signature = "judge:scripted;" + "a" * 80

    async def ask(self, task: JudgeTask) -> Reply:
        """See `fairjudge.judges.ports.Judge`."""
        return Reply(text=f"{WORDS}{task.unit}\nVerdict: {1 + hash(task.unit) % 5}")

    def read(self, task: JudgeTask, reply: Reply) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        value = float(reply.text[-1])
        return judgement_of(
            task, judge=self.name, signature=self.signature, value=value, raw=reply.text
        )

    async def repair(self, task: JudgeTask, reply: Reply) -> Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        raise NotImplementedError

    def unscored_judgement(self, task: JudgeTask, outcome: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        raise NotImplementedError


def tasks(n: int) -> tuple[JudgeTask, ...]:
    """Return about `n` tasks."""
    n_clusters = max(1, n // (N_SYSTEMS * N_ARTICLES))
    clusters = [
        Cluster(
            eid=f"event-{number}",
            articles=tuple(
                Article(aid=f"article-{a}", content=SENTENCE * 8) for a in range(N_ARTICLES)
            ),
        )
        for number in range(n_clusters)
    ]
    summaries = [
        Summary(eid=cluster.eid, system=f"system-{s}", text=f"{WORDS} {s}")
        for cluster in clusters
        for s in range(N_SYSTEMS)
    ]
    plan = resolve_plan("faithfulness", protocol="likert", reference_unit="article")
    return plan_tasks(clusters, summaries, plan, split_sentences=sentence_texts)


def peak_mib() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def judge(n: int, folder: Path) -> str:
    """Judge `n` tasks in `folder` and print time and memory."""
    initial_mib, begun = peak_mib(), time.perf_counter()
    work = tasks(n)
    planned_mib = peak_mib()
    model = Model(cache=folder)
    with open_run(folder / "run", command="judge", model=model, identity={}) as run:
        book = JudgementBook(run, work)
        await judge_tasks(
            book, judge=AtOnce(), fallback=None, concurrency=64, progress=lambda _: None
        )
    judged_mib = peak_mib()
    standings = leaderboard(book.ratings, unit="summary").standings
    n_ranked = sum(standing.ranks is not None for standing in standings)
    write_records(folder / "judgements.jsonl", book.judgements())
    seconds = time.perf_counter() - begun
    size = sum(file.stat().st_size for file in (folder / "run").glob("checkpoints*")) / 2**20
    peaks = {"planned": planned_mib, "judged": judged_mib, "in all": peak_mib()}
    parts = ", ".join(f"{name} {peak - initial_mib:.0f}" for name, peak in peaks.items())
    return (
        f"{len(work):>9,} judgements, {n_ranked} of {len(standings)} systems ranked: "
        f"{initial_mib:.0f} MiB at first; largest increase in MiB: {parts}; "
        f"checkpoints {size:.1f} MiB; {seconds:.0f} s"
    )


def main() -> None:
    """Judge each number of tasks in its own process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=int, nargs="*", default=[20_000, 200_000])
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    for n in arguments.n:
        if arguments.here:
            with tempfile.TemporaryDirectory() as folder:
                print(asyncio.run(judge(n, Path(folder))), flush=True)
        else:
            subprocess.run([sys.executable, __file__, "--here", str(n)], check=True)


if __name__ == "__main__":
    main()
