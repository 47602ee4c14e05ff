"""Concurrent calls to a server on loopback: throughput, back-off, and limits per minute.

    python benchmarks/throughput.py

The server (`_stub.py`) runs in its own process on the same machine.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from _running import Json, each_ms, finish, mock_run, stub

LATENCY_SECONDS = 0.2
AT_ONCE = 256
N_ITEMS = 80 * AT_ONCE
MAX_TAKEN = 64
RPM, N_PACED = 3_000, 4_000


def full_speed(folder: Path) -> Json:
    """Measure from the first request to the last reply, with 256 concurrent calls."""
    with stub("--latency", LATENCY_SECONDS) as (port, counts):
        run = mock_run(folder, N_ITEMS, "--port", port, "--concurrency", AT_ONCE)
    ideal = N_ITEMS / AT_ONCE * LATENCY_SECONDS
    return {"run": run, "server": counts, "ideal_seconds": ideal}


def backing_off(folder: Path) -> Json:
    """Send 256 concurrent calls to a server that allows 64 and answers 429 to the others."""
    options = ("--latency", LATENCY_SECONDS, "--refuse-above", MAX_TAKEN)
    with stub(*options) as (port, counts):
        run = mock_run(folder, N_PACED, "--port", port, "--concurrency", AT_ONCE)
    ideal = N_PACED / MAX_TAKEN * LATENCY_SECONDS
    return {"run": run, "server": counts, "ideal_seconds": ideal}


def paced(folder: Path) -> Json:
    """Run for more than a minute under a limit of requests per minute."""
    with stub("--latency", LATENCY_SECONDS) as (port, counts):
        options = ("--port", port, "--concurrency", AT_ONCE, "--rpm", RPM)
        run = mock_run(folder, N_PACED, *options)
    return {"run": run, "server": counts, "ideal_seconds": N_PACED / RPM * 60.0}


def rows_of(result: Json) -> list[tuple[str, str, str]]:
    """Return the measurements with their targets."""
    fast, refused, slow = result["full_speed"], result["backing_off"], result["paced"]
    server = refused["server"]
    n_asked = server["n_answered"] + server["n_refused"]
    return [
        (
            f"{N_ITEMS:,} calls, {AT_ONCE} concurrent: share of the ideal throughput, %",
            f"{100 * fast['ideal_seconds'] / fast['server']['seconds']:.0f}",
            "95",
        ),
        ("calls per second", f"{N_ITEMS / fast['server']['seconds']:,.0f}", ""),
        ("total CPU ms per call", f"{each_ms(fast['run'], 'cpu_seconds'):.2f}", ""),
        (
            f"server that rejects more than {MAX_TAKEN} calls at once: share of its throughput, %",
            f"{100 * refused['ideal_seconds'] / server['seconds']:.0f}",
            "",
        ),
        ("calls that it rejected, %", f"{100 * server['n_refused'] / n_asked:.1f}", ""),
        ("items without a verdict", f"{refused['run']['n_unscored']}", "0"),
        (
            f"`--rpm {RPM}`: maximum requests in any minute",
            f"{slow['server']['most_in_a_minute']}",
            f"{RPM}",
        ),
        (
            f"share of this limit used over {N_PACED:,} calls, %",
            f"{100 * slow['ideal_seconds'] / slow['server']['seconds']:.0f}",
            "",
        ),
    ]


def main() -> None:
    """Measure, print and store the results."""
    with tempfile.TemporaryDirectory() as name:
        fast, refused, slow = (
            measure(Path(name) / measure.__name__) for measure in (full_speed, backing_off, paced)
        )
    results = {"full_speed": fast, "backing_off": refused, "paced": slow}
    finish("throughput", results, title="Calls at once", rows=rows_of(results))


if __name__ == "__main__":
    main()
