"""Convert a file in each layout of docs/your-data.md to a leaderboard; count commands and seconds.

    python benchmarks/layouts.py [--data FOLDER] [--only TITLE ...] [--page docs/your-data.md]

Files are built from real records in `--data` (SummEval, AllSides, Yelp), else from the bundled
example; those of SummHay and DiverseSumm, and columns that are not recognised, come from the page.
The commands are those of the page, then those that their output suggests, with a server on loopback
instead of an LLM, so that only the library is timed. The table is written to the page.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from _data import read_rows
from _machine import describe_machine, write_between
from _running import stub

import fairjudge as fj
from fairjudge.reports.tables import TextTable, columns, print_table

PAGE = Path(__file__).parents[1] / "docs" / "your-data.md"
N_CLUSTERS = 10
N_SYSTEMS = 4
_BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class World:
    """Clusters of articles, summaries of them, and reviews by business and stars."""

    clusters: list[Row]
    summaries: list[Row]
    labels: list[Row]
    rated_articles: dict[str, str]
    rated_summaries: list[Row]
    reviews: list[Row]

    def first_summary(self, eid: str) -> str:
        """Return the first summary of a cluster."""
        return next(row["text"] for row in self.summaries if row["eid"] == eid)


def real(data: Path) -> World:
    """Return some of the real records in `data`."""
    editors = read_rows(data / "allsides" / "summaries_editors.jsonl.gz")
    eids = {row["eid"] for row in editors}
    clusters = [
        row for row in read_rows(data / "allsides" / "clusters.jsonl.gz") if row["eid"] in eids
    ]
    articles = {
        row["eid"]: row["articles"][0]["content"]
        for row in read_rows(data / "summeval" / "clusters.jsonl")[:N_CLUSTERS]
    }
    summaries = read_rows(data / "summeval" / "summaries.jsonl")
    systems = sorted({row["system"] for row in summaries})[:N_SYSTEMS]
    rated = [row for row in summaries if row["eid"] in articles and row["system"] in systems]
    labels = [
        row
        for row in read_rows(data / "summeval" / "labels.jsonl")
        if row["eid"] in articles and row["system"] in systems and "expert" in row["annotator"]
    ]
    stars = {"neg": 1, "neu": 3, "pos": 5}
    reviews = [
        {
            "product_id": row["eid"],
            "stars": stars[article["attributes"]["sentiment"]],
            "review_text": article["content"],
        }
        for row in read_rows(data / "yelp" / "clusters.jsonl")[:N_CLUSTERS]
        for article in row["articles"]
    ]
    first_eids = {row["eid"] for row in clusters[:N_CLUSTERS]}
    return World(
        clusters=clusters[:N_CLUSTERS],
        summaries=[row for row in editors if row["eid"] in first_eids],
        labels=labels,
        rated_articles=articles,
        rated_summaries=rated,
        reviews=reviews,
    )


def bundled() -> World:
    """Return the bundled example: two invented stories with three summaries each."""
    clusters = [row.to_json() for row in fj.read_clusters(fj.example_path("clusters.json"))]
    summaries = [row.to_json() for row in fj.read_summaries(fj.example_path("summaries.jsonl"))]
    articles = {row["eid"]: row["articles"][0]["content"] for row in clusters}
    labels = [
        {**row, "aspect": aspect, "annotator": "ann", "value": 1 + place % 5}
        for place, row in enumerate(summaries)
        for aspect in ("coherence", "relevance")
    ]
    reviews = [
        {"product_id": row["eid"], "stars": 1 + place % 5, "review_text": article["content"]}
        for row in clusters
        for place, article in enumerate(row["articles"])
    ]
    return World(clusters, summaries, labels, articles, summaries, reviews)


def _line(text: str) -> str:
    return " ".join(text.split())


def _documents(cluster: Row) -> str:
    return " ||||| ".join(_line(article["content"]) for article in cluster["articles"])


def _write_lines(path: Path, rows: Iterable[object]) -> None:
    texts = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")


def _multi_news(world: World) -> list[Row]:
    return [
        {"document": _documents(row), "summary": world.first_summary(row["eid"])}
        for row in world.clusters
    ]


def multi_news(world: World, folder: Path) -> None:
    """Write one row per cluster."""
    _write_lines(folder / "test.jsonl", _multi_news(world))


def lines(world: World, folder: Path) -> None:
    """Write one line per cluster; the summary is the first words of the first article."""
    _write_lines(folder / "test.src", map(_documents, world.clusters))
    texts = (_line(world.first_summary(row["eid"])) for row in world.clusters)
    _write_lines(folder / "test.tgt", texts)
    leads = (" ".join(_documents(row).split()[:40]) for row in world.clusters)
    _write_lines(folder / "pegasus.hypo", leads)


def wcep(world: World, folder: Path) -> None:
    """Write one row per cluster with a list of articles."""
    rows = [
        {
            "id": row["eid"],
            "date": "2019-01-02",
            "summary": world.first_summary(row["eid"]),
            "articles": [
                {
                    "id": article["aid"],
                    "title": article["title"],
                    "text": article["content"],
                    "url": article["url"],
                    "origin": "WCEP",
                }
                for article in row["articles"]
            ],
            "wiki_links": [],
            "reference_urls": [],
            "category": "News",
        }
        for row in world.clusters
    ]
    _write_lines(folder / "val.jsonl", rows)


def _ratings(world: World) -> list[tuple[Row, str, Row]]:
    """Return each summary with an annotator and that annotator's ratings by aspect."""
    texts = {(row["eid"], row["system"]): row for row in world.rated_summaries}
    results: dict[tuple[str, str, str], Row] = {}
    for row in world.labels:
        key = (row["eid"], row["system"], row["annotator"])
        results.setdefault(key, {})[row["aspect"]] = row["value"]
    return [
        (texts[eid, system], annotator, rated)
        for (eid, system, annotator), rated in results.items()
    ]


