"""A complete study in one command: 5 systems on 20 real events; also resumed and step by step.

    python benchmarks/study.py --data FOLDER [--events 20]

FOLDER contains ``newsstance/clusters.jsonl``. The events are drawn with a seed; the systems are
rules (first sentences, one source, random sentences). The bundled model is the judge. The study is
killed half-way and resumed, then run uninterrupted in another folder, then repeated there. Finally
each step is run by its own command, with a separate cache. All results must be equal. Writes its
table to docs/study.md.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _data import read_rows
from _machine import describe_machine, write_between

from fairjudge.datasets import read_clusters
from fairjudge.datasets.writers import write_jsonl
from fairjudge.domain import Article, Cluster
from fairjudge.text.sentences import sentence_texts

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "study.md"
N_SENTENCES, KILLED_AFTER, SEED = 5, 60.0, 0
STUDY = """\
[data]
clusters = "clusters.jsonl"
summaries = "summaries.jsonl"

[build]

[[judge]]
name = "coverage"
aspect = "coverage"
protocol = "checklist"

[[judge]]
name = "pairs"
aspect = "coverage"
protocol = "pairwise"

[[judge]]
name = "faithfulness"
aspect = "faithfulness"
protocol = "likert"

[[fairness]]
attribute = "words"
bins = [150]
scorer = "coverage"
"""


def first(articles: list[Article]) -> list[str]:
    """Return the first sentences of the first articles."""
    return [sentence_texts(article.content)[0] for article in articles[:N_SENTENCES]]


def lead(articles: list[Article], *, place: int) -> list[str]:
    """Return the first sentences of one article."""
    return list(sentence_texts(articles[place].content)[:N_SENTENCES])


def draw_sentences(articles: list[Article], *, rng: np.random.Generator) -> list[str]:
    """Return random sentences of all articles."""
    every = [text for article in articles for text in sentence_texts(article.content)]
    return list(rng.choice(every, size=min(N_SENTENCES, len(every)), replace=False))


def systems(rng: np.random.Generator) -> dict[str, Callable[[list[Article]], list[str]]]:
    """Return the five systems."""
    return {
        "leads": first,
        "first-source": lambda articles: lead(articles, place=0),
        "last-source": lambda articles: lead(articles, place=-1),
        "drawn": lambda articles: draw_sentences(articles, rng=rng),
        "longest-source": lambda articles: lead(
            sorted(articles, key=lambda article: len(article.content)), place=-1
        ),
    }


def write_data(folder: Path, events: list[Cluster]) -> None:
    """Write clusters, with an attribute for each article's length, and summaries."""
    rows, summaries = [], []
    rules = systems(np.random.default_rng(SEED))
    for event in events:
        row = event.to_json()
        for article in row["articles"]:
            article["attributes"] = {"words": len(article["content"].split())}
        rows.append(row)
        articles = [article for article in event.articles if article.content.strip()]
        for name, write in rules.items():
            text = " ".join(write(articles))
            summaries.append({"eid": event.eid, "system": name, "text": text})
    for name, records in (("clusters", rows), ("summaries", summaries)):
        write_jsonl(folder / f"{name}.jsonl", records)
    (folder / "study.toml").write_text(STUDY, "utf-8")


def fairjudge(*args: str, cwd: Path) -> subprocess.Popen[str]:
    """Start a command in `cwd`."""
    command = [sys.executable, "-m", "fairjudge", *args]
    return subprocess.Popen(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=None)


def timed(*args: str, cwd: Path) -> tuple[float, str]:
    """Run a command; return its seconds and output."""
    began = time.perf_counter()
    process = fairjudge(*args, cwd=cwd)
    output_text, _ = process.communicate()
    if process.returncode not in {0, 3}:  # 3: some event has no question
        raise SystemExit(f"{args}: ended with {process.returncode}")
    return time.perf_counter() - began, output_text


