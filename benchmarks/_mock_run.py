"""One run of ``judge`` over a model in this process or on loopback: its time and memory.

    python benchmarks/_mock_run.py N FOLDER [--run NAME] [--port N] [--concurrency N] ...

Writes `N` items with prompts of about 10 KB in FOLDER, judges them with all parts of a real run
(input files, prompts, cache, retries, budget, graph, checkpoints, records, results file) and prints
one line of JSON. Another ``--run`` in the same folder finds every reply in the cache.
With ``--build`` it runs ``build`` on `N` clusters of two short articles instead.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.engine import models
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.ports import Completion, CompletionRequest
from fairjudge.run.jury import judge_files

SYSTEMS = 10
"""Summaries of each article."""
ARTICLE_CHARACTERS = 8700
"""With the instructions and the summary a prompt has about 10,000 characters."""
CALLS_PER_PAIR = 4
"""One for the question, one for the answers of each article, one for their groups."""
STORY = "The bridge closed on Monday. The council blames the rain."
QUESTION = {"question": "Why did the bridge close?", "articles": [1, 2]}
ANSWER = {"question": 1, "quote": "The council blames the rain", "speaker": "The council"}
BUILDING = {
    '{"questions"': {"questions": [QUESTION]},
    '{"answers"': {"answers": [ANSWER | {"stance": "reports", "gloss": None}]},
    '{"invalid"': {
        "invalid": [],
        "groups": [{"label": f"the rain, {n}", "answers": [n]} for n in (1, 2)],
    },
}
"""What a reply must be by what its prompt asks for."""
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
    """Yield one summary per item."""
    stock = words(300, seed=2)
    for n in range(n_items):
        cluster, system = divmod(n, SYSTEMS)
        yield {"eid": f"e{cluster}", "system": f"s{system}", "text": f"Item {n}: {stock}"}


def pairs(n_items: int) -> Iterator[dict[str, Any]]:
    """Yield clusters of two articles to build references from."""
    for n in range(n_items):
        articles = [{"aid": f"{n}-{k}", "title": f"{n}, {k}", "content": STORY} for k in range(2)]
        yield {"eid": f"e{n}", "articles": articles}


def write(path: Path, rows: Iterator[dict[str, Any]]) -> Path:
    """Write `rows` as JSONL."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def judge(folder: Path, *, run: str, **model: Any) -> dict[str, Any]:
    """Judge the items in `folder`, and return time, memory and counts."""
    options = {"target": "openai:mock", "base_url": "http://127.0.0.1:9/v1"} | model
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = judge_files(
        folder / "clusters.jsonl",
        folder / "summaries.jsonl",
        folder / f"{run}.jsonl",
        options=JudgeOptions(aspect="faithfulness", protocol="likert"),
        models=[Model(cache=folder / "cache", **options)],
        run=folder / run,
        skip_bad=False,
        progress=lambda _: lambda _: None,
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    results = (folder / f"{run}.jsonl").read_bytes()
    return {
        "n": len(outcome.judgements),
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "n_unscored": outcome.n_unscored,
        "n_calls": outcome.spent.n_calls if outcome.spent else 0,
        "sha256": hashlib.sha256(results).hexdigest(),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def build(folder: Path, *, run: str, **model: Any) -> dict[str, Any]:
    """Build a reference for each pair in `folder`, and return time, memory and counts."""
    from fairjudge.options.building import BuildOptions
    from fairjudge.run.building import build_file

    options = {"target": "openai:mock", "base_url": "http://127.0.0.1:9/v1"} | model
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = build_file(
        folder / "pairs.jsonl",
        folder / f"{run}.jsonl",
        options=BuildOptions(n_questions=1),
        model=Model(cache=folder / "cache", **options),
        run=folder / run,
        skip_bad=False,
    )
    return {
        "n": len(outcome.clusters),
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "n_empty": sum(built.why_none is not None for built in outcome.clusters),
        "n_calls": outcome.spent.n_calls if outcome.spent else 0,
    }


class _Mock(ScriptedBackend):
    """A model in this process, which it kills by SIGKILL after a number of calls."""

    def __init__(self, answer: Callable[[str], str], *, dies_after: int | None) -> None:
        super().__init__()
        self._answer = answer
        self._left = dies_after
        self.first_call_at: float | None = None

    async def complete(self, request: CompletionRequest) -> Completion:
        """Return an answer computed from the prompt."""
        if self.first_call_at is None:
            self.first_call_at = time.perf_counter()
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return Completion(text=self._answer(request.messages[-1].content))


def verdict_on(prompt: str) -> str:
    """Return a score that depends on the prompt's length."""
    return REPLY.format(len(prompt) % 5 + 1)


def part_of_reference(prompt: str) -> str:
    """Return an answer to the prompt of a step of building."""
    return next(json.dumps(reply) for key, reply in BUILDING.items() if key in prompt)


def prepare(n_items: int, folder: Path) -> None:
    """Write the input files, unless they exist."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "summaries.jsonl").exists():
        write(folder / "clusters.jsonl", clusters(n_items))
        write(folder / "summaries.jsonl", summaries(n_items))
        write(folder / "pairs.jsonl", pairs(n_items))


def main() -> None:
    """Read the arguments and print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("n", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--run", default="first")
    parser.add_argument("--port", type=int)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--rpm", type=int)
    parser.add_argument("--dies-after", type=int)
    parser.add_argument("--build", action="store_true")
    arguments = parser.parse_args()
    prepare(arguments.n, arguments.folder)
    model: dict[str, Any] = {
        "concurrency": arguments.concurrency,
        "requests_per_minute": arguments.rpm,
    }
    answer = part_of_reference if arguments.build else verdict_on
    mock = _Mock(answer, dies_after=arguments.dies_after)
    if arguments.port is None:
        setattr(models, "open_backend", lambda *_, **__: mock)  # noqa: B010  # not exported
    else:
        model["base_url"] = f"http://127.0.0.1:{arguments.port}/v1"
    if (
        arguments.build
    ):  # before the clock, as what judging needs; not above, for the memory it takes
        import_module("fairjudge.run.building")
    begun = time.perf_counter()
    result = (build if arguments.build else judge)(arguments.folder, run=arguments.run, **model)
    first = mock.first_call_at
    result["first_call_seconds"] = None if first is None else first - begun
    print(json.dumps(result))


if __name__ == "__main__":
    main()
