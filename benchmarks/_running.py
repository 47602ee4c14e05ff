"""Helpers of the speed benchmarks: child processes, results as JSON, a table on the terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from _machine import RESULTS, describe_machine, write_results

from fairjudge.reports.tables import TextTable, columns, print_table

HERE = Path(__file__).parent
Json: TypeAlias = dict[str, Any]


def mock_run(folder: Path, n_items: int, *options: object, dies: bool = False) -> Json:
    """Run `_mock_run.py` in its own process and return the JSON that it printed."""
    command = [sys.executable, HERE / "_mock_run.py", n_items, folder, *options]
    process = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    if dies:
        return {}
    if process.returncode:
        raise SystemExit(process.stderr.decode())
    result: Json = json.loads(process.stdout)
    return result


@contextmanager
def stub(*options: object) -> Iterator[tuple[int, Json]]:
    """Run `_stub.py`; yield its port, and a dictionary that is filled with its counts at exit."""
    command = [sys.executable, str(HERE / "_stub.py"), *map(str, options)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    counts: Json = {}
    if process.stdout is None:
        raise SystemExit("the stub server has no output")
    try:
        yield int(process.stdout.readline()), counts
        out, _ = process.communicate(timeout=60)
        counts |= json.loads(out)
    finally:
        process.kill()


def finish(name: str, result: Json, *, title: str, rows: Sequence[tuple[str, str, str]]) -> None:
    """Print `rows` (what, measured, wanted) with the machine, and keep all of `found`."""
    result = {"machine": describe_machine(), **result}
    heads = columns("what", "measured", "wanted", numbers=("measured", "wanted"))
    print_table(TextTable(title=title, columns=heads, rows=tuple(rows), notes=(result["machine"],)))
    write_results(RESULTS / f"{name}.json", result)


def each_ms(result: Json, clock: str = "wall_seconds") -> float:
    """Return the milliseconds per item."""
    return float(result[clock]) / float(result["n"]) * 1000.0
