"""Faithfulness without an LLM on SummEval: support of summaries by their article.

Spearman's rho with the mean of the three experts' consistency, beside the plain cosine, GPT-3.5's
recorded judgements and baselines that read nothing: pooled over items; within each document, then
averaged over the documents where both vary; and between the 12 systems' means. Intervals: 95 %
percentile bootstrap that resamples documents.

How choices were made: everything (signals, weights, aggregation, passages) was chosen on the
development half, documents whose sha256 of the eid is even; the other half was scored once, after
everything was fixed. Scale, intercept and the weight of names were set in advance.

Measured once everything was fixed, pooled rho: held out 0.424 [0.37, 0.47] (plain cosine 0.389,
GPT-3.5 reason-then-score 0.431, difference -0.007 [-0.09, 0.08]); development 0.447, against 0.357
and 0.420. So it is level with GPT-3.5 on the held-out half, not past it, and its gain over the
plain cosine there, 0.035 [-0.00, 0.08], is a good deal smaller than on the development half. It
ranks the 12 systems far worse than GPT-3.5 does (0.49 against 0.87 on all documents): it favours
systems that copy.

    python benchmarks/summeval_local.py [FOLDER] [--json FILE] [--development-only] [--fit]

FOLDER holds SummEval (default: ../shared/data/summeval beside the project). `--fit` refits the
weights on the development half and prints them beside the ones in use.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from _machine import describe_machine
from numpy.typing import NDArray
from scipy.optimize import lsq_linear
from scipy.stats import rankdata

from fairjudge.datasets.readers import read_clusters, read_labels, read_summaries
from fairjudge.judges.support import (
    WEIGHTS,
    SentenceSupport,
    index_sources,
    sentence_support,
    summary_support,
    weighted_values,
)
from fairjudge.parsing import read_verdict
from fairjudge.protocols import Embedder
from fairjudge.scales import likert, options, stars
from fairjudge.scorers.embedding import load_embedder
from fairjudge.text.signals import words
from fairjudge.text.statements import split_statements

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "summeval"
EXPERTS = ("expert1", "expert2", "expert3")
JUDGES = {"rts": likert(), "mcq": options("ABCDE"), "stareval": stars()}
OURS, PLAIN = "support (ours)", "plain cosine"
COMPARED = (PLAIN, "GPT-3.5 rts", "GPT-3.5 mcq", "GPT-3.5 stareval")
RESAMPLES, SEED = 1000, 0
RIDGE, NAMES_FLOOR = 5.0, 0.6
LEVELS = ("pooled", "per_document", "system")

Item = tuple[str, str]
Scores = Mapping[Item, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A correlation, or a difference of two, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One scorer on one part of the documents; `difference` is ours minus this one, pooled."""

    part: str
    scorer: str
    n: int
    figures: dict[str, Figure]
    difference: Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """SummEval as it is needed here; `human` is the mean of the experts' consistency."""

    articles: dict[str, tuple[str, ...]]
    summaries: dict[Item, tuple[str, ...]]
    human: dict[Item, float]


def is_development(eid: str) -> bool:
    """Say whether a document is in the half on which choices were made."""
    return int(hashlib.sha256(eid.encode()).hexdigest(), 16) % 2 == 0


def read(folder: Path, *, development_only: bool) -> Data:
    """Read articles and summaries as sentences, and the experts' means."""
    labels: dict[Item, list[float]] = {}
    for label in read_labels(folder / "labels.jsonl"):
        if label.aspect == "consistency" and label.annotator in EXPERTS:
            labels.setdefault((label.eid, str(label.system)), []).append(float(label.value))
    articles = {
        cluster.eid: _sentences(cluster.articles[0].content)
        for cluster in read_clusters(folder / "clusters.jsonl")
        if is_development(cluster.eid) or not development_only
    }
    return Data(
        articles=articles,
        summaries={
            (summary.eid, summary.system): _sentences(summary.text)
            for summary in read_summaries(folder / "summaries.jsonl")
            if summary.eid in articles
        },
        human={item: float(np.mean(v)) for item, v in labels.items() if item[0] in articles},
    )


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(span.text for span in split_statements(text))


