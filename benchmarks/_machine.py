"""The machine of a benchmark, timing and memory, and output of results."""

from __future__ import annotations

import json
import os
import platform
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"


def describe_machine() -> str:
    """Return one line: processor, cores, memory, Python and NumPy."""
    processor = platform.processor() or platform.machine()
    about = Path("/proc/cpuinfo")
    if about.exists():
        names = [
            line.split(":", 1)[1].strip()
            for line in about.read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ]
        processor = names[0] if names else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{processor}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"Python {platform.python_version()}, NumPy {np.__version__}"
    )


def quickest(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the least seconds of `repeats` runs, as other processes slow some of them."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peak_gib() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def write_results(path: Path | None, results: Mapping[str, object]) -> None:
    """Write results as JSON, if there is a path."""
    if path is not None:
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def write_between(page: Path, name: str, text: str) -> None:
    """Replace the text between the marks ``name: begin`` and ``name: end`` of a page."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    head, after_begin = page.read_text("utf-8").split(begin)
    _, tail = after_begin.split(end)
    page.write_text(f"{head}{begin}{text}{end}{tail}", "utf-8")
