"""How soon work begins: imports, help, and killed runs of 10,000 items and of 10,000 clusters.

python benchmarks/start_up.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _mock_run import CALLS_PER_PAIR
from _running import Json, finish, mock_run

N_ITEMS, N_DONE = 10_000, 9_000


def quickest(*arguments: str, tries: int = 7) -> float:
    """Return the seconds of the quickest of several runs: what others do slows the rest."""
    seconds = []
    for _ in range(tries):
        begun = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def main() -> None:
    """Measure, print, keep."""
    results: Json = {
        "python_seconds": quickest("-c", "pass"),
        "import_seconds": quickest("-c", "import fairjudge"),
        "help_seconds": quickest("-m", "fairjudge", "--help"),
    }
    with tempfile.TemporaryDirectory() as name:
        mock_run(Path(name), N_ITEMS, "--dies-after", N_DONE, dies=True)
        resumed = mock_run(Path(name), N_ITEMS)
        build = ("--build", "--run", "build")
        n_calls = N_DONE * CALLS_PER_PAIR
        mock_run(Path(name), N_ITEMS, *build, "--dies-after", n_calls, dies=True)
        rebuilt = mock_run(Path(name), N_ITEMS, *build)
    again = resumed["n_calls"] - (N_ITEMS - N_DONE)
    rows = [
        ("import fairjudge, s", f"{results['import_seconds']:.2f}", "0.3"),
        ("fairjudge --help, s", f"{results['help_seconds']:.2f}", "0.3"),
        (
            "killed at 9,000 of 10,000: first new call, s",
            f"{resumed['first_call_seconds']:.2f}",
            "1",
        ),
        ("completed calls asked again", str(again), "0"),
        (
            "killed at 9,000 of 10,000 clusters: first new call, s",
            f"{rebuilt['first_call_seconds']:.2f}",
            "1",
        ),
    ]
    results |= {"resumed": resumed, "rebuilt": rebuilt}
    finish("start_up", results, title="Beginning", rows=rows)


if __name__ == "__main__":
    main()