class Remembering:
    """An embedder that embeds every text once."""

    def __init__(self, embedder: Embedder, texts: Iterable[str]) -> None:
        self.fingerprint = embedder.fingerprint
        distinct = sorted(set(texts))
        self._rows = dict(zip(distinct, embedder.embed(distinct), strict=True))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Look the rows up."""
        return np.stack([self._rows[text] for text in texts])


def judge(data: Data, embedder: Embedder) -> dict[Item, tuple[SentenceSupport, ...]]:
    """Return the support of every summary sentence."""
    found = {}
    for eid, article in data.articles.items():
        source = index_sources([article], embedder=embedder)
        for item, sentences in data.summaries.items():
            if item[0] == eid:
                found[item] = sentence_support(sentences, source, embedder=embedder)
    return found


def baselines(data: Data, embedder: Embedder) -> dict[str, Scores]:
    """Return the plain cosine, and scores that take no notice of meaning."""
    cosine: dict[Item, float] = {}
    lead: dict[Item, float] = {}
    length: dict[Item, float] = {}
    for item, sentences in data.summaries.items():
        article = data.articles[item[0]]
        similarity = embedder.embed(sentences) @ embedder.embed(article).T
        cosine[item] = float(similarity.max(axis=1).mean())
        opening = frozenset(words(" ".join(article[:3])).content)
        content = words(" ".join(sentences)).content
        lead[item] = sum(word in opening for word in content) / max(len(content), 1)
        length[item] = sum(len(sentence.split()) for sentence in sentences)
    shortest = {item: -n for item, n in length.items()}
    return {PLAIN: cosine, "lead overlap": lead, "longest": length, "shortest": shortest}


def recorded(folder: Path, name: str, wanted: Iterable[Item]) -> Scores:
    """Read the first scored reply a recorded judge gave to each item; the rest is left out."""
    scores: dict[Item, float] = {}
    items = set(wanted)
    with (folder / f"judge_gpt-3.5_{name}.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            item = (record["eid"], record["system"])
            if record["aspect"] != "consistency" or item not in items or item in scores:
                continue
            value = read_verdict(record["response"], JUDGES[name])
            if isinstance(value, float):
                scores[item] = value
    return scores


def correlate(
    scores: NDArray[np.float64], human: NDArray[np.float64], within: NDArray[np.float64]
) -> dict[str, float]:
    """Return rho at each level.

    Scores and labels are (documents, systems), nan where there is no score; `within` is what
    `_within_documents` says of them.
    """
    present = ~np.isnan(scores)
    return {
        "pooled": _spearman(scores[present], human[present]),
        "per_document": float(np.nanmean(within)),
        "system": _spearman(
            np.nanmean(scores, axis=0), np.nanmean(np.where(present, human, np.nan), axis=0)
        ),
    }


def _within_documents(
    scores: NDArray[np.float64], human: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return rho of each document, nan where labels or scores do not vary."""
    present = ~np.isnan(scores)
    return np.array([_spearman(s[p], h[p]) for s, h, p in zip(scores, human, present, strict=True)])


