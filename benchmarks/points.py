"""Purity of the default builder's groups by a reader's marks, and the builder's speed.

    python benchmarks/points.py draw FILE [--seed N]        # 60 random groups, to be marked
    python benchmarks/points.py count [FILE]                # counts of the marks
    python benchmarks/points.py speed [--data FOLDER]       # seconds: 46 articles; 100 KB; 1 MB

Groups are drawn from clusters of real outlets (allsides), of writers on one event (newsstance), and
from the crawled cluster of 46 articles (recession). In allsides and newsstance only every second
cluster is used; the thresholds were chosen on the others. A reader adds ``pure`` (all statements of
the group have the same meaning) and ``doubled`` (another group of its cluster has that meaning) to
each line of FILE. The recorded marks, with the first words of each statement, are in
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
    """Return the clusters of a source; only every second one if the others chose thresholds."""
    names = {"allsides": "clusters.jsonl.gz", "newsstance": "clusters.jsonl"}
    if source in names:
        rows = read_rows(folder / source / names[source])[1::2]
    else:
        rows = json.loads((folder / source / "cluster.json").read_text(encoding="utf-8"))
    return [Cluster.model_validate(row) for row in rows]


def groups(folder: Path, seed: int) -> Iterator[dict[str, Any]]:
    """Yield every group of several sources, with the other groups of its cluster."""
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
    """Write random groups to be marked."""
    result = list(groups(folder, seed))
    sample = random.Random(seed).sample(result, min(N_GROUPS, len(result)))  # noqa: S311
    write_jsonl(path, sample)


def count(path: Path) -> dict[str, int]:
    """Return the numbers of marked, of pure and of doubled groups."""
    rows = read_rows(path)
    return {"read": len(rows)} | {
        name: sum(bool(row[name]) for row in rows) for name in ("pure", "doubled")
    }


def speed(folder: Path) -> dict[str, float]:
    """Return the seconds to find points in 46 articles, and in a long and three short ones."""
    cluster = clusters(folder, "recession")[0].articles
    text = "\n\n".join(article.content for article in cluster)
    results = {}
    for name, size in (("46 articles", 0), ("100 KB", 100_000), ("1 MB", 1_000_000)):
        long = (text * (1 + size // len(text)))[:size]
        # number the repeated paragraphs, as identical ones would be skipped
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