def summeval(world: World, folder: Path) -> None:
    """Write SummEval's file: one row per summary with all ratings."""
    by_summary: dict[tuple[str, str], list[Row]] = {}
    for row, _, rated in _ratings(world):
        by_summary.setdefault((row["eid"], row["system"]), []).append(rated)
    rows = [
        {
            "id": row["eid"],
            "model_id": row["system"],
            "decoded": row["text"],
            "text": world.rated_articles[row["eid"]],
            "references": [],
            "filepath": f"cnndm/{row['eid']}.story",
            "expert_annotations": by_summary[row["eid"], row["system"]],
            "turker_annotations": [],
        }
        for row in world.rated_summaries
        if (row["eid"], row["system"]) in by_summary
    ]
    _write_lines(folder / "model_annotations.aligned.paired.jsonl", rows)


def reviews(world: World, folder: Path) -> None:
    """Write one row per review."""
    _write_table(folder / "reviews.csv", world.reviews)


def label_studio(world: World, folder: Path) -> None:
    """Write JSON-MIN with one row per annotation, and a file of the articles."""
    rows = [
        {
            "id": place,
            "eid": row["eid"],
            "system": row["system"],
            "text": row["text"],
            **rated,
            "annotator": annotator,
            "annotation_id": place,
            "created_at": "2024-01-01",
            "updated_at": "2024-01-01",
            "lead_time": 3.1,
        }
        for place, (row, annotator, rated) in enumerate(_ratings(world), 1)
    ]
    (folder / "export.json").write_text(json.dumps(rows), "utf-8")
    articles = [{"id": eid, "documents": [text]} for eid, text in world.rated_articles.items()]
    _write_lines(folder / "articles.jsonl", articles)


def rated(world: World, folder: Path) -> None:
    """Write one row per rated summary, with semicolons and the index column of pandas."""
    rows = [
        {
            "": place,
            "doc_id": row["eid"],
            "source": world.rated_articles[row["eid"]],
            "model": row["system"],
            "summary": row["text"],
            **by_aspect,
            "annotator": annotator,
        }
        for place, (row, annotator, by_aspect) in enumerate(_ratings(world))
    ]
    _write_table(folder / "rated.csv", rows, delimiter=";")


def wide(world: World, folder: Path) -> None:
    """Write one column per system, named as on the page."""
    systems = sorted({row["system"] for row in world.rated_summaries})[:2]
    texts = {(row["eid"], row["system"]): row["text"] for row in world.rated_summaries}
    rows = [
        {
            "id": eid,
            "source": _line(text),
            **{
                name: _line(texts[eid, system])
                for name, system in zip(("gpt", "llama"), systems, strict=True)
            },
        }
        for eid, text in world.rated_articles.items()
    ]
    _write_table(folder / "wide.tsv", rows, delimiter="\t")


