"""What the embedded default tells, measured on people's labels; writes the table of docs/local.md.

    python benchmarks/local.py [--backend local-large] [--data FOLDER] [--only MEASURE ...]

FOLDER is `../shared/data` beside the project. Each measure is kept in `results/local.json` when it
is done, and one that was made on the same weights is not made again unless named by `--only`: a run
that was interrupted goes on where it was. The table has all that are there. Intervals are 95 %
percentile bootstraps that resample documents (groups of pairs, clusters). Nothing here was trained
or tuned on: documents and groups are those that training left out, and SummEval, NAnCo's test
questions and the events had no part in it. SummHay's insights are judged by a fit without their
topic.
"""

# ruff: noqa: E402, S311 - training/ is found by path; draws are no secrets

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # for training/, which is not installed

import _planted
import _summeval
import nanco
from _data import DATA, read_rows
from _figures import balanced_accuracy, roc_area
from _machine import RESULTS, describe_machine, write_between, write_results

from fairjudge.analysis.calibrating import trained_support
from fairjudge.datasets.readers import read_clusters
from fairjudge.domain import Answer, Article, Cluster, JudgeTask, Unscored
from fairjudge.judges.balance import balance_score, mean_coverage
from fairjudge.judges.trained import TrainedSupport
from fairjudge.ports import Embedder
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import TrainedModels, load_trained_models
from fairjudge.scorers.trained_record import trained_folder
from fairjudge.text.sentences import news_sentences
from training import data as training_data
from training import statements
from training.coverage_fit import insights_covered
from training.key_points import topic_rows

FILES = {"local": RESULTS / "local.json", "local-large": RESULTS / "local_large.json"}
DOCUMENT = ROOT / "docs" / "local.md"
EVENTS = ROOT / "tests" / "judges" / "events.jsonl"
READ = EVENTS.with_name("event_answers.jsonl")
"""Which groups of answers each of `EVENTS` covers, by a careful reader who saw no score."""
KINDS = ("balanced", "one-sided", "wrong")
RESAMPLES, SEED = 1000, 0
MAX_LABELS = 2000
"""Labels of REALSumm taken, evenly."""
MAX_PAIRS = 400
"""Pairs of entailment taken of each source."""
N_PLANTED = 200

