"""Fill the measured blocks of docs/audits.md with what the scripts below gave.

    python benchmarks/audits_page.py            writes them from benchmarks/results
    python benchmarks/audits_page.py --check    exits with 1 where the page is not up to date

The figures come from ``ranking_coverage.py``, ``rates_coverage.py``, ``rates_recorded.py``,
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
    """Return the page with every measured block written anew."""
    figures = {path.stem: json.loads(path.read_text("utf-8")) for path in results.glob("*.json")}
    blocks = {
        "ranking": ranking(figures["ranking_coverage"]),
        "rates": rates(figures["rates_coverage"], figures["rates_recorded"]),
        "promises": promises(figures["guarantee_kept"]),
        "stability": stable(figures["stability_coverage"]),
    }
    return BLOCK.sub(lambda match: f"{match[1]}\n{blocks[match[2]]}\n{match[3]}", text)


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table, numbers from the second column on."""
    text = TextTable(
        title=title,
        columns=columns(*heads, numbers=heads[1:]),
        rows=tuple(tuple(row) for row in rows),
    )
    return to_markdown(text)


def figure_text(figure: Json | None, *, digits: int = 2) -> str:
    """Return a figure with its interval, or a dash."""
    if figure is None or figure.get("value") is None:
        return "-"
    value = number(figure["value"], digits=digits)
    if figure.get("low") is None:
        return value
    low, high = (number(figure[end], digits=digits) for end in ("low", "high"))
    return f"{value} [{low}, {high}]"


def between(values: Sequence[float]) -> str:
    """Return ``93.1 to 96.8``."""
    return f"{min(values):.1f} to {max(values):.1f}"


def _of_rankings(results: Json, name: str) -> str:
    return between([row[name][0] for row in results["rankings"]])


def ranking(results: Json) -> str:
    """Return the section on ranking."""
    rows = results["simulated"]
    coverage = {
        name: between([row[name][0] for row in rows])
        for name in ("strengths", "position_effect", "ranks")
    }
    parts = [
        "In simulation 95 % intervals of strengths covered "
        f"{coverage['strengths']} %, of the effect of position {coverage['position_effect']} %; "
        f"the ranks held all true ones at once in {coverage['ranks']} %. Of whole rankings, two a "
        f"document, strengths {_of_rankings(results, 'strengths')} %, the ranks "
        f"{_of_rankings(results, 'ranks')} %.\n"
    ]
    for group in results["summeval"]:
        position = figure_text(group["position_effect"])
        parts.append(
            table(
                f"SummEval, {group['aspect']}, judged by gpt-3.5; standing first adds {position}",
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
    still = [row for row in rows if row["share"] == row["labelled_share"]]
    moved = [row for row in rows if row["share"] != row["labelled_share"]]

    def covered(kind_rows: Sequence[Json], way: str) -> str:
        return between([row["coverage"][way] for row in kind_rows])

    heads = ("share of yes", *(f"{way} covers (%)" for way in ("judged", "corrected", "PPI++")))
    text = (
        f"In simulation ({rows[0]['n_datasets']} data sets each of {len(rows)} settings) the "
        f"corrected interval covered {covered(rows, 'corrected')} %.\n"
    )
    first = table(
        "Coverage of nominal 95 % intervals, least to most over the settings",
        heads,
        [
            (
                name,
                *(covered(settings, way) for way in ("judged", "corrected", "ppi")),
            )
            for name, settings in (("as among the labelled", still), ("another one", moved))
        ],
    )
    ways = ("judged", "labelled", "corrected", "ppi")
    second = table(
        "Consistent summaries of SummEval by gpt-3.5 (percent), labels of 30 of 100 documents, "
        f"{recorded['draws']} draws: mean estimate, mean width, how often the truth was held",
        ("share of", "truth", *ways),
        [
            (
                row["what"],
                number(row["truth"], digits=1),
                *(
                    f"{row[way]['estimate']:.1f}, {row[way]['width']:.1f}, "
                    f"{row[way]['holds_truth']:.1f}"
                    for way in ways
                ),
            )
            for row in recorded["recorded"]
        ],
    )
    new_documents, new_systems = recorded["recorded"]
    closing = (
        f"This judge finds {new_documents['sensitivity']:.1f} % of the consistent summaries and "
        f"{new_documents['specificity']:.1f} % of the others. Of other systems, the correction had "
        f"no value in {new_systems['corrected']['no_value']:.1f} % of draws, for lack of "
        "labels that say no.\n"
    )
    return f"{text}\n{first}\n{second}\n{closing}"


def promises(results: Json) -> str:
    """Return the section on promised agreement."""
    worst = max(row["broken"] for row in results["simulated"])
    text = (
        f"In simulation ({results['simulated'][0]['n_datasets']} data sets a setting) a promise of "
        f"90 % at 95 % confidence was broken in at most {worst:.1f} %.\n"
    )
    first = table(
        "Simulated judges",
        ("judge", "documents", "items each", "promise broken (%)", "answers kept (%)"),
        [
            (
                row["judge"],
                str(row["n_documents"]),
                str(row["items_per_document"]),
                number(row["broken"], digits=1),
                number(row["kept"], digits=1),
            )
            for row in results["simulated"]
        ],
    )
    second = table(
        "Recorded judges, fitted on random halves, held against the others (percent)",
        (
            "judge",
            "pairs",
            "agreement of all",
            "promised",
            "kept ones agree",
            "halves below it",
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


def stable(results: Json) -> str:
    """Return the section on stability."""
    covered = [value for row in results["simulated"] for value in row["coverage"].values()]
    text = f"In simulation 95 % intervals of these figures covered {between(covered)} %.\n"
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
        f"The records of {group['judge']} under {len(group['variants'])} prompts are alike to the "
        "last item: the audit says so, since they look like copies and not like stability."
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
