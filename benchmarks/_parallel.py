"""Simulated data sets on several processes.

The seed of a data set is its number, so that results do not depend on the number of processes.
Scripts that simulate have the options ``--processes N`` and ``--folder FOLDER``: the result of each
data set is appended to a file there, and is read from it if the script runs again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

from _machine import RESULTS

Json: TypeAlias = Any
Runner: TypeAlias = Callable[[str, Callable[[int], Json], int], Iterator[Json]]
"""Takes a name, a function of a data set's number and how many there are; yields its results."""
_PER_TASK = 10


def simulation_parser(
    about: str | None, name: str, *, datasets: int = 2000
) -> argparse.ArgumentParser:
    """Return a parser of the options for the number of data sets and the results file."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--datasets", type=int, default=datasets)
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS / f"{name}.json")
    return parser


def run_serially(_: str, function: Callable[[int], Json], n_datasets: int) -> Iterator[Json]:
    """Yield the result of each data set, computed in this process."""
    return map(function, range(n_datasets))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `each_of`."""
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keeps what each data set gave")


@contextmanager
def open_runner(options: argparse.Namespace) -> Iterator[Runner]:
    """Yield a runner of data sets as specified by the options."""
    if options.processes == 1 and options.folder is None:
        yield run_serially
        return
    # Read by each process when it loads numpy: one thread each.
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    folder: Path | None = options.folder
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        yield partial(_run_in_pool, pool, folder)


def _run_in_pool(
    pool: ProcessPoolExecutor,
    folder: Path | None,
    name: str,
    function: Callable[[int], Json],
    n_datasets: int,
) -> Iterator[Json]:
    path = None if folder is None else folder / f"{re.sub(r'[^a-z0-9.]+', '-', name.lower())}.jsonl"
    results = _read_results(path)
    missing = [number for number in range(n_datasets) if number not in results]
    began = time.perf_counter()
    for n_done, (number, result) in enumerate(_results(pool, function, missing), start=1):
        results[number] = result
        if path is not None:
            with path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps([number, result]))
        if n_done % max(_PER_TASK, n_datasets // 10) == 0 or n_done == len(missing):
            print(
                f"{name}: {n_done} of {len(missing)}, {time.perf_counter() - began:.0f} s",
                flush=True,
            )
    return (results[number] for number in range(n_datasets))


def _results(
    pool: ProcessPoolExecutor, function: Callable[[int], Json], numbers: list[int]
) -> Iterator[tuple[int, Json]]:
    return zip(numbers, pool.map(function, numbers, chunksize=_PER_TASK), strict=True)


def _read_results(path: Path | None) -> dict[int, Json]:
    """Return the results in a file, without truncated lines."""
    if path is None or not path.exists():
        return {}
    results = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        with suppress(json.JSONDecodeError):
            number, result = json.loads(line)
            results[number] = result
    return results
