"""Evaluation of the released weights on held-out documents and groups, and the model card."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import TrainedModels
from fairjudge.scorers.trained_record import RECORD
from training import data, statements
from training.coverage_fit import insights_covered
from training.data import SUPPORTED, UNSUPPORTED, Example, pairs_of, spread
from training.export import (
    DEVELOPMENT,
    labels_of,
    nanco_triples,
    triples_of,
    write_record,
)
from training.networks import LARGE, SMALL
from training.planted import planted

Measures: TypeAlias = dict[str, Any]
Statistic: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.float64]], float]
ENCODERS = {
    SMALL: "6 layers of width 384, begun from\n[all-MiniLM-L6-v2]"
    "(https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), Apache-2.0, whose\n"
    "word embeddings stay as they are and are read from its package",
    LARGE: "12 layers of width 768: [all-mpnet-base-v2]"
    "(https://huggingface.co/sentence-transformers/all-mpnet-base-v2),\nApache-2.0, read from its "
    "packages, with updates of rank 64 of the matrices of its layers (LoRA)",
}
TESTED = ("Q4", "Q7", "Q8", "Q9")
RESAMPLES = 500
LIMIT = 2400
"""Maximum number of examples of a data set."""


def interval(
    groups: Sequence[str],
    labels: NDArray[np.int64],
    values: NDArray[np.float64],
    statistic: Statistic,
) -> Measures:
    """Return a statistic, and its 95 % interval by resampling whole groups."""
    rows: dict[str, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        rows[group].append(place)
    parts = [np.array(part) for part in rows.values()]
    draw = np.random.default_rng(20261122)
    estimates = []
    for _ in range(RESAMPLES):
        chosen = np.concatenate([parts[i] for i in draw.integers(len(parts), size=len(parts))])
        if len(set(labels[chosen])) > 1 or statistic is right_share:
            estimates.append(statistic(labels[chosen], values[chosen]))
    low, high = np.quantile(estimates, (0.025, 0.975)) if estimates else (np.nan, np.nan)
    return {
        "value": round(float(statistic(labels, values)), 4),
        "low": round(float(low), 4),
        "high": round(float(high), 4),
        "n": len(labels),
        "groups": len(parts),
    }


def over(rows: Sequence[Example], values: NDArray[Any], statistic: Statistic) -> Measures:
    """Return the `interval` of a statistic over examples."""
    groups = [row.group for row in rows]
    return interval(groups, labels_of(rows), values.astype(float), statistic)


def auc(labels: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    """Return the ROC AUC."""
    return float(roc_auc_score(labels, values))


def balanced(labels: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    """Return the balanced accuracy at a threshold of 0.5."""
    return float(balanced_accuracy_score(labels, values > 0.5))


def right_share(_: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    """Return the mean of values that are 1 for right and 0 for wrong."""
    return float(values.mean())


def measure(models: TrainedModels, *, source: Path, say: Callable[[str], None]) -> Measures:
    """Return the measures of `models`; `say` is called with each part of them, as JSON."""
    measures: Measures = {"identity": models.identity}
    for name, part in PARTS.items():
        measures[name] = part(models, source)
        say(json.dumps({name: measures[name]}))
    return measures


def support_measures(models: TrainedModels, source: Path) -> Measures:
    """Return the accuracy on each source, and on all sources used for training."""
    by_source: dict[str, list[Example]] = defaultdict(list)
    for example in data.support("test", folder=source):
        by_source[example.source].append(example)
    measures: Measures = {}
    training_examples: list[tuple[Example, bool]] = []
    for name, rows in sorted(by_source.items()):
        sample = spread(rows, LIMIT // 6)
        right = _three(models.support(pairs_of(sample)), labels_of(sample))
        measures[name] = over(sample, right, right_share)
        if name not in data.MEASURED_ONLY:
            training_examples += zip(sample, right.tolist(), strict=True)
    values = np.array([right for _, right in training_examples])
    measures["all trained on"] = over([row for row, _ in training_examples], values, right_share)
    return measures


def _three(p: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    predicted_classes = p.argmax(axis=1)
    binary = (p[:, SUPPORTED] > 0.5) == (labels == SUPPORTED)
    right: NDArray[np.bool_] = np.where(labels == UNSUPPORTED, binary, predicted_classes == labels)
    return right


def planted_measures(models: TrainedModels, source: Path) -> Measures:
    """Return the accuracy on each kind (supported or not, threshold 0.5), and the AUC over all."""
    rows = spread(list(planted("test", folder=source)), LIMIT)
    p = models.support(pairs_of(rows))[:, SUPPORTED]
    truth = (labels_of(rows) == SUPPORTED).astype(int)
    measures = {"all": interval([row.group for row in rows], truth, p, auc)}
    for kind in sorted({row.source for row in rows}):
        places = [i for i, row in enumerate(rows) if row.source == kind]
        right = (p[places] > 0.5) == (truth[places] == 1)
        measures[kind] = over([rows[i] for i in places], right, right_share)
    return measures


def reading_measures(models: TrainedModels, source: Path) -> Measures:
    """Return the token F1 of answers' spans, and the accuracy of whether there is an answer."""
    rows = spread(list(data.reading("test", folder=source)), LIMIT)
    readings = models.read([(row.first, row.second) for row in rows])
    p_answered = np.array([reading.answered for reading in readings])
    pairs = [(row, reading) for row, reading in zip(rows, readings, strict=True) if row.label]
    f1 = [
        word_f1(row.second[reading.start : reading.end], row.second[slice(*row.span)])
        for row, reading in pairs
    ]
    right = (p_answered > 0.5) == (labels_of(rows) == 1)
    return {
        "span F1": over([row for row, _ in pairs], np.array(f1), right_share),
        "answer or none": over(rows, right, right_share),
        "answer or none, balanced": over(rows, p_answered, balanced),
    }


