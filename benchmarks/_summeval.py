"""SummEval's consistency: its data, and the agreement of scores with its experts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _data import DATA, read_rows
from numpy.typing import NDArray
from scipy.stats import rankdata

from fairjudge.datasets.readers import read_clusters, read_labels, read_summaries
from fairjudge.domain import Cluster, Summary, Unscored
from fairjudge.parsing import read_verdict
from fairjudge.scales import likert, options, stars

SUMMEVAL = DATA / "summeval"
EXPERTS = ("expert1", "expert2", "expert3")
JUDGES = {"rts": likert(), "mcq": options("ABCDE"), "stareval": stars()}

Item = tuple[str, str]
Scores = Mapping[Item, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Clusters of one article, their summaries, and the experts' mean consistency ratings."""

    clusters: tuple[Cluster, ...]
    summaries: tuple[Summary, ...]
    human: dict[Item, float]


def read(folder: Path) -> Data:
    """Read the data set in `folder`."""
    labels: dict[Item, list[float]] = {}
    for label in read_labels(folder / "labels.jsonl"):
        if label.aspect == "consistency" and label.annotator in EXPERTS:
            labels.setdefault((label.eid, str(label.system)), []).append(float(label.value))
    return Data(
        clusters=tuple(read_clusters(folder / "clusters.jsonl")),
        summaries=tuple(read_summaries(folder / "summaries.jsonl")),
        human={item: float(np.mean(values)) for item, values in labels.items()},
    )


def recorded(folder: Path, name: str, items: Iterable[Item]) -> dict[Item, float]:
    """Return the first scored reply of a recorded judge for each item that has one."""
    scores: dict[Item, float] = {}
    item_keys = set(items)
    for record in read_rows(folder / f"judge_gpt-3.5_{name}.jsonl"):
        item = (record["eid"], record["system"])
        if record["aspect"] != "consistency" or item not in item_keys or item in scores:
            continue
        value = read_verdict(record["response"], JUDGES[name])
        if isinstance(value, float):
            scores[item] = value
    return scores


def recorded_verdicts(name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield a recorded judge's records, each with its value or the reason why it has none."""
    for record in read_rows(SUMMEVAL / f"judge_gpt-3.5_{name}.jsonl"):
        value = read_verdict(record["response"], JUDGES[name], aspect=record["aspect"])
        if isinstance(value, Unscored):
            yield record, {"unscored": value.reason}
        else:
            yield record, {"value": value}


def table(scores: Scores, human: Scores) -> NDArray[np.float64]:
    """Return scores of shape (documents, systems), NaN if missing."""
    systems = sorted({system for _, system in human})
    documents = sorted({eid for eid, _ in human})
    return np.array([[scores.get((e, s), np.nan) for s in systems] for e in documents])


def pooled(scores: NDArray[np.float64], human: NDArray[np.float64]) -> float:
    """Return Spearman's rho over all summaries."""
    is_scored = ~np.isnan(scores)
    return spearman(scores[is_scored], human[is_scored])


def by_system(scores: NDArray[np.float64], human: NDArray[np.float64]) -> float:
    """Return Spearman's rho between the systems' means over the summaries with a score."""
    scored = np.where(np.isnan(scores), np.nan, human)
    return spearman(np.nanmean(scores, axis=0), np.nanmean(scored, axis=0))


LEVELS: dict[str, Callable[[NDArray[np.float64], NDArray[np.float64]], float]] = {
    "pooled": pooled,
    "12 systems": by_system,
}


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Spearman's rho; NaN if either is constant."""
    a, b = rankdata(x), rankdata(y)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0 else float("nan")
