"""Whether the intervals of juries, of rankings by several judges and of baselines hold.

    python benchmarks/juries_coverage.py --json                            2,000 data sets of each
    python benchmarks/juries_coverage.py --json --processes 15 --folder F

What is simulated: ``_jury_simulation.py``. ``--only TEXT`` runs the simulations whose name has it,
and takes the others from the JSON file. With ``--json``, docs/calibration.md gets the table.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from _jury_simulation import SETTINGS, simulate_gains, simulate_juries, simulate_ranking
from _parallel import Each, add_options, each_of

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "calibration.md"
BEGIN, END = "<!-- juries: begin -->\n", "<!-- juries: end -->\n"
RESULTS = Path(__file__).parent / "results" / "juries_coverage.json"
SIMULATIONS: Mapping[str, Callable[..., dict[str, Any]]] = {
    one.name: partial(simulate_juries, setting=one) for one in SETTINGS
} | {"judge-aware ranking": simulate_ranking, "baselines": simulate_gains}


def simulate(n_datasets: int, only: str, path: Path | None, each: Each) -> list[dict[str, Any]]:
    """Run the simulations named, and take the others from `path`, where that has them."""
    kept = json.loads(path.read_text("utf-8"))["simulated"] if path and path.exists() else []
    before = {one["what"]: one for one in kept}
    found = []
    for name, run in SIMULATIONS.items():
        if only in name:
            found.append(run(n_datasets, each=each))
        elif name in before:
            found.append(before[name])
    return found


def coverage_lines(simulated: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a Markdown table: a row a figure (of judges: the range), a column a setting."""
    groups: dict[str, list[str]] = defaultdict(list)
    shown = [one for one in simulated if one["what"].startswith("juries")]
    for one in shown:
        cells: dict[str, list[float]] = defaultdict(list)
        for name, share in one["coverage"].items():
            cells[re.sub(r"(the )?judge \d", "a member", name)].append(share)
        for name, shares in cells.items():
            low, high = f"{min(shares):.1f}", f"{max(shares):.1f}"
            groups[name].append(low if low == high else f"{low} to {high}")
    titles = [one["what"].removeprefix("juries, ") for one in shown]
    return [
        f"| interval of | {' | '.join(titles)} |",
        f"| --- |{' --: |' * len(shown)}",
        *(f"| {name} | {' | '.join(cells)} |" for name, cells in groups.items()),
    ]


def write_page(simulated: Sequence[Mapping[str, Any]]) -> None:
    """Put the coverage of juries into docs/calibration.md."""
    head, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
    table = "\n".join(coverage_lines(simulated)) + "\n"
    DOCUMENT.write_text(head + BEGIN + table + END + rest.split(END)[1], encoding="utf-8")


def main() -> None:
    """Run the simulations and print what they covered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", type=int, default=2000)
    parser.add_argument("--only", default="", help="simulations whose name has this; others stay")
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS)
    add_options(parser)
    given = parser.parse_args()
    with each_of(given) as each:
        simulated = simulate(given.datasets, given.only, given.json, each)
    for one in simulated:
        print(f"{one['what']}: coverage (%) of 95 % intervals, {one['n_datasets']} data sets")
        for name, share in one["coverage"].items():
            truth = one.get("true", {}).get(name)
            print(f"  {name:42} {share:5.1f}", "" if truth is None else f"truth {truth:.3f}")
    if given.json:
        given.json.write_text(
            json.dumps({"simulated": simulated}, indent=1) + "\n", encoding="utf-8"
        )
        write_page(simulated)


if __name__ == "__main__":
    main()
