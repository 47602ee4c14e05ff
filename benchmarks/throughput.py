"""Calls at once against a server on loopback: throughput, backing off, and limits a minute.

    python benchmarks/throughput.py

The server (`_stub.py`) is a process of its own and takes a part of the same machine.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from _running import Json, finish, mock_run, stub

LATENCY_SECONDS = 0.2
AT_ONCE = 256
N_ITEMS = 80 * AT_ONCE
MAX_TAKEN = 64
RPM, N_PACED = 3_000, 4_000


def full_speed(folder: Path) -> Json:
    """Ask as fast as 256 calls at once allow, from the first request to the last reply."""
    with stub("--latency", LATENCY_SECONDS) as (port, counts):
        run = mock_run(folder, N_ITEMS, "--port", port, "--concurrency", AT_ONCE)
    ideal = N_ITEMS / AT_ONCE * LATENCY_SECONDS
    return {"run": run, "server": counts, "ideal_seconds": ideal}


def backing_off(folder: Path) -> Json:
    """Ask a server that takes 64 calls at once with 256; it answers 429 to the others."""
    options = ("--latency", LATENCY_SECONDS, "--refuse-above", MAX_TAKEN)
    with stub(*options) as (port, counts):
        run = mock_run(folder, N_PACED, "--port", port, "--concurrency", AT_ONCE)
    ideal = N_PACED / MAX_TAKEN * LATENCY_SECONDS
    return {"run": run, "server": counts, "ideal_seconds": ideal}


def paced(folder: Path) -> Json:
    """Ask under a limit of requests a minute for longer than a minute."""
    with stub("--latency", LATENCY_SECONDS) as (port, counts):
        options = ("--port", port, "--concurrency", AT_ONCE, "--rpm", RPM)
        run = mock_run(folder, N_PACED, *options)
    return {"run": run, "server": counts, "ideal_seconds": N_PACED / RPM * 60.0}


def main() -> None:
    """Measure, print, keep."""
    with tempfile.TemporaryDirectory() as name:
        fast, refused, slow = (
            measure(Path(name) / measure.__name__) for measure in (full_speed, backing_off, paced)
        )
    share = fast["ideal_seconds"] / fast["server"]["seconds"]
    share_kept = refused["ideal_seconds"] / refused["server"]["seconds"]
    answered, n_refused = refused["server"]["n_answered"], refused["server"]["n_refused"]
    rows = [
        ("throughput of 256 calls at once, % of ideal", f"{100 * share:.0f}", "95"),
        ("calls a second", f"{N_ITEMS / fast['server']['seconds']:.0f}", f"{AT_ONCE * 5}"),
        ("a server that takes 64: % of its throughput", f"{100 * share_kept:.0f}", ""),
        ("calls refused there, %", f"{100 * n_refused / (answered + n_refused):.1f}", ""),
        ("items left unscored there", f"{refused['run']['n_unscored']}", "0"),
        (
            f"most requests in a minute, --rpm {RPM}",
            f"{slow['server']['most_in_a_minute']}",
            f"{RPM}",
        ),
        (
            "the allowance used, %",
            f"{100 * slow['ideal_seconds'] / slow['server']['seconds']:.0f}",
            "",
        ),
    ]
    results = {"full_speed": fast, "backing_off": refused, "paced": slow}
    finish("throughput", results, title="Calls at once", rows=rows)


if __name__ == "__main__":
    main()
