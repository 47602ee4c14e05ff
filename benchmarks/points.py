"""Whether groups of the default builder say one thing, by a reader's marks; and its speed.

    python benchmarks/points.py draw FILE [--seed N]        # 60 groups by seed, to be read
    python benchmarks/points.py count [FILE]                # what the marks say
    python benchmarks/points.py speed [--data FOLDER]       # seconds: 46 articles; 100 KB; 1 MB

Groups are drawn from clusters of real outlets (allsides), of writers on one event (newsstance),
and the crawled cluster of 46 articles (recession). Of allsides and newsstance every second cluster
is drawn from: the others chose the thresholds. A reader writes ``pure`` (all its statements say
one thing) and ``doubled`` (another group of its cluster says the same) into each line of FILE; the
marks that were made, with the first words of each statement, are in
`tests/references/point_marks.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from _data import DATA, read_rows

from fairjudge.datasets.writers import write_jsonl
from fairjudge.domain import Article, Cluster
from fairjudge.references.local import LocalReferences
from fairjudge.references.points import PointFinder
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import load_trained_models
from fairjudge.text.usable import usable

ROOT = Path(__file__).resolve().parents[1]
MARKS = ROOT / "tests" / "references" / "point_marks.jsonl"
SEED, N_GROUPS = 33, 60
CLUSTERS = {"recession": 1, "newsstance": 14, "allsides": 150}
"""Clusters of each source that are drawn, and built."""


def clusters(folder: Path, source: str) -> list[Cluster]:
    """Return the clusters of a source; of those that others drew from, every second one."""
    names = {"allsides": "clusters.jsonl.gz", "newsstance": "clusters.jsonl"}
    if source in names:
        rows = read_rows(folder / source / names[source])[1::2]
    else:
        rows = json.loads((folder / source / "cluster.json").read_text(encoding="utf-8"))
    return [Cluster.model_validate(row) for row in rows]


def groups(folder: Path, seed: int) -> Iterator[dict[str, Any]]:
    """Yield every group of several sources, with the other ones of its cluster."""
    finder = PointFinder(embedder=load_embedder(), models=load_trained_models())
    for source, n in CLUSTERS.items():
        result = clusters(folder, source)
        n_points = []
        for cluster in random.Random(seed).sample(result, min(n, len(result))):  # noqa: S311
            points = [p for p in finder.find(usable(cluster.articles)[0]) if len(p.sources) > 1]
            n_points.append(len(points))
            texts = [[statement.text for statement in point.statements] for point in points]
            for place, statements in enumerate(texts):
                leads = [other[0] for o, other in enumerate(texts) if o != place]
                yield {"source": source, "eid": cluster.eid, "group": statements, "others": leads}
        with_some = sum(map(bool, n_points))
        print(
            f"{source}: {sum(n_points)} groups in {with_some} of {len(n_points)} clusters",
            file=sys.stderr,
            flush=True,
        )


def draw(folder: Path, path: Path, seed: int) -> None:
    """Write groups to be read."""
    result = list(groups(folder, seed))
    sample = random.Random(seed).sample(result, min(N_GROUPS, len(result)))  # noqa: S311
    write_jsonl(path, sample)


def count(path: Path) -> dict[str, int]:
    """Return how many groups were read, and how many are pure and doubled."""
    rows = read_rows(path)
    return {"read": len(rows)} | {
        name: sum(bool(row[name]) for row in rows) for name in ("pure", "doubled")
    }


def speed(folder: Path) -> dict[str, float]:
    """Return the seconds that points take, of 46 articles and of long ones beside them."""
    cluster = clusters(folder, "recession")[0].articles
    text = "\n\n".join(article.content for article in cluster)
    results = {}
    for name, size in (("46 articles", 0), ("100 KB", 100_000), ("1 MB", 1_000_000)):
        long = (text * (1 + size // len(text)))[:size]
        # each long text differs from its copies, as a real one does
        parts = [f"{paragraph} In case {n}." for n, paragraph in enumerate(long.split("\n\n"))]
        articles = [Article(aid="long", content="\n\n".join(parts)), *cluster[:3]]
        started = time.perf_counter()
        local = LocalReferences(load_embedder(), load_trained_models())
        local.questions(articles if size else cluster)
        results[name] = round(time.perf_counter() - started, 1)
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the subcommand."""
    parser = argparse.ArgumentParser(description="Read and count groups of the default builder.")
    parser.add_argument("what", choices=("draw", "count", "speed"))
    parser.add_argument("file", type=Path, nargs="?", default=MARKS)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=SEED)
    chosen = parser.parse_args(arguments)
    if chosen.what == "draw":
        draw(chosen.data, chosen.file, chosen.seed)
    else:
        print(json.dumps(count(chosen.file) if chosen.what == "count" else speed(chosen.data)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
