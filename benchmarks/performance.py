"""Run the speed benchmarks and write docs/performance.md from what they measured.

python benchmarks/performance.py             runs all (about twenty minutes), then writes
python benchmarks/performance.py --render    writes from benchmarks/results/*.json alone
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import overhead
import reading_speed
import start_up
import throughput
from _machine import RESULTS
from _running import HERE, Json, each_ms
from reading_speed import N_CHARACTERS
from throughput import AT_ONCE, LATENCY_SECONDS

PAGE = HERE.parent / "docs" / "performance.md"
NAMES = ("overhead", "throughput", "start_up", "reading_speed", "entailment_throughput")


def load(name: str) -> Json:
    """Return what one benchmark kept."""
    result: Json = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return result


def table(*rows: tuple[str, str, str]) -> str:
    """Return a Markdown table of what was measured beside what was wanted."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(["| | measured | wanted |", "| --- | --: | --: |", *lines])


def overhead_section() -> str:
    """Return the section on what a run costs beside the model."""
    result = load("overhead")
    large = result["large"]
    rows = table(*overhead.rows_of(result))
    libraries = "\n".join(
        f"| {library['name']} | {library['version']} | {library['n']} | {each_ms(library):.1f} "
        f"| {each_ms(library, 'cpu_seconds'):.1f} |"
        for library in result["others"]
    )
    ours = (
        f"| FairJudge, all kept | | {large['n']} | {each_ms(large):.1f} "
        f"| {each_ms(large, 'cpu_seconds'):.1f} |"
    )
    return f"""## Overhead of a run

A model in the same process answers at once; prompts have 10,000 characters. Everything else is as
in `fairjudge judge`: reading the files, rendering, hashing, cache, records and checkpoints on disk
(forced to it twice a second), reading the verdicts, writing the results.

{rows}

The cached run's results file is the same, byte for byte.

The same work through two other libraries, in the same run of the benchmark, each with its own mock
model in its own process. inspect_ai writes its log; DeepEval (G-Eval, one call a case) keeps
nothing unless told to, and then rewrites its file after every case, so that its time an item grows
with their number.

| | version | items | ms an item | processor ms |
| --- | --- | --: | --: | --: |
{ours}
{libraries}
"""


def throughput_section() -> str:
    """Return the section on many calls at once."""
    rows = table(*throughput.rows_of(load("throughput")))
    return f"""## Many calls at once

A server on loopback answers every call after {LATENCY_SECONDS * 1000:.0f} ms. It is a process of
its own on the same machine and counts what it sees; times are its own, from the first request to
the last reply. Ideal is {AT_ONCE} calls every {LATENCY_SECONDS * 1000:.0f} ms.

{rows}

After a 429 the number of calls at once is halved, and grows again by one with each round of
replies. `--rpm` and `--tpm` are never passed in any 60 seconds.
"""


def start_up_section() -> str:
    """Return the section on how soon work begins."""
    rows = table(*start_up.rows_of(load("start_up")))
    return f"""## Starting and resuming

{rows}
"""


def reading_section() -> str:
    """Return the section on replies that are made to take long."""
    rows = [
        (label.replace("|", "\\|"), *figures)
        for label, *figures in reading_speed.rows_of(load("reading_speed"))
    ]
    return f"""## Adversarial replies

{N_CHARACTERS:,} characters of one thing over and over ("{{", "<think>", "1. " and some 30 others),
the slowest of them for each reader, in processor time. All readers are linear.

{table(*rows)}
"""


def entailment_section() -> str:
    """Return the section on the local entailment scorer."""
    import entailment_throughput  # not above: it loads torch

    result = load("entailment_throughput")
    note = (
        "" if result["on_gpu"] else "Wanted on a GPU: 8 times and 50 %, of which this says nothing."
    )
    return f"""## Entailment on the local device

The {result["size"]} model (roberta-large's shape, or a small one where there is no GPU; random
weights), {result["type"]}, on {result["device"]}: every sentence of SummEval's summaries with every
chunk of its article, against fixed batches of 128 padded to the longest in float32, in one run. The
matrix rate is that of a large product in the scorer's own type, measured beside it; multiplications
with padding do not count.

{table(*entailment_throughput.rows_of(result))}

{note}
"""


def page() -> str:
    """Return the whole document."""
    machines = {load(name)["machine"] for name in NAMES}
    return f"""# Performance

Written by `benchmarks/performance.py` from what `benchmarks/overhead.py`, `throughput.py`,
`start_up.py`, `reading_speed.py` and `entailment_throughput.py` measured; change those, not this
file. Times are wall-clock times unless said otherwise, and depend on what else the machine does.

Measured on: {"; ".join(sorted(machines))}.

{overhead_section()}
{throughput_section()}
{start_up_section()}
{reading_section()}
{entailment_section()}"""


def main() -> None:
    """Run what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--render", action="store_true")
    if not parser.parse_args().render:
        for name in NAMES:
            subprocess.run([sys.executable, HERE / f"{name}.py"], check=True)
    Path(PAGE).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