def word_f1(text: str, other: str) -> float:
    """Return the F1 of the words of two texts."""
    words, other_words = Counter(text.lower().split()), Counter(other.lower().split())
    common = (words & other_words).total()
    return 2 * common / (words.total() + other_words.total()) if common else 0.0


def coverage_measures(models: TrainedModels, source: Path) -> Measures:
    """Return measures on held-out documents, and on SummHay, which was not used for training."""
    measures: Measures = {}
    for name in ("realsumm", "pyrxsum"):
        rows = [e for e in data.coverage("test", folder=source) if e.source == name]
        rows = spread(rows, 3 * LIMIT)
        measures[name] = covered_measures(
            models.coverage_probabilities(pairs_of(rows)),
            labels_of(rows),
            [row.group for row in rows],
        )
    insights = data.rows("summhay", folder=source)
    p = insights_covered(models, load_embedder(), source=source)
    labels = np.array([int(row["covered"] > 0) for row in insights])
    groups = [f"{row['topic']} {row['eid']}" for row in insights]
    measures["summhay (by the fit without the topic)"] = covered_measures(p, labels, groups)
    return measures


def covered_measures(
    p: NDArray[np.float64], labels: NDArray[np.int64], groups: list[str]
) -> Measures:
    """Return AUC, balanced accuracy at a threshold of 0.5, and percentages of positives."""
    return {
        "AUC": interval(groups, labels, p, auc),
        "balanced accuracy": interval(groups, labels, p, balanced),
        "yes": round(100 * float((p > 0.5).mean()), 1),
        "people's yes": round(100 * float(labels.mean()), 1),
    }