def _spearman(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    a, b = rankdata(left), rankdata(right)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0 else float("nan")


def report(data: Data, scorers: Mapping[str, Scores]) -> list[Row]:
    """Correlate every scorer on each half and on all documents."""
    parts: dict[str, Callable[[str], bool]] = {
        "development": is_development,
        "held out": lambda eid: not is_development(eid),
        "all": lambda _: True,
    }
    rows: list[Row] = []
    for part, belongs in parts.items():
        eids = sorted(filter(belongs, data.articles))
        if eids and (part != "all" or len(rows) > len(scorers)):
            rows += _part_rows(part, eids, data, scorers)
    return rows


def _part_rows(
    part: str, eids: Sequence[str], data: Data, scorers: Mapping[str, Scores]
) -> list[Row]:
    systems = sorted({system for _, system in data.human})

    def table(scores: Scores) -> NDArray[np.float64]:
        return np.array([[scores.get((e, s), np.nan) for s in systems] for e in eids])

    human = table(data.human)
    rng = np.random.default_rng(SEED)
    draws = rng.integers(len(eids), size=(RESAMPLES, len(eids)))
    tables = {name: table(scores) for name, scores in scorers.items()}
    within = {name: _within_documents(scores, human) for name, scores in tables.items()}
    values = {name: correlate(scores, human, within[name]) for name, scores in tables.items()}
    resampled = {
        name: [correlate(scores[draw], human[draw], within[name][draw]) for draw in draws]
        for name, scores in tables.items()
    }

    def figure(value: float, sample: Iterable[float]) -> Figure:
        low, high = np.nanpercentile(list(sample), [2.5, 97.5])
        return Figure(value=value, low=float(low), high=float(high))

    return [
        Row(
            part=part,
            scorer=name,
            n=int((~np.isnan(scores)).sum()),
            figures={
                level: figure(values[name][level], (found[level] for found in resampled[name]))
                for level in LEVELS
            },
            difference=figure(
                values[OURS]["pooled"] - values[name]["pooled"],
                (
                    ours["pooled"] - other["pooled"]
                    for ours, other in zip(resampled[OURS], resampled[name], strict=True)
                ),
            )
            if name in COMPARED
            else None,
        )
        for name, scores in tables.items()
    ]


def fit(data: Data, found: Mapping[Item, Sequence[SentenceSupport]]) -> dict[str, float]:
    """Refit the weights on the development half, with the cosine's as unit.

    Least squares of the ranks of the experts' means on the aggregated signals, each weight kept on
    its side of zero and the names' from coming under its floor, ridge `RIDGE` a standard
    deviation; the evidence is what the present weights chose.
    """
    items = sorted(item for item in found if is_development(item[0]))
    signs = np.sign(list(WEIGHTS.values()))
    values = np.array([_aggregated(found[item]) for item in items]) * signs
    spread = values.std(axis=0)
    ranks = rankdata([data.human[item] for item in items])
    target = (ranks - ranks.mean()) / ranks.std()
    standard = (values - values.mean(axis=0)) / spread
    lowest = np.array([NAMES_FLOOR if name == "names" else 0.0 for name in WEIGHTS]) * spread
    solved = lsq_linear(
        np.vstack([standard, np.sqrt(RIDGE) * np.eye(len(signs))]),
        np.concatenate([target, np.zeros(len(signs))]),
        bounds=(lowest, np.inf),
    )
    weights = signs * solved.x / spread
    return {name: float(w / weights[0]) for name, w in zip(WEIGHTS, weights, strict=True)}


def _aggregated(sentences: Sequence[SentenceSupport]) -> NDArray[np.float64]:
    rows = np.array([list(weighted_values(s.signals, s.cosine).values()) for s in sentences])
    weakest = int(np.argmin([sentence.log_odds for sentence in sentences]))
    return np.asarray((rows.mean(axis=0) + rows[weakest]) / 2, dtype=np.float64)


def show(rows: Sequence[Row]) -> None:
    """Print the table."""
    for row in rows:
        if row.scorer == OURS:
            print(f"\n{row.part}\n{'':18}{'n':>5}" + "".join(f"{lv:>23}" for lv in LEVELS), end="")
            print(f"{'ours minus it':>23}")
        figures = [row.figures[level] for level in LEVELS]
        cells = [*figures, *([row.difference] if row.difference else [])]
        text = "".join(f"{f.value:>8.3f} [{f.low:>5.2f}, {f.high:>4.2f}]" for f in cells)
        print(f"{row.scorer:18}{row.n:>5} {text}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Faithfulness without an LLM on SummEval.")
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--json", metavar="FILE", help="write the figures; - is standard output")
    parser.add_argument("--development-only", action="store_true", help="leave the rest unscored")
    parser.add_argument("--fit", action="store_true", help="refit the weights and print them")
    parser.add_argument("--embedding-model", metavar="MODEL")
    chosen = parser.parse_args(arguments)
    if not (chosen.folder / "summaries.jsonl").is_file():
        print(f"no summaries.jsonl in {str(chosen.folder)!r}", file=sys.stderr)
        return 1
    data = read(chosen.folder, development_only=chosen.development_only or chosen.fit)
    texts = [s for group in (data.articles, data.summaries) for t in group.values() for s in t]
    started = time.perf_counter()
    embedder = Remembering(load_embedder(chosen.embedding_model), texts)
    embedded = time.perf_counter()
    found = judge(data, embedder)
    seconds = {"embedding": embedded - started, "support": time.perf_counter() - embedded}
    if chosen.fit:
        for name, weight in fit(data, found).items():
            print(f"{name:12}{weight:8.2f}  in use {WEIGHTS[name] / WEIGHTS['cosine']:8.2f}")
        return 0
    scorers: dict[str, Scores] = {
        OURS: {item: summary_support(sentences) for item, sentences in found.items()},
        **baselines(data, embedder),
        **{f"GPT-3.5 {name}": recorded(chosen.folder, name, data.human) for name in JUDGES},
    }
    rows = report(data, scorers)
    facts = {"machine": describe_machine(), "embedder": embedder.fingerprint, "seconds": seconds}
    if chosen.json != "-":
        show(rows)
        print(f"\n{embedder.fingerprint}; {describe_machine()}; seconds {seconds}")
    if chosen.json:
        text = json.dumps({**facts, "rows": [asdict(row) for row in rows]}, indent=2)
        if chosen.json == "-":
            print(text)
        else:
            Path(chosen.json).write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