def by_hand(folder: Path) -> float:
    """Run the steps of the study by single commands; return their seconds."""
    cache = ("--cache", "own")
    judge = ("judge", "--references", "refs.jsonl", "--summaries", "summaries.jsonl", *cache)
    seconds = 0.0
    for args in (
        ("build", "clusters.jsonl", "-o", "refs.jsonl", *cache),
        (*judge, "--aspect", "coverage", "--protocol", "checklist", "-o", "coverage.jsonl"),
        (*judge, "--aspect", "coverage", "--protocol", "pairwise", "-o", "pairs.jsonl"),
        (*judge, "--aspect", "faithfulness", "--protocol", "likert", "-o", "faithfulness.jsonl"),
        ("audit", "covered", "coverage.jsonl", "--references", "refs.jsonl", "--json", "c.json"),
        ("audit", "position", "pairs.jsonl", "--json", "p.json"),
        ("fairness", "proportional", "clusters.jsonl", "--summaries", "summaries.jsonl",
         "--attribute", "words", "--bins", "150", "--json", "f.json"),
        ("report", ".", "-o", "report.html"),
    ):  # fmt: skip
        seconds += timed(*args, cwd=folder)[0]
    return seconds


PAIRS = {
    "refs.jsonl": "references.jsonl",
    "coverage.jsonl": "judgements/coverage.jsonl",
    "pairs.jsonl": "judgements/pairs.jsonl",
    "faithfulness.jsonl": "judgements/faithfulness.jsonl",
    "c.json": "audits/coverage.covered.json",
    "p.json": "audits/pairs.position.json",
    "f.json": "fairness/words.proportional.json",
}
"""What single commands write, and the same of the study."""


def values(path: Path) -> Any:
    """Return the values in a file."""
    return read_rows(path) if path.suffix == ".jsonl" else json.loads(path.read_text("utf-8"))


def run_variants(folder: Path) -> Iterator[tuple[str, str]]:
    """Run all variants; yield each measure and its value."""
    process = fairjudge("study", "study.toml", "--cache", "killed", "-o", "one", "-q", cwd=folder)
    time.sleep(KILLED_AFTER)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    record = folder / "one" / "study.json"
    n_done = len(json.loads(record.read_text())["fairjudge_study"]) if record.exists() else 0
    yield f"steps finished when killed after {KILLED_AFTER:.0f} s", str(n_done)
    resumed_seconds, _ = timed(
        "study", "study.toml", "--cache", "killed", "-o", "one", "-q", cwd=folder
    )
    yield "resumed until the end, seconds", f"{resumed_seconds:.0f}"
    combined, _ = timed("study", "study.toml", "--cache", "whole", "-o", "two", "-q", cwd=folder)
    yield "uninterrupted, in one command, seconds", f"{combined:.0f}"
    again, output_text = timed(
        "study", "study.toml", "--cache", "whole", "-o", "two", "-q", cwd=folder
    )
    yield "repeated, seconds", f"{again:.1f}"
    yield "steps, all kept when repeated", str(output_text.count(" kept "))
    yield "with single commands, seconds", f"{by_hand(folder):.0f}"
    different_files = [
        f"{output}/{combined}"
        for output in ("one", "two")
        for single, combined in PAIRS.items()
        if values(folder / single) != values(folder / output / combined)
    ]
    n = 2 * len(PAIRS)
    equal = f"{n - len(different_files)} of {n}, killed or not"
    yield (
        "files identical to those of the single commands",
        ", but not ".join([equal, *different_files]),
    )


def main() -> None:
    """Run the benchmark, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--events", type=int, default=20)
    arguments = parser.parse_args()
    os.environ.pop("FAIRJUDGE_STORE", None)
    every = list(read_clusters(arguments.data / "newsstance" / "clusters.jsonl"))
    places = np.random.default_rng(SEED).choice(len(every), size=arguments.events, replace=False)
    events = [every[place] for place in sorted(places)]
    with tempfile.TemporaryDirectory() as name:
        write_data(Path(name), events)
        rows = list(run_variants(Path(name)))
    n_articles = sum(len(event.articles) for event in events)
    table = "\n".join(f"| {label} | {value} |" for label, value in rows)
    text = (
        f"\n{arguments.events} events of {n_articles} articles, 5 systems, the bundled model; "
        f"{describe_machine()}.\n\n| measure | value |\n|---|--:|\n{table}\n\n"
    )
    print(text)
    if arguments.events == parser.get_default("events"):
        write_between(DOCUMENT, "measured", text)


if __name__ == "__main__":
    main()
