"""Fill the measured blocks of docs/audits.md with the results of the scripts below.

    python benchmarks/audits_page.py            writes them from benchmarks/results
    python benchmarks/audits_page.py --check    exits with 1 if the page is not up to date

The results come from ``ranking_coverage.py``, ``rates_coverage.py``, ``rates_recorded.py``,
``guarantee_kept.py`` and ``stability_coverage.py``, each run with ``--json``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairjudge.reports.tables import TextTable, columns, number, to_markdown

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "audits.md"
RESULTS = ROOT / "benchmarks" / "results"
Json = Mapping[str, Any]

BLOCK = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def page(text: str, results: Path = RESULTS) -> str:
    """Return the page with every measured block regenerated."""
    results_by_name = {
        path.stem: json.loads(path.read_text("utf-8")) for path in results.glob("*.json")
    }
    blocks = {
        "ranking": ranking(results_by_name["ranking_coverage"]),
        "rates": rates(results_by_name["rates_coverage"], results_by_name["rates_recorded"]),
        "guarantees": guarantees(results_by_name["guarantee_kept"]),
        "stability": stability(results_by_name["stability_coverage"]),
    }
    return BLOCK.sub(lambda match: f"{match[1]}\n{blocks[match[2]]}\n{match[3]}", text)


def table(title: str, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with numbers from the second column on."""
    text = TextTable(
        title=title,
        columns=columns(*headers, numbers=headers[1:]),
        rows=tuple(tuple(row) for row in rows),
    )
    return to_markdown(text)


def figure_text(figure: Json | None, *, digits: int = 2) -> str:
    """Return an estimate with its interval, or a dash."""
    if figure is None or figure.get("value") is None:
        return "-"
    value = number(figure["value"], digits=digits)
    if figure.get("low") is None:
        return value
    low, high = (number(figure[end], digits=digits) for end in ("low", "high"))
    return f"{value} [{low}, {high}]"


def range_text(values: Sequence[float]) -> str:
    """Return minimum and maximum, as ``93.1 to 96.8``."""
    return f"{min(values):.1f} to {max(values):.1f}"


def _rankings_range(results: Json, name: str) -> str:
    return range_text([row[name][0] for row in results["rankings"]])


def ranking(results: Json) -> str:
    """Return the section on ranking."""
    rows = results["simulated"]
    coverage = {
        name: range_text([row[name][0] for row in rows])
        for name in ("strengths", "position_effect", "ranks")
    }
    parts = [
        "In simulation the coverage of 95 % intervals was "
        f"{coverage['strengths']} % for strengths and {coverage['position_effect']} % for the "
        f"position effect; the ranks covered all true ranks simultaneously in {coverage['ranks']} "
        "% of data sets. With whole rankings, two per document: strengths "
        f"{_rankings_range(results, 'strengths')} %, ranks {_rankings_range(results, 'ranks')} %.\n"
    ]
    for group in results["summeval"]:
        position = figure_text(group["position_effect"])
        parts.append(
            table(
                f"SummEval, {group['aspect']}, judged by gpt-3.5; position effect {position}",
                ("system", "rank", "strength", "expected win rate", "win rate"),
                [
                    (
                        system["system"],
                        f"{system['rank']} ({system['best_rank']}-{system['worst_rank']})",
                        figure_text(system["strength"]),
                        figure_text(system["expected_win_rate"]),
                        figure_text(system["win_rate"]),
                    )
                    for system in group["systems"]
                ],
            )
        )
    return "\n".join(parts)