Numbers = NDArray[np.float64]
Statistic = Callable[[NDArray[np.int64]], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table, with its 95 % interval where there is one."""

    measure: str
    value: float
    low: float | None = None
    high: float | None = None
    n: str = ""
    before: str = ""
    goal: str = ""
    compare: str = ""


@dataclass(frozen=True)
class Bench:
    """Models and data that measures share."""

    folder: Path
    n_events: int | None = None
    backend: str = "local"

    @cached_property
    def models(self) -> TrainedModels:
        """The weights that ship."""
        return load_trained_models(folder=trained_folder(self.backend))

    @cached_property
    def embedder(self) -> Embedder:
        """The packaged encoder."""
        return load_embedder()

    @cached_property
    def support(self) -> TrainedSupport:
        """The judges' scorer, which embeds each sentence once."""
        return TrainedSupport(models=self.models, embedder=self.embedder)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Read a file of `folder` line by line."""
        return read_rows(self.folder / name)

    @cached_property
    def events(self) -> tuple[Cluster, ...]:
        """The 60 events of newsstance, or the first `n_events` of them."""
        return tuple(read_clusters(self.folder / "newsstance" / "clusters.jsonl"))[: self.n_events]


# --- figures ---------------------------------------------------------------------------------


def interval(statistic: Statistic, documents: Sequence[str]) -> tuple[float, float, float]:
    """Return a statistic of row numbers with its interval; rows are resampled by document."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, document in enumerate(documents):
        numbers[document].append(number)
    parts = [np.array(rows) for rows in numbers.values()]
    rng = np.random.default_rng(SEED)
    draws = rng.integers(len(parts), size=(RESAMPLES, len(parts)))
    values = [statistic(np.concatenate([parts[i] for i in draw])) for draw in draws]
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return statistic(np.arange(len(documents))), float(low), float(high)


def area(scores: Numbers, labels: Numbers) -> float:
    """Return the ROC AUC curve."""
    return roc_area(scores, labels > 0)


def balanced(answers: NDArray[np.bool_], labels: Numbers) -> float:
    """Return the balanced accuracy of answers of yes and no."""
    return balanced_accuracy(labels > 0, answers)


def row(measure: str, estimate: tuple[float, float, float], **about: str) -> Row:
    """Return a line with an interval."""
    value, low, high = estimate
    return Row(measure=measure, value=value, low=low, high=high, **about)


# --- measures --------------------------------------------------------------------------------


def coverage(bench: Bench) -> list[Row]:
    """People's labels whether a unit is in a summary."""
    kept_out = {
        example.group for example in training_data.coverage("test", folder=bench.folder)
        if example.source == "realsumm"
    }  # fmt: skip
    realsumm = [
        label for label in bench.rows("coverage/realsumm.jsonl.gz") if label["eid"] in kept_out
    ]
    realsumm = realsumm[:: -(-len(realsumm) // MAX_LABELS)]
    p, labels = _covered(bench, realsumm)
    documents = [label["eid"] for label in realsumm]
    n = f"{len(realsumm):,} labels, {len(kept_out)} documents"
    rows = [
        row("REALSumm, held-out documents: ROC AUC",
            interval(lambda i: area(p[i], labels[i]), documents),
            n=n, before=".857", goal=".90", compare="shared words .862"),
        row("the same: balanced accuracy",
            interval(lambda i: balanced(p[i] >= 0.5, labels[i]), documents),
            n=n, before=".69", goal=".82"),
        row("the same: share of yes minus the human share",
            interval(lambda i: float((p[i] >= 0.5).mean() - labels[i].mean()), documents),
            n=n, before="+.29", goal="within .05"),
    ]  # fmt: skip
    rows += _by_summary(realsumm, p, labels)
    summhay = bench.rows("coverage/summhay_conversations.jsonl.gz")
    q = insights_covered(bench.models, bench.embedder, source=bench.folder)
    covered = np.array([float(insight["covered"] > 0) for insight in summhay])
    rows.append(
        row("SummHay conversations, cross-fitted: balanced accuracy",
            interval(lambda i: balanced(q[i] >= 0.5, covered[i]),
                     [label["eid"] + label["system"] for label in summhay]),
            n=f"{len(summhay)} labels", before="not measured", goal=".80",
            compare="agreement of gpt-3.5 .765, gpt-4o .829")
    )  # fmt: skip
    return rows


def key_points(bench: Bench) -> list[Row]:
    """Arguments and key points of topics that training left out, people's matches; by topic."""
    labelled = [
        pair
        for split in ("calibrate", "test")
        for pair in topic_rows(split, folder=bench.folder)  # dev's topics are the learning curve's
    ]
    p = bench.models.coverage_probabilities(
        [(pair["argument"], pair["key_point"]) for pair in labelled]
    )
    labels = np.array([float(pair["match"]) for pair in labelled])
    groups = [f"{pair['topic']} {pair['stance']}" for pair in labelled]
    parts = {name: np.array([g == name for g in groups]) for name in dict.fromkeys(groups)}
    names = list(parts)
    n = f"{len(labelled):,} pairs, {len({pair['topic'] for pair in labelled})} topics"
    return [
        row(f"key points, held-out topics, mean over topics and stances: {title}",
            interval(lambda i, f=of_part: float(np.mean([f(names[k]) for k in i])), names), n=n)
        for title, of_part in (
            ("ROC AUC", lambda name: area(p[parts[name]], labels[parts[name]])),
            ("average precision", lambda name: precision(p[parts[name]], labels[parts[name]])),
        )
    ]  # fmt: skip


def precision(scores: Numbers, labels: Numbers) -> float:
    """Return the average precision."""
    return float(average_precision_score(labels > 0, scores))


def _by_summary(labelled: Sequence[dict[str, Any]], p: Numbers, labels: Numbers) -> list[Row]:
    """Whether a judge's share of covered units can be read as people's: Likert is 1 + 4 shares."""
    by_text: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, label in enumerate(labelled):
        by_text[label["eid"], label["text"]].append(number)
    ours, theirs = (np.array([v[i].mean() for i in by_text.values()]) for v in (p, labels))
    documents = [eid for eid, _ in by_text]
    n = f"{len(by_text):,} summaries"

    def slope(i: NDArray[np.int64]) -> float:
        return float(np.polyfit(ours[i], theirs[i], 1)[0])

    return [
        row("the same, summaries: human share covered minus the judge's",
            interval(lambda i: float((theirs[i] - ours[i]).mean()), documents), n=n),
        row("the same, summaries: slope of the human share on the judge's",
            interval(slope, documents), n=n, compare="1 if shares need no correction"),
    ]  # fmt: skip


def _covered(bench: Bench, labelled: Sequence[dict[str, Any]]) -> tuple[Numbers, Numbers]:
    support = bench.support
    by_text: dict[str, list[int]] = defaultdict(list)
    for number, label in enumerate(labelled):
        by_text[label["text"]].append(number)
    p = np.zeros(len(labelled))
    for text, numbers in by_text.items():
        units = [Answer(aid="a", answer=labelled[i]["unit"]) for i in numbers]
        shares = support.answers(text, units)
        p[numbers] = 0.0 if isinstance(shares, Unscored) else shares
    return p, np.array([float(label["covered"] > 0) for label in labelled])


def summeval(bench: Bench) -> list[Row]:
    """Agreement with SummEval's experts on consistency, and the time it takes."""
    folder = bench.folder / "summeval"
    data = _summeval.read(folder)
    models, embedder = bench.models, bench.embedder  # loaded before the clock starts
    started = time.perf_counter()
    ours = trained_support(data.summaries, data.clusters, models=models, embedder=embedder)
    seconds = time.perf_counter() - started
    human = _summeval.table(data.human, data.human)
    theirs = _summeval.recorded(folder, "rts", data.human)
    documents = [str(number) for number in range(len(human))]
    about = {
        "pooled": {"before": ".42 on half", "goal": ".48"},
        "12 systems": {"before": ".52 on half", "goal": ".80"},
    }
    rows = []
    for level, agree in _summeval.LEVELS.items():
        a, b = (_summeval.table(scores, data.human) for scores in (ours, theirs))
        gpt, low, high = interval(lambda i, b=b, f=agree: f(b[i], human[i]), documents)
        rows.append(
            row(f"SummEval consistency, Spearman, {level}",
                interval(lambda i, a=a, f=agree: f(a[i], human[i]), documents),
                n=f"{len(ours):,} summaries", **about[level],
                compare=f"GPT-3.5 {gpt:.3f} [{low:.2f}, {high:.2f}]")
        )  # fmt: skip
    rows.append(
        Row(
            measure="1,200 SummEval summaries, seconds",
            value=seconds,
            goal="120",
        )
    )
    return rows


def documents(bench: Bench) -> list[Row]:
    """Summaries of whole documents that people checked, of groups that no fit has seen."""
    by_source = statements.tested(
        bench.models, bench.embedder, folder=bench.folder, limit=MAX_PAIRS
    )
    fits = (bench.models.supported_weights, statements.HEAD_ALONE)
    rows = []
    for source, examples in by_source.items():
        labels = np.array([float(example.label) for example in examples])
        p, before = (
            np.array([statements.p_supported(example, weights) for example in examples])
            for weights in fits
        )
        yes = np.array(
            [statements.least_supported(example, fits[0]) >= 0.5 for example in examples]
        )
        note = ", never trained on" if source in training_data.MEASURED_ONLY else ""
        groups = [example.group for example in examples]
        rows += [
            row(f"summaries of documents, faithful or not: {source}{note}: ROC AUC",
                interval(lambda i, p=p, labels=labels: area(p[i], labels[i]), groups),
                n=f"{len(examples)} summaries", before=f"{area(before, labels):.3f}"),
            row("the same, binary verdict: balanced accuracy",
                interval(lambda i, yes=yes, labels=labels: balanced(yes[i], labels[i]), groups),
                n=f"{int(labels.sum())} faithful", before=f"{balanced(p >= 0.5, labels):.3f}"),
        ]  # fmt: skip
    return rows


def support(bench: Bench) -> list[Row]:
    """Three classes of pairs whose groups training left out; measured-only sources beside."""
    by_source: dict[str, list[training_data.Example]] = defaultdict(list)
    for example in training_data.support("test", folder=bench.folder):
        by_source[example.source].append(example)
    right: dict[str, NDArray[np.bool_]] = {}
    for source, every in by_source.items():
        examples = by_source[source] = every[:: -(-len(every) // MAX_PAIRS)]
        p = bench.models.support([(example.second, example.first) for example in examples])
        verdicts, labels = p.argmax(axis=1), np.array([example.label for example in examples])
        unsupported = labels == training_data.UNSUPPORTED
        right[source] = np.where(
            unsupported, verdicts != training_data.SUPPORTED, verdicts == labels
        )
    trained = [s for s in sorted(right) if s not in training_data.MEASURED_ONLY]
    pooled = np.concatenate([right[source] for source in trained]).astype(float)
    groups = [example.group for source in trained for example in by_source[source]]
    rows = [
        row("support, three classes, held-out groups: accuracy",
            interval(lambda i: float(pooled[i].mean()), groups),
            n=f"{len(pooled):,} pairs", before="none", goal=".80")
    ]  # fmt: skip
    for source in sorted(right):
        is_right = right[source].astype(float)
        note = ", source never trained on" if source in training_data.MEASURED_ONLY else ""
        rows.append(
            row(f"support: {source}{note}",
                interval(lambda i, s=is_right: float(s[i].mean()),
                         [example.group for example in by_source[source]]),
                n=f"{len(is_right)} pairs")
        )  # fmt: skip
    return rows


def reading(bench: Bench) -> list[Row]:
    """Questions of held-out documents, and as many over a sentence without an answer."""
    examples = list(training_data.reading("test", folder=bench.folder))
    examples = examples[:: -(-len(examples) // 3000)]
    spans = bench.models.read([(example.first, example.second) for example in examples])
    right = np.array(
        [(r.answered >= 0.5) == example.label for r, example in zip(spans, examples, strict=True)]
    )
    answered = [n for n, example in enumerate(examples) if example.label]
    f1 = np.array([_f1(examples[n].second, spans[n], examples[n].span) for n in answered])
    return [
        row("reading, held-out documents: F1 of spans",
            interval(lambda i: float(f1[i].mean()), [examples[n].group for n in answered]),
            n=f"{len(f1):,} questions", before="none", goal=".80"),
        row("reading: answer or none, accuracy",
            interval(lambda i: float(right[i].mean()), [example.group for example in examples]),
            n=f"{len(examples):,} questions", before="none", goal=".88"),
    ]  # fmt: skip


def _f1(text: str, reply: Any, span: tuple[int, int]) -> float:
    predicted = text[reply.start : reply.end].lower().split()
    true = text[span[0] : span[1]].lower().split()
    common = sum(min(predicted.count(word), true.count(word)) for word in set(predicted))
    return 2 * common / (len(predicted) + len(true)) if predicted or true else 0.0


def consolidation(bench: Bench) -> list[Row]:
    """NAnCo's test questions by the published protocol."""
    questions = nanco.read(bench.folder / "nanco" / "nanco.json")
    scores = {
        "the trained model": nanco.by_trained_model(bench.models),
        "embeddings in context": nanco.by_context(bench.embedder),
    }
    rows = []
    for name, score in scores.items():
        values = [question.pairs for question in nanco.run(questions, name, score).test]
        listed = ", ".join(f"{value:.3f}" for value in values)
        rows.append(
            Row(measure=f"NAnCo test questions, balanced accuracy: {name}",
                value=float(np.mean(values)), n=f"Q4, Q7, Q8, Q9: {listed}",
                before=".799", goal=".83", compare="best published .813")
        )  # fmt: skip
    return rows


def planted(bench: Bench) -> list[Row]:
    """Compare a sentence of an article with a changed one, by the other articles and by all."""
    pairs = _planted_pairs(bench)
    rows = []
    for name, by_all in (("the other articles", False), ("all articles", True)):
        tasks = []
        for cluster, aid, _, *texts in pairs:
            articles = tuple(a for a in cluster.articles if by_all or a.aid != aid)
            tasks += [(_task(cluster, text, articles=articles), text) for text in texts]
        scores = np.array(bench.support.measure(tasks)).reshape(-1, 2)
        right = (scores[:, 0] > scores[:, 1]) + 0.5 * (scores[:, 0] == scores[:, 1])
        by_kind = {
            kind: np.mean([r for r, pair in zip(right, pairs, strict=True) if pair[2] == kind])
            for kind in _planted.KINDS
            if any(pair[2] == kind for pair in pairs)
        }
        rows.append(
            row(f"planted changes on the events, judged by {name}: faithful over changed",
                interval(lambda i, r=right: float(r[i].mean()), [pair[0].eid for pair in pairs]),
                n=f"{len(pairs)}: " + ", ".join(f"{k} {v:.2f}" for k, v in by_kind.items()),
                before="not measured", goal=".90")
        )  # fmt: skip
    return rows


def _planted_pairs(bench: Bench) -> list[tuple[Cluster, str, str, str, str]]:
    """Return (cluster, article, kind, sentence, changed): kinds by turns, events by turns."""
    draw = random.Random(SEED)
    pools: dict[str, list[tuple[Cluster, str, str, str, str]]] = defaultdict(list)
    for cluster in draw.sample(bench.events, len(bench.events)):
        texts = [(a.aid, s.text) for a in cluster.articles for s in news_sentences(a.content)]
        docs = _planted.parsed([text for _, text in texts])
        kinds: set[str] = set()
        for place in draw.sample(range(len(docs)), min(40, len(docs))):
            aid, text = texts[place]
            for kind, changed in _planted.changes(docs[place], docs, draw):
                if kind not in kinds:
                    kinds.add(kind)
                    pools[kind].append((cluster, aid, kind, text, changed))
    pairs = [pair for group in pools.values() for pair in group]
    return draw.sample(pairs, min(N_PLANTED, len(pairs)))


def _task(cluster: Cluster, text: str, articles: tuple[Article, ...]) -> JudgeTask:
    return JudgeTask(
        eid=cluster.eid, systems=("s",), texts=(text,), aspect="faithfulness", protocol="likert",
        unit="summary", articles=articles,
    )  # fmt: skip


def written(bench: Bench) -> list[Row]:
    """20 events with a balanced, a one-sided and a wrong summary by a careful hand."""
    texts = _written_summaries()
    clusters = {cluster.eid: cluster for cluster in bench.events}
    wrong_last = []
    for eid, kinds in texts.items():
        cluster, ordered = clusters[eid], [kinds[k] for k in KINDS]
        tasks = [(_task(cluster, text, articles=cluster.articles), text) for text in ordered]
        faithful = bench.support.measure(tasks)
        wrong_last.append(float(faithful[2] < min(faithful[:2])))
    right = np.array(wrong_last)
    share = interval(lambda i: float(right[i].mean()), list(texts))
    return [
        row(
            "faithfulness: summary with wrong facts last",
            share,
            n=f"{len(texts)} events",
            goal=".90",
        )
    ]


def balance(bench: Bench) -> list[Row]:
    """Compare the same summaries by the sources covered least; these events chose how many."""
    clusters = {cluster.eid: cluster for cluster in bench.events}
    won: dict[str, list[float]] = defaultdict(list)
    texts, started = _written_summaries(), time.perf_counter()
    for eid, kinds in texts.items():
        sources = {
            kind: bench.support.sources(text, clusters[eid].articles)
            for kind, text in kinds.items()
        }
        for title, figure in (("half", balance_score), ("mean", mean_coverage)):
            for other in KINDS[1:]:
                lead = figure(sources[KINDS[0]]) - figure(sources[other])
                won[f"{title} {other}"].append(float(lead > 0))
    seconds = (time.perf_counter() - started) / (len(KINDS) * len(texts))
    titles = {
        "half": "balance over the less covered half of the sources (chosen here)",
        "mean": "balance over all sources",
    }
    eids, rows = list(texts), []
    for name, wins in won.items():
        title, _, other = name.partition(" ")
        values = np.array(wins)
        rows.append(
            row(f"{titles[title]}: balanced over {other}",
                interval(lambda i, v=values: float(v[i].mean()), eids), n=f"{len(eids)} events")
        )  # fmt: skip
    return [*rows, Row(measure="balance of one summary, seconds", value=seconds)]


def _written_summaries() -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for summary in read_rows(EVENTS):
        texts[summary["eid"]][summary["kind"]] = summary["text"]
    return texts


def answers_read(bench: Bench) -> list[Row]:
    """Compare the judge with a careful reader of the same groups, and tell how that one ranks.

    The groups of answers are those of a former builder of questions, as they were read.
    """
    texts = _written_summaries()
    p, labels, eids = [], [], []
    shares: dict[str, list[list[float]]] = defaultdict(list)
    for record in read_rows(READ):
        eid = record["eid"]
        groups = [[Answer.model_validate(answer) for answer in group] for group in record["groups"]]
        answers = [answer for group in groups for answer in group]
        shares[eid].append([float(np.mean(record["covered"][kind])) for kind in KINDS])
        for kind in KINDS:
            supports = bench.support.answers(texts[eid][kind], answers)
            assert not isinstance(supports, Unscored)
            values = iter(supports)
            p += [max(next(values) for _ in group) for group in groups]
            labels += record["covered"][kind]
            eids += [eid] * len(groups)
    judged, expected = np.array(p), np.array(labels, dtype=np.float64)
    means = np.array([np.mean(event_shares, axis=0) for event_shares in shares.values()])
    n = f"{len(expected)} labels, {len(means)} events"
    ordered = (means[:, 0] > means[:, 1]) & (means[:, 1] > means[:, 2])

    def share(right: NDArray[np.bool_]) -> tuple[float, float, float]:
        return interval(lambda i: float(right[i].mean()), list(shares))

    return [
        row("groups that a reader labelled: ROC AUC",
            interval(lambda i: area(judged[i], expected[i]), eids), n=n),
        row("the same: balanced accuracy",
            interval(lambda i: balanced(judged[i] >= 0.5, expected[i]), eids), n=n),
        row("this reader's labels: balanced over one-sided over wrong", share(ordered),
            n=f"{len(means)} events", goal=".90"),
        row("this reader's labels: balanced over one-sided",
            share(means[:, 0] > means[:, 1]), n=f"{len(means)} events"),
    ]  # fmt: skip


MEASURES: dict[str, Callable[[Bench], list[Row]]] = {
    measure.__name__: measure
    for measure in (
        coverage, key_points, summeval, documents, support, reading, consolidation,
        planted, balance, written, answers_read,
    )
}  # fmt: skip


# --- the page --------------------------------------------------------------------------------


def table(small: dict[str, Any], large: dict[str, Any] | None) -> str:
    """Return the table of all measures that were made, by both models."""
    lines = [
        "| measure | `local` | `local-large` | of | before | goal | for comparison |",
        "|---|--:|--:|---|--:|--:|---|",
    ]
    for name in MEASURES:
        rows = [Row(**fields) for fields in small["measures"].get(name, [])]
        other = [Row(**fields) for fields in large["measures"].get(name, [])] if large else []
        # Titles repeat ("the same: ..."), so that rows are matched by their place.
        for place, row in enumerate(rows):
            beside = figure_of(other[place]) if place < len(other) else ""
            cells = (row.measure, figure_of(row), beside, row.n, row.before, row.goal, row.compare)
            lines.append(f"| {' | '.join(cells)} |")
    machines = [
        f"{results['model']}; {results['machine']}." for results in (small, large) if results
    ]
    return "\n".join([*lines, "", "  \n".join(machines), ""])


def figure_of(row: Row) -> str:
    """Return a figure with its interval."""
    digits = 0 if row.value >= 10 else 3 if row.low is not None else 2
    figure = f"{row.value:.{digits}f}"
    return figure if row.low is None else f"{figure} [{row.low:.2f}, {row.high:.2f}]"


def measured(results: Path, model: str) -> dict[str, Any]:
    """Return the measures that were made on these weights."""
    record = read_results(results) or {}
    return dict(record["measures"]) if record.get("model") == model else {}


def keep(results: Path, name: str, rows: Iterable[Row], model: str) -> dict[str, Any]:
    """Add a measure to the results; those of other weights are dropped."""
    record = {"model": model, "machine": describe_machine(), "measures": measured(results, model)}
    record["measures"][name] = [
        {field: value for field, value in asdict(row).items() if value not in ("", None)}
        for row in rows
    ]
    write_results(results, record)
    return record


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="What the embedded default tells.")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="+", choices=MEASURES, help="also if done before")
    parser.add_argument("--events", type=int, metavar="N", help="the first N events; all of them")
    parser.add_argument("--backend", choices=FILES, default="local")
    parser.add_argument("--results", type=Path, help="another file of the backend's results")
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    chosen = parser.parse_args(arguments)
    if not chosen.data.is_dir():
        print(f"no folder {str(chosen.data)!r}", file=sys.stderr)
        return 1
    files = FILES | ({chosen.backend: chosen.results} if chosen.results else {})
    bench = Bench(chosen.data, chosen.events, chosen.backend)
    results = measured(files[chosen.backend], bench.models.identity)
    for name in chosen.only or [name for name in MEASURES if name not in results]:
        started = time.perf_counter()
        rows = MEASURES[name](bench)
        record = keep(files[chosen.backend], name, rows, bench.models.identity)
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
        for fields in record["measures"][name]:
            print("  ", json.dumps(fields), flush=True)
        write_table(files, chosen.document)
    write_table(files, chosen.document)
    return 0


def write_table(files: dict[str, Path], document: Path) -> None:
    """Write the table of all results into the page."""
    small, large = (read_results(file) for file in files.values())
    if small:
        write_between(document, "measured", table(small, large))


def read_results(file: Path) -> dict[str, Any] | None:
    """Return results, None where there are none."""
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None


if __name__ == "__main__":
    raise SystemExit(main())
