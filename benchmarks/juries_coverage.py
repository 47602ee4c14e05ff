"""Coverage of the intervals of juries, of rankings by several judges and of baselines.

    python benchmarks/juries_coverage.py --json                            2,000 data sets of each
    python benchmarks/juries_coverage.py --json --processes 15 --folder F

``_jury_simulation.py`` describes the simulations. ``--only TEXT`` runs those whose name contains
TEXT, and reads the others from the JSON file. ``--json`` writes the table to docs/calibration.md.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from _jury_simulation import SETTINGS, simulate_gains, simulate_juries, simulate_ranking
from _machine import write_between, write_results
from _parallel import Runner, add_options, open_runner, simulation_parser

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "calibration.md"
SIMULATIONS: Mapping[str, Callable[..., dict[str, Any]]] = {
    setting.name: partial(simulate_juries, setting=setting) for setting in SETTINGS
} | {"judge-aware ranking": simulate_ranking, "baselines": simulate_gains}


def simulate(n_datasets: int, only: str, path: Path | None, runner: Runner) -> list[dict[str, Any]]:
    """Run the simulations selected by `only`, and read the others from `path`, if present."""
    old_results = json.loads(path.read_text("utf-8"))["simulated"] if path and path.exists() else []
    results_by_name = {result["what"]: result for result in old_results}
    results = []
    for name, run in SIMULATIONS.items():
        if only in name:
            results.append(run(n_datasets, runner=runner))
        elif name in results_by_name:
            results.append(results_by_name[name])
    return results


def coverage_lines(simulations: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a Markdown table: one row per measure (range over judges), one column per setting."""
    groups: dict[str, list[str]] = defaultdict(list)
    settings = [result for result in simulations if result["what"].startswith("juries")]
    for setting in settings:
        cells: dict[str, list[float]] = defaultdict(list)
        for name, share in setting["coverage"].items():
            cells[re.sub(r"(the )?judge \d", "a member", name)].append(share)
        for name, shares in cells.items():
            low, high = f"{min(shares):.1f}", f"{max(shares):.1f}"
            groups[name].append(low if low == high else f"{low} to {high}")
    titles = [setting["what"].removeprefix("juries, ") for setting in settings]
    return [
        f"| interval of | {' | '.join(titles)} |",
        f"| --- |{' --: |' * len(settings)}",
        *(f"| {name} | {' | '.join(cells)} |" for name, cells in groups.items()),
    ]


def main() -> None:
    """Run the simulations and print the coverage."""
    parser = simulation_parser(__doc__.splitlines()[0], "juries_coverage")
    parser.add_argument("--only", default="", help="simulations whose name has this; others stay")
    add_options(parser)
    options = parser.parse_args()
    with open_runner(options) as runner:
        simulations = simulate(options.datasets, options.only, options.json, runner)
    for result in simulations:
        print(f"{result['what']}: coverage (%) of 95 % intervals, {result['n_datasets']} data sets")
        for name, share in result["coverage"].items():
            truth = result.get("true", {}).get(name)
            print(f"  {name:42} {share:5.1f}", "" if truth is None else f"truth {truth:.3f}")
    if options.json:
        write_results(options.json, {"simulated": simulations})
        write_between(DOCUMENT, "juries", "\n".join(coverage_lines(simulations)) + "\n")


if __name__ == "__main__":
    main()