def document_measures(models: TrainedModels, source: Path) -> Measures:
    """Return measures on summaries of whole documents, also for the support head alone."""
    by_source = statements.tested(models, load_embedder(), folder=source, limit=LIMIT // 6)
    fits = {"": models.supported_weights, ", the support head alone": statements.HEAD_ALONE}
    measures: Measures = {}
    for name, summaries in by_source.items():
        labels = np.array([summary.label for summary in summaries])
        groups = [summary.group for summary in summaries]
        note = " (never trained on)" if name in data.MEASURED_ONLY else ""
        for about, weights in fits.items():
            p = np.array([statements.p_supported(summary, weights) for summary in summaries])
            measures[f"{name}{note}{about}: AUC"] = interval(groups, labels, p, auc)
        fit = models.supported_weights
        min_support = np.array([statements.least_supported(summary, fit) for summary in summaries])
        right = interval(groups, labels, min_support, balanced)
        measures[f"{name}{note}: yes or no, balanced accuracy"] = right
    return measures


def same_measures(models: TrainedModels, source: Path) -> Measures:
    """Return AUC and balanced accuracy on QAMR and held-out entailment, and on NAnCo."""
    rows = spread(list(data.same("test", folder=source)), LIMIT)
    p = models.same_answer(triples_of(rows))
    measures = {
        "kept out, AUC": over(rows, p, auc),
        "kept out, balanced accuracy": over(rows, p, balanced),
    }
    for name, qids in (("NAnCo development", DEVELOPMENT), ("NAnCo test", TESTED)):
        questions = nanco_triples(qids, source=source).values()
        predictions = [(same, models.same_answer(triples)) for triples, same in questions]
        for title, statistic in {"balanced accuracy": balanced, "AUC": auc}.items():
            mean = float(np.mean([statistic(same, p) for same, p in predictions]))
            measures[f"{name}, {title}"] = {"value": round(mean, 4), "groups": len(predictions)}
    return measures


PARTS: dict[str, Callable[[TrainedModels, Path], Measures]] = {
    "same answer": same_measures,
    "reading": reading_measures,
    "support": support_measures,
    "statements about documents": document_measures,
    "planted changes": planted_measures,
    "coverage": coverage_measures,
}


def write_card(folder: Path, measures: Measures) -> None:
    """Add the measures to the record, and write the card."""
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    record["measured"] = measures
    write_record(folder, record)
    template = (Path(__file__).parent / "card.md").read_text(encoding="utf-8")
    runs = [record["run"], *record.get("other_runs", ())]
    text = template.format(
        identity=measures["identity"],
        encoder=ENCODERS[record["run"]["settings"].get("base", SMALL)],
        training=" ".join(map(trained_by, runs)),
        measures=table(measures),
        curve=curve_table(record["curve"], record["in_8_bits"]),
    )
    (folder / "MODEL_CARD.md").write_text(text, encoding="utf-8")


def trained_by(run: Measures) -> str:
    """Return a sentence on a run: steps, tokens, time, machine, versions."""
    teacher = run["settings"].get("teacher")
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    learnt = f" on labels and on the answers of {teacher}" if teacher else " on labels"
    tokens, minutes = sum(run["tokens"].values()) / 1e6, run["seconds"] / 60
    return (
        f"A run of {run['step']:,} steps{learnt} ({tokens:.1f} M tokens, {minutes:.0f} minutes, "
        f"{run['machine']}, {versions})."
    )


def curve_table(curve: Sequence[Measures], in_8_bits: Measures) -> str:
    """Return the learning curve as a Markdown table, with the 8-bit weights as last row."""
    names = [name for name in curve[-1] if name != "seconds"]
    lines = ["", f"| {' | '.join(names)} |", f"|{'--:|' * len(names)}"]
    lines += [f"| {' | '.join(str(row.get(name, '')) for name in names)} |" for row in curve]
    last_row = [str(in_8_bits.get(name, "8 bits")) for name in names]
    return "\n".join([*lines, f"| {' | '.join(last_row)} |"])


def table(measures: Measures) -> str:
    """Return the measures as a Markdown table."""
    lines = ["| measure | value | 95 % interval | of |", "|---|--:|--:|---|"]
    for head, figures in measures.items():
        if isinstance(figures, dict):
            lines += _lines(head, figures)
    return "\n".join(lines)


def _lines(name: str, figures: Measures) -> list[str]:
    if "value" not in figures:
        parts = [(key, part) for key, part in figures.items() if isinstance(part, dict)]
        lines = [line for key, part in parts for line in _lines(f"{name}: {key}", part)]
        if "yes" in figures:
            shares, people = figures["yes"], figures["people's yes"]
            lines.append(f"| {name}: yes, people's yes (%) | {shares}, {people} | | |")
        return lines
    between = f"{figures['low']:.3f} to {figures['high']:.3f}" if "low" in figures else ""
    groups = figures["groups"]
    size = f"{figures['n']:,} in {groups:,} groups" if "n" in figures else f"{groups} questions"
    return [f"| {name} | {figures['value']:.3f} | {between} | {size} |"]