def parquet(world: World, folder: Path) -> None:
    """Write Multi-News as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet as files

    files.write_table(pa.Table.from_pylist(_multi_news(world)), folder / "test.parquet")


def on_disk(world: World, folder: Path) -> None:
    """Write Multi-News as ``save_to_disk`` does."""
    import pyarrow as pa

    table = pa.Table.from_pylist(_multi_news(world))
    split = folder / "multi_news" / "test"
    split.mkdir(parents=True)
    name = "data-00000-of-00001.arrow"
    with pa.ipc.new_stream(split / name, table.schema) as stream:
        stream.write_table(table)
    (split / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    (folder / "multi_news" / "dataset_dict.json").write_text('{"splits": ["test"]}')


def _write_table(path: Path, rows: Sequence[Row], *, delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


MAKERS: dict[str, Callable[[World, Path], None]] = {
    "Multi-News": multi_news,
    "Multi-News as lines": lines,
    "WCEP": wcep,
    "SummEval": summeval,
    "Reviews": reviews,
    "Label Studio's JSON-MIN": label_studio,
    "A table of rated summaries": rated,
    "A column for each system": wide,
    "Parquet": parquet,
    "A data set on disk": on_disk,
}
"""The sections of the page whose files are made here."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """The commands and seconds from a file in one layout to a leaderboard."""

    title: str
    n_commands: int
    seconds: float
    n_summaries: int
    n_ranked: int
    problem: str = ""


def way(title: str, section: str, world: World, port: int) -> Way:
    """Run a section's commands up to a leaderboard; stop at the first failure."""
    blocks = _BLOCK.findall(section)
    (line,) = [text for kind, _, text in blocks if kind == "sh"]
    backend = ["--backend", "openai:stub", "--base-url", f"http://127.0.0.1:{port}/v1"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if title in MAKERS:
            MAKERS[title](world, folder)
        else:
            for _, file, text in blocks:
                if file:
                    (folder / file).write_text(text, "utf-8")
        commands, begun = [shlex.split(line)], time.perf_counter()
        for command in commands:
            out, problem = _run(command, folder)
            if problem:
                break
            following = shlex.split(out.rpartition("Next: fairjudge ")[2].partition("\n")[0])
            if command[1] == "judge":
                break
            if command[1] == "summarize":
                following = shlex.split(
                    "judge --references data/clusters.jsonl --summaries data/summaries.jsonl "
                    "--aspect faithfulness --protocol likert -o data/judgements.jsonl"
                )
            words = following[:-2] if "PROVIDER:MODEL" in following else following
            commands.append(["fairjudge", *words, *backend])
        seconds = time.perf_counter() - begun
        summaries = folder / "data" / "summaries.jsonl"
        rows = summaries.read_text("utf-8").splitlines() if summaries.is_file() else []
    systems = {json.loads(row)["system"] for row in rows}
    ranked = [name for name in systems if name in out and not problem]
    return Way(
        title=title,
        n_commands=len(commands),
        seconds=seconds,
        n_summaries=len(rows),
        n_ranked=len(ranked),
        problem=problem,
    )


def _run(command: Sequence[str], folder: Path) -> tuple[str, str]:
    """Return a command's output and its error, which is empty on success."""
    cache = folder / "cache"
    environment = {"OPENAI_API_KEY": "none", "XDG_CACHE_HOME": str(cache), "COLUMNS": "200"}
    process = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return process.stdout, process.stderr.strip().rpartition("\n")[2] if process.returncode else ""


def table(ways: Sequence[Way], note: str) -> TextTable:
    """Return the table of the page."""
    numbers = ("commands", "seconds", "summaries", "systems ranked")
    return TextTable(
        title="From a file to a leaderboard",
        columns=columns("layout", *numbers, "error", numbers=numbers),
        rows=tuple(
            (
                way.title,
                str(way.n_commands),
                f"{way.seconds:.0f}",
                str(way.n_summaries),
                str(way.n_ranked),
                way.problem or "none",
            )
            for way in ways
        ),
        notes=(note,),
    )


def main() -> None:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    world = bundled() if options.data is None else real(options.data)
    text = options.page.read_text("utf-8")
    sections = {part.partition("\n")[0]: part for part in text.split("\n## ")[1:]}
    titles = [title for title, part in sections.items() if "\n```sh" in part]
    with stub() as (port, _):
        ways = [
            way(title, sections[title], world, port)
            for title in titles
            if options.only is None or title in options.only
        ]
    result = table(ways, describe_machine())
    print_table(result)
    rows = [[column.heading for column in result.columns], *result.rows]
    write_between(options.page, "measured", f"\n{_markdown(rows)}\n{describe_machine()}.\n\n")


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *body]) + "\n"


if __name__ == "__main__":
    main()
