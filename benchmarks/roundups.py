"""Measure how evenly neutral roundups cover left, center and right outlets: docs/roundups.md.

    python benchmarks/roundups.py DATA FOLDER [-o docs/roundups.md]

DATA contains ``clusters.jsonl.gz`` and ``summaries_editors.jsonl.gz`` of AllSides triples (Lee et
al. 2022, NeuS). The commands' results are kept in FOLDER; a command whose result exists is not run
again. The roundups are compared with a contrast of known lean: the first sentences of one outlet
(left, center and right in turn), as long as the roundup. About ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from _data import read_rows
from _figures import interval_text
from _machine import describe_machine

from fairjudge.datasets import read_clusters, read_summaries, write_records
from fairjudge.domain import Summary
from fairjudge.text.sentences import sentence_texts

LEANINGS = ("left", "center", "right")
SCORERS = {"embedding": "cosine similarity", "entailment": "support model"}
SYSTEMS = {"editors": "neutral roundups", "one outlet": "one outlet's first sentences"}


def main() -> None:
    """Run the commands without a result, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/roundups.md"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    run(arguments.data, arguments.folder)
    arguments.output.write_text(page(arguments.folder), encoding="utf-8")
    print(f"{describe_machine()}; written: {arguments.output}")


def run(data: Path, folder: Path) -> None:
    """Write the summaries of both systems, and run each command once."""
    clusters = data / "clusters.jsonl.gz"
    files = {"editors": data / "summaries_editors.jsonl.gz", "one outlet": folder / "one.jsonl"}
    if not files["one outlet"].exists():
        write_records(files["one outlet"], one_sided(clusters, files["editors"]))
    for system, summaries in files.items():
        for scorer in SCORERS:
            words = ["fairness", "coverage", str(clusters), "--summaries", str(summaries)]
            words += ["--attribute", "leaning", "--scorer", scorer, "-q"]
            ask(words, folder / f"{scorer} {system}.json")
        words = ["judge", "--references", str(clusters), "--summaries", str(summaries)]
        words += ["--aspect", "balance", "--backend", "local", "-q"]
        ask(
            [*words, "-o", str(folder / f"balance {system}.jsonl")],
            folder / f"balance {system}.json",
        )
        pair = [str(folder / f"{scorer} {system}.json") for scorer in SCORERS]
        ask(["fairness", "agreement", *pair], folder / f"agreement {system}.json")


