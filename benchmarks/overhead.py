"""Overhead of a run in addition to the model's time, compared with two other libraries.

    python benchmarks/overhead.py [--without-others]

The model answers immediately, in the process. All else is as in ``fairjudge judge``: input files,
prompts of 10,000 characters, cache, records, checkpoints and results on disk. inspect_ai and
DeepEval are installed by pip into a temporary environment.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _mock_run import words
from _running import HERE, Json, each_ms, finish, mock_run

from fairjudge.backends.caching import Caching
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.cache.disk import ReplyCache
from fairjudge.ports import CompletionRequest, Message, ModelRef

SMALL, LARGE = 1_000, 10_000
OTHERS = (
    ("inspect_ai", "_by_inspect_ai.py", 300, ()),
    ("DeepEval, nothing kept", "_by_deepeval.py", 1_000, ()),
    ("DeepEval, kept after each case", "_by_deepeval.py", 200, ("--keep",)),
)


def ours(folder: Path) -> Json:
    """Judge 1,000 and 10,000 items, and the 10,000 again from the cache."""
    results = {
        "small": mock_run(folder / "small", SMALL),
        "large": mock_run(folder / "large", LARGE),
        "cached": mock_run(folder / "large", LARGE, "--run", "again"),
    }
    if results["cached"]["sha256"] != results["large"]["sha256"] or results["cached"]["n_calls"]:
        raise SystemExit("the cached run differs from the first, or made calls")
    return results


def single_hits(folder: Path, n: int = 3_000) -> float:
    """Return the median seconds of a cache hit: key of a 10,000-character prompt, read, check."""
    target = ModelRef(provider="scripted", model="m")
    cache = ReplyCache(folder / "hits")
    backend = Pipeline(ScriptedBackend(lambda _: "Verdict: 3"), Caching(cache=cache))
    requests = [
        CompletionRequest(
            target=target,
            messages=(Message(role="user", content=f"{i} " + words(10_000, seed=i)),),
        )
        for i in range(50)
    ]

    async def measure() -> list[float]:
        for request in requests:
            await backend.complete(request)
        seconds = []
        for i in range(n):
            begun = time.perf_counter()
            await backend.complete(requests[i % len(requests)])
            seconds.append(time.perf_counter() - begun)
        return seconds

    try:
        return statistics.median(asyncio.run(measure()))
    finally:
        cache.close()


def others(folder: Path) -> list[Json]:
    """Install the other libraries in their own environment, and run the same work with them."""
    python = folder / "others" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", folder / "others"], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "inspect_ai", "deepeval"], check=True, stderr=subprocess.DEVNULL)
    results = []
    for name, script, n, options in OTHERS:
        command = [python, HERE / script, str(n), *options]
        process = subprocess.run(command, capture_output=True, check=True, cwd=folder)
        results.append({"name": name, **json.loads(process.stdout.splitlines()[-1])})
    return results


def rows_of(result: Json) -> list[tuple[str, str, str]]:
    """Return the measurements with their targets."""
    small, large, cached = result["small"], result["large"], result["cached"]
    return [
        ("10,000 items, ms per item", f"{each_ms(large):.2f}", "1.0"),
        ("the same in CPU time", f"{each_ms(large, 'cpu_seconds'):.2f}", ""),
        ("1,000 items, ms per item", f"{each_ms(small):.2f}", ""),
        (
            "ratio of the two, 10,000 to 1,000 items",
            f"{each_ms(large) / each_ms(small):.2f}",
            "1.2",
        ),
        ("peak memory at 10,000 items, MiB", f"{large['peak_mib']:.0f}", "300"),
        ("10,000 cached items, seconds", f"{cached['wall_seconds']:.1f}", "5"),
        ("calls made by that run", f"{cached['n_calls']}", "0"),
        ("one cache hit, median, microseconds", f"{result['hit_seconds'] * 1e6:.0f}", "60"),
    ]


def main() -> None:
    """Measure, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--without-others", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = ours(folder)
        result["hit_seconds"] = single_hits(folder)
        result["others"] = [] if arguments.without_others else others(folder)
    libraries = [
        (f"ms per item, {library['name']} {library['version']}", f"{each_ms(library):.2f}", "")
        for library in result["others"]
    ]
    finish("overhead", result, title="Overhead of a run", rows=[*rows_of(result), *libraries])


if __name__ == "__main__":
    main()
