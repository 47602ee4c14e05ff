"""Start-up time: imports, help, and resumed runs of 10,000 items and of 10,000 clusters.

python benchmarks/start_up.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from _machine import quickest
from _mock_run import CALLS_PER_PAIR
from _running import Json, finish, mock_run

N_ITEMS, N_DONE = 10_000, 9_000


def seconds(*arguments: str) -> float:
    """Return the least seconds of several runs of Python."""
    command = [sys.executable, *arguments]
    return quickest(
        lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), repeats=7
    )


def rows_of(result: Json) -> list[tuple[str, str, str]]:
    """Return the measurements with their targets."""
    resumed = result["resumed"]
    return [
        ("Python alone, seconds", f"{result['python_seconds']:.2f}", ""),
        ("`import fairjudge`, seconds", f"{result['import_seconds']:.2f}", "0.3"),
        ("`fairjudge --help`, seconds", f"{result['help_seconds']:.2f}", "0.3"),
        (
            "killed after 9,000 of 10,000 calls: until the next new call, seconds",
            f"{resumed['first_call_seconds']:.2f}",
            "1",
        ),
        ("repeated calls that were completed", f"{resumed['n_calls'] - 1000}", "0"),
        (
            "`build` killed after 9,000 of 10,000 clusters: until the next new call, seconds",
            f"{result['rebuilt']['first_call_seconds']:.2f}",
            "1",
        ),
    ]


def main() -> None:
    """Measure, print and store the results."""
    results: Json = {
        "python_seconds": seconds("-c", "pass"),
        "import_seconds": seconds("-c", "import fairjudge"),
        "help_seconds": seconds("-m", "fairjudge", "--help"),
    }
    with tempfile.TemporaryDirectory() as name:
        mock_run(Path(name), N_ITEMS, "--dies-after", N_DONE, dies=True)
        resumed = mock_run(Path(name), N_ITEMS)
        build = ("--build", "--run", "build")
        n_calls = N_DONE * CALLS_PER_PAIR
        mock_run(Path(name), N_ITEMS, *build, "--dies-after", n_calls, dies=True)
        rebuilt = mock_run(Path(name), N_ITEMS, *build)
    results |= {"resumed": resumed, "rebuilt": rebuilt}
    finish("start_up", results, title="Beginning", rows=rows_of(results))


if __name__ == "__main__":
    main()