def rates(simulated: Json, recorded: Json) -> str:
    """Return the section on error rates and corrected shares."""
    rows = simulated["simulated"]
    equal = [row for row in rows if row["share"] == row["labelled_share"]]
    unequal = [row for row in rows if row["share"] != row["labelled_share"]]

    def coverage(settings: Sequence[Json], method: str) -> str:
        return range_text([row["coverage"][method] for row in settings])

    titles = {"judged": "judge alone", "labelled": "labels alone", "corrected": "corrected"}
    titles["ppi"] = "PPI++"
    methods = ("judged", "corrected", "ppi")
    text = (
        f"In simulation ({rows[0]['n_datasets']} data sets for each of {len(rows)} settings) the "
        f"coverage of the corrected interval was {coverage(rows, 'corrected')} %.\n"
    )
    first = table(
        "Coverage of nominal 95 % intervals in percent, minimum to maximum over the settings",
        ("share of yes", *(titles[method] for method in methods)),
        [
            (name, *(coverage(settings, method) for method in methods))
            for name, settings in (
                ("same as among labelled items", equal),
                ("different", unequal),
            )
        ],
    )
    second = table(
        "Share of consistent summaries in SummEval (percent), judged by gpt-3.5, with labels for "
        f"30 of 100 documents, {recorded['draws']} draws: mean estimate, mean width of the "
        "interval, its coverage",
        ("items", "truth", *titles.values()),
        [
            (
                row["what"],
                number(row["truth"], digits=1),
                *(
                    f"{row[method]['estimate']:.1f}, {row[method]['width']:.1f}, "
                    f"{row[method]['holds_truth']:.1f}"
                    for method in titles
                ),
            )
            for row in recorded["recorded"]
        ],
    )
    new_documents, new_systems = recorded["recorded"]
    closing = (
        f"The sensitivity of this judge is {new_documents['sensitivity']:.1f} %, its specificity "
        f"{new_documents['specificity']:.1f} %. For other systems, the correction was undefined "
        f"in {new_systems['corrected']['no_value']:.1f} % of draws, for lack of negative labels.\n"
    )
    return f"{text}\n{first}\n{second}\n{closing}"


def guarantees(results: Json) -> str:
    """Return the section on guaranteed agreement."""
    worst = max(row["broken"] for row in results["simulated"])
    text = (
        f"In simulation ({results['simulated'][0]['n_datasets']} data sets per setting) a "
        f"guarantee of 90 % at 95 % confidence was violated in at most {worst:.1f} %.\n"
    )
    first = table(
        "Simulated judges",
        (
            "judge",
            "documents",
            "items per document",
            "guarantee violated (%)",
            "answers kept (%)",
        ),
        [
            (
                row["judge"].replace("at the promise", "just below the guarantee"),
                str(row["n_documents"]),
                str(row["items_per_document"]),
                number(row["broken"], digits=1),
                number(row["kept"], digits=1),
            )
            for row in results["simulated"]
        ],
    )
    second = table(
        "Recorded judges, fitted on random halves, evaluated on the other halves (percent)",
        (
            "judge",
            "pairs",
            "agreement of all",
            "guaranteed",
            "agreement of kept",
            "halves below guarantee",
            "calls saved",
        ),
        [
            (
                row["judge"],
                str(row["n"]),
                number(row["agreement_of_all"], digits=1),
                str(row["promised"]),
                number(row["kept_agreement"], digits=1),
                number(row["halves_below_it"], digits=1),
                number(row["calls_saved"], digits=1),
            )
            for row in results["recorded"]
        ],
    )
    return f"{text}\n{first}\n{second}"


def stability(results: Json) -> str:
    """Return the section on stability."""
    coverages = [value for row in results["simulated"] for value in row["coverage"].values()]
    text = (
        "In simulation the coverage of these measures' 95 % intervals was "
        f"{range_text(coverages)} %.\n"
    )
    groups = [group for group in results["recorded"] if not group["why"]]
    rows = [
        (
            f"{group['judge']}, {group['aspect']}",
            ", ".join(name or "one" for name in group["variants"]),
            figure_text(group["flips"]),
            figure_text(group["flips_between_variants"]),
            *(
                figure_text(group["shares"][name])
                for name in ("item", "variant", "item_by_variant", "repeat")
            ),
        )
        for group in groups
    ]
    first = table(
        "Recorded judges",
        (
            "judge",
            "prompts",
            "flips",
            "between prompts",
            "item",
            "prompt",
            "item by prompt",
            "repeat",
        ),
        rows,
    )
    copies = [group for group in groups if group["alike"]]
    closing = " ".join(
        f"The records of {group['judge']} with {len(group['variants'])} prompts are identical for "
        "every item: the audit reports this, since it suggests copies rather than stability."
        for group in copies
    )
    return f"{text}\n{first}\n{closing}\n"


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    text = PAGE.read_text("utf-8")
    if parser.parse_args().check:
        return int(text != page(text))
    PAGE.write_text(page(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
