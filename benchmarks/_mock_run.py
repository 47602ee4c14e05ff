"""One run of ``judge`` over a model in this process: what the time and memory of a run are.

    python benchmarks/_mock_run.py N FOLDER [--again]

Makes `N` items with prompts of about 10 KB in FOLDER, judges them through everything that a run goes
through (reading, prompts, cache, retries, budget, graph, checkpoints, records, results file) and
prints one line of JSON. `--again` runs the same items once more over a cache that has every reply.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairjudge.app import models
from fairjudge.app.judging import JudgeOptions, judge_files
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.protocols import CompletionRequest

SYSTEMS = 10
"""Summaries of each article."""
ARTICLE_CHARACTERS = 8700
"""With the instructions and the summary a prompt has about 10,000 characters."""
REPLY = "The summary follows the article closely and adds nothing of its own.\nVerdict: {}"


def words(n_characters: int, *, seed: int) -> str:
    """Return made-up text of about that length."""
    rng = random.Random(seed)  # noqa: S311
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces: list[str] = []
    length = 0
    while length < n_characters:
        word = "".join(rng.choices(letters, k=rng.randint(3, 10)))
        pieces.append(word)
        length += len(word) + 1
    return " ".join(pieces)[:n_characters] + "."


def clusters(n_items: int) -> Iterator[dict[str, Any]]:
    """Yield a cluster of one article for every `SYSTEMS` items."""
    stock = words(ARTICLE_CHARACTERS, seed=1)
    for n in range(-(-n_items // SYSTEMS)):
        content = f"Report {n}. {stock}"
        yield {"eid": f"e{n}", "articles": [{"aid": f"a{n}", "title": "", "content": content}]}


def summaries(n_items: int) -> Iterator[dict[str, Any]]:
    """Yield as many summaries as items."""
    stock = words(300, seed=2)
    for n in range(n_items):
        cluster, system = divmod(n, SYSTEMS)
        yield {"eid": f"e{cluster}", "system": f"s{system}", "text": f"Item {n}: {stock}"}


def mock(request: CompletionRequest) -> str:
    """Answer by a number that depends on the whole prompt's end."""
    return REPLY.format(len(request.messages[-1].content) % 5 + 1)


def write(path: Path, rows: Iterator[dict[str, Any]]) -> Path:
    """Write `rows` as JSONL."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def judge(folder: Path, *, run: str, backend: ScriptedBackend) -> dict[str, Any]:
    """Judge the items in `folder`, and return what that took."""
    models.open_backend = lambda *_, **__: backend  # type: ignore[assignment]
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = judge_files(
        folder / "clusters.jsonl",
        folder / "summaries.jsonl",
        folder / f"{run}.jsonl",
        options=JudgeOptions(aspect="faithfulness", protocol="likert"),
        model=models.ModelOptions(
            backend="openai:mock", base_url="http://127.0.0.1:9/v1", cache=folder / "cache"
        ),
        run=folder / run,
        skip_bad=False,
        progress=lambda _: lambda _: None,
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    results = (folder / f"{run}.jsonl").read_bytes()
    return {
        "n": len(outcome.judgements),
        "wall_s": wall,
        "cpu_s": cpu,
        "n_unscored": outcome.n_unscored,
        "sha256": hashlib.sha256(results).hexdigest(),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Read the arguments and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("n", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    if not (given.folder / "clusters.jsonl").exists():
        write(given.folder / "clusters.jsonl", clusters(given.n))
        write(given.folder / "summaries.jsonl", summaries(given.n))
    n_calls = 0

    def counted(request):
        nonlocal n_calls
        n_calls += 1
        return mock(request)

    backend = ScriptedBackend(counted)
    backend.requests = type("Nothing", (list,), {"append": lambda *_: None})()
    os.environ.setdefault("OPENAI_API_KEY", "x")
    found = judge(given.folder, run="second" if given.again else "first", backend=backend)
    print(json.dumps(found | {"n_calls": n_calls}))


if __name__ == "__main__":
    main()