def ask(words: list[str], target: Path) -> None:
    """Run a command of FairJudge with ``--json``, unless its result exists."""
    if not target.exists():
        command = [sys.executable, "-m", "fairjudge", *words, "--json", str(target)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def one_sided(clusters: Path, editors: Path) -> Iterator[Summary]:
    """Yield the first sentences of one article of each cluster, up to the roundup's length."""
    lengths = {record.eid: len(record.text.split()) for record in read_summaries(editors).records}
    for cluster, leaning in zip(read_clusters(clusters).records, cycle(LEANINGS), strict=False):
        (article,) = (
            article for article in cluster.articles if article.attributes["leaning"] == leaning
        )
        sentences: list[str] = []
        for sentence in sentence_texts(article.content):
            if sentences and len(" ".join(sentences).split()) >= lengths[cluster.eid]:
                break
            sentences.append(sentence)
        yield Summary(eid=cluster.eid, system="one outlet", text=" ".join(sentences))


def page(folder: Path) -> str:
    """Return the page."""
    reports = {
        (scorer, system): read(folder / f"{scorer} {system}.json")
        for scorer in SCORERS
        for system in SYSTEMS
    }
    return "\n".join(
        [
            *opening(reports),
            *coverage_rows(reports),
            *least_rows(reports),
            *agreement_rows(folder),
            *balance_rows(folder),
            *conclusion(reports),
        ]
    )


def read(path: Path) -> dict[str, Any]:
    """Return the JSON of a command."""
    result: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return result


def figures(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the results of a report's only system."""
    (system,) = report["systems"].values()
    return system


def prose(text: str) -> list[str]:
    """Return a paragraph, or a list item, in lines of the page's width."""
    later = "  " if text.startswith("- ") else ""
    return textwrap.wrap(" ".join(text.split()), 108, subsequent_indent=later)


def opening(reports: Mapping[tuple[str, str], Any]) -> list[str]:
    """Return the head of the page."""
    n = figures(reports["embedding", "editors"])["n"]
    text = f"""For each of {n} events, AllSides publishes one article each from an outlet rated
        left, center and right, and a neutral roundup by its editors (Lee et al. 2022, NeuS;
        excerpts of a few sentences). Do the roundups cover the three equally? They are compared
        with a contrast of known lean: the first sentences of one of the three outlets (left, center
        and right in turn), as long as the roundup."""
    head = "# Case: do neutral roundups cover left, center and right equally?"
    return [head, "", "<!-- written by benchmarks/roundups.py -->", "", *prose(text), ""]


def coverage_rows(reports: Mapping[tuple[str, str], Any]) -> list[str]:
    """Return the table of measures by scorer and system."""
    lines = [
        "## Equal Coverage and Coverage Parity",
        "",
        "| summaries | support by | Equal Coverage | Coverage Parity | left | center | right |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for system, title in SYSTEMS.items():
        for scorer, how in SCORERS.items():
            result = figures(reports[scorer, system])
            differences = [
                result["coverage_by_value"][leaning]["difference"] for leaning in LEANINGS
            ]
            by_value = [
                f"{difference['value']:+.4f} (p {difference['p_holm']:.2f})"
                for difference in differences
            ]
            cells = [title, how, interval_text(result["equal_coverage"], digits=4)]
            cells += [interval_text(result["coverage_parity"], digits=4), *by_value]
            lines.append(f"| {' | '.join(cells)} |")
    text = """The last columns are the mean difference between the coverage of a leaning and that of
        all three (p with Holm's correction). For all measures, 0 is fair. With one document per
        leaning no single event can be significantly unfair, so R_EC is omitted."""
    return [*lines, "", *prose(text), ""]


def least_rows(reports: Mapping[tuple[str, str], Any]) -> list[str]:
    """Return how often each leaning is covered least, and how often both scorers agree on it."""
    headers = ["summaries", "support by", *(f"{leaning} least covered" for leaning in LEANINGS)]
    lines = [f"| {' | '.join(headers)} |"]
    lines += ["|---|---|--:|--:|--:|"]
    same = {}
    for system, title in SYSTEMS.items():
        least = {scorer: least_covered(reports[scorer, system]) for scorer in SCORERS}
        for scorer, how in SCORERS.items():
            counts = Counter(least[scorer].values())
            shares = [f"{counts[leaning] / len(least[scorer]):.3f}" for leaning in LEANINGS]
            lines.append(f"| {title} | {how} | {' | '.join(shares)} |")
        first, second = least.values()
        same[system] = 100 * sum(first[eid] == second[eid] for eid in first) / len(first)
    text = f"""The two scorers agree on the least covered outlet in {same["editors"]:.0f} % of the
        roundups and {same["one outlet"]:.0f} % of the contrast summaries (33 % by chance)."""
    return [*lines, "", *prose(text), ""]


def least_covered(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the leaning that each event's summary covers least."""
    results = {}
    for sample in report["samples"]:
        coverage = {value: group["coverage"] for value, group in sample["by_value"].items()}
        results[sample["eid"]] = min(coverage, key=lambda value: coverage[value])
    return results


def agreement_rows(folder: Path) -> list[str]:
    """Return the correlation of Equal Coverage by both scorers."""
    lines = ["## Agreement of the measures", ""]
    for system, title in SYSTEMS.items():
        result = read(folder / f"agreement {system}.json")["equal_coverage"]
        lines += prose(
            f"""- Equal Coverage by both scorers, {title}: Spearman {result["value"]:.2f}
            [{result["low"]:.2f}, {result["high"]:.2f}] over {result["n"]} events."""
        )
    return lines


def balance_rows(folder: Path) -> list[str]:
    """Return the number of events whose roundup is more balanced than the contrast."""
    values: list[dict[str, float]] = []
    for system in SYSTEMS:
        judged = read_rows(folder / f"balance {system}.jsonl")
        values.append({row["eid"]: row["value"] for row in judged if row.get("value") is not None})
    eids = values[0].keys() & values[1].keys()
    higher = sum(values[0][eid] > values[1][eid] for eid in eids)
    text = f"""- Balance (coverage of the least covered source): the roundup ranks above the
        contrast in {higher} of {len(eids)} events ({100 * higher / len(eids):.0f} %)."""
    return [*prose(text), ""]


def conclusion(reports: Mapping[tuple[str, str], Any]) -> list[str]:
    """Return the conclusions that follow from the results by rules."""
    lines = ["## Conclusions", ""]
    for scorer, how in SCORERS.items():
        by_value = figures(reports[scorer, "editors"])["coverage_by_value"]
        results = {leaning: by_value[leaning]["difference"] for leaning in LEANINGS}
        significant = [
            f"{leaning} ({difference['value']:+.4f})"
            for leaning, difference in results.items()
            if difference["p_holm"] < 0.05
        ]
        verdict = ", ".join(significant) or "none"
        lines += prose(
            f"- Leanings whose coverage differs significantly, with the {how}: {verdict}."
        )
    unequal = {key: figures(report)["equal_coverage"]["value"] for key, report in reports.items()}
    ratios = [unequal[scorer, "one outlet"] / unequal[scorer, "editors"] for scorer in SCORERS]
    lines += prose(
        f"""- Within an event, the contrast is {ratios[0]:.1f} and {ratios[1]:.1f} times as unequal,
        by the two scorers. Its mean differences do not show this, since its lean alternates:
        Coverage Parity measures whether one leaning is favoured on average, Equal Coverage the
        inequality within single events."""
    )
    lines += prose(
        """- The articles are excerpts: what they omit is not counted against a roundup. Coverage of
        an article's sentences does not measure its framing."""
    )
    return [*lines, ""]


if __name__ == "__main__":
    main()
