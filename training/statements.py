"""P(supported) of a statement by whole documents, fitted on human labels of summaries.

A summary is supported if all its statements are. A statement is scored by the passage with the
strongest support, as in `fairjudge.judges.trained`. Annotated summaries have only small errors, so
the fit also uses summaries paired with other documents, and planted changes.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairjudge.judges.passages import Vectoriser, passages_of
from fairjudge.ports import Embedder
from fairjudge.scorers.trained_models import TrainedModels, logistic
from fairjudge.text.particulars import vocabulary_of
from fairjudge.text.statements import statement_texts
from training import data
from training.data import SUPPORTED, Example, Split
from training.fits import fit_weights

Features = NDArray[np.float64]
MAX_SUMMARIES = 240
"""Maximum summaries per source; SummEdits counts as one source."""
ROUNDS = 6
"""Iterations of the fit; each uses the best passages under the previous fit."""
BLOCK = 50
"""Documents per embedding batch."""
PENALTY = 5.0
HEAD_ALONE = np.array([1.0, 0.0, 0.0, 0.0])
"""The fit that uses only the support head."""
_SUMMARIES = ("bump", "defacto", "summedits", "fib-xsum")
"""Sources of summaries that annotators checked against a document.

FIB's CNN/DailyMail part is excluded: its wrong summaries are copied, its right ones are not.
"""
_MARKED = re.compile(r"\s*</?t>\s*")


@dataclass(frozen=True, slots=True)
class Checked:
    """A summary: features of each statement's passages (p, 3), and its human label."""

    source: str
    group: str
    statements: tuple[Features, ...]
    label: int


def documents(split: Split, *, folder: Path = data.DATA) -> Iterator[Example]:
    """Yield summaries with their whole document.

    The documents are too long for `training.data.support`, hence were not used for training. A
    share 0.7 of the groups is for calibration, but no group of `MEASURED_ONLY` sources.
    """
    for row in data.rows("entailment", folder=folder):
        source = row["source"]
        if not source.startswith(_SUMMARIES) or len(row["premise"].split()) <= data.ARTICLE_WORDS:
            continue
        target_split = "test"
        if source not in data.MEASURED_ONLY:
            target_split = data.split_of(f"{source}:{row['group']}", test=0.3, calibrate=0.7)
        if target_split == split:
            statement, passage = (
                _MARKED.sub(" ", row[name]).strip() for name in ("hypothesis", "premise")
            )
            label = int(row["label"] == "supported")
            yield Example("support", statement, passage, label, source, f"{source}:{row['group']}")


def family(source: str) -> str:
    """Return a source's name, which for SummEdits is without the domain."""
    return source.partition("-")[0] if source.startswith("summedits") else source


def drawn(split: Split, *, folder: Path, limit: int = MAX_SUMMARIES) -> list[Example]:
    """Return at most `limit` evenly spaced summaries per source."""
    by_source: dict[str, list[Example]] = defaultdict(list)
    for example in documents(split, folder=folder):
        by_source[family(example.source)].append(example)
    return [example for group in by_source.values() for example in data.spread(group, limit)]


def elsewhere(examples: Sequence[Example], *, seed: int = 0) -> list[Example]:
    """Return each supported summary with another group's document, which does not support it."""
    draw = random.Random(f"elsewhere {seed}")
    pairs = []
    for example in (example for example in examples if example.label):
        other_documents = [other.second for other in examples if other.group != example.group]
        if other_documents:
            other = draw.choice(other_documents)
            pairs.append(replace(example, second=other, label=0, source="elsewhere"))
    return pairs


def changed(models: TrainedModels, examples: Sequence[Example]) -> list[Checked]:
    """Return planted changes with their single passage, as a separate source."""
    missing_words = [vocabulary_of([example.second]).lacks(example.first) for example in examples]
    rows = models.supported_features(
        [(example.second, example.first) for example in examples], missing_words
    )
    return [
        Checked("planted", example.group, (row[None, :],), int(example.label == SUPPORTED))
        for example, row in zip(examples, rows, strict=True)
    ]


def checked(
    models: TrainedModels, embedder: Embedder, examples: Sequence[Example]
) -> list[Checked]:
    """Return the features of each summary that has statements."""
    rows = []
    for start in range(0, len(examples), BLOCK):
        block = examples[start : start + BLOCK]
        vectoriser = Vectoriser(embedder)
        texts = [text for example in block for text in (example.first, example.second)]
        vectoriser.add([sentence for text in texts for sentence in statement_texts(text)])
        for example in block:
            rows += _checked(models, vectoriser, example)
    return rows


def tested(
    models: TrainedModels, embedder: Embedder, *, folder: Path, limit: int
) -> dict[str, list[Checked]]:
    """Return at most `limit` test summaries per source, by source."""
    by_source: dict[str, list[Checked]] = defaultdict(list)
    for row in checked(models, embedder, drawn("test", folder=folder, limit=limit)):
        by_source[row.source].append(row)
    return dict(sorted(by_source.items()))


def _checked(models: TrainedModels, vectoriser: Vectoriser, example: Example) -> list[Checked]:
    passages = passages_of((example.second,), vectoriser)
    statements = statement_texts(example.first)
    if passages is None or not statements:
        return []
    pairs, missing_words, sizes = [], [], []
    for statement in statements:
        near = passages.near(vectoriser.rows([statement])[0])
        pairs += [(passage, statement) for passage in near]
        missing_words += [passages.vocabulary.lacks(statement)] * len(near)
        sizes.append(len(near))
    features = models.supported_features(pairs, missing_words)
    parts = np.split(features, np.cumsum(sizes)[:-1])
    return [Checked(family(example.source), example.group, tuple(parts), example.label)]


def fit_supported(summaries: Sequence[Checked]) -> NDArray[np.float64]:
    """Return three nonnegative weights and the constant, by penalised likelihood.

    All sources have equal weight, and within a source both labels have equal weight.
    """
    cells: dict[tuple[str, int], int] = defaultdict(int)
    for row in summaries:
        cells[row.source, row.label] += 1
    shares = np.array([1.0 / cells[row.source, row.label] for row in summaries])
    shares *= len(summaries) / shares.sum()
    labels = np.array([row.label for row in summaries])
    summary_indices = np.repeat(
        np.arange(len(summaries)), [len(row.statements) for row in summaries]
    )

    def loss(scores: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        # log P(all statements supported), and the log of its complement.
        logs = np.bincount(summary_indices, -np.logaddexp(0.0, -scores), len(labels))
        log_all_supported = np.minimum(logs, -1e-9)
        log_p = np.where(labels == 1, log_all_supported, np.log(-np.expm1(log_all_supported)))
        slopes = (
            np.where(labels == 1, 1.0, np.exp(log_all_supported) / np.expm1(log_all_supported))
            * shares
        )
        return float(-shares @ log_p), -(slopes[summary_indices] * logistic(-scores))

    parts = [part for summary in summaries for part in summary.statements]
    weights = HEAD_ALONE
    for _ in range(ROUNDS):
        rows = np.array([_best(part, weights) for part in parts])
        weights = fit_weights(rows, loss, penalty=PENALTY)
    return weights


def p_supported(summary: Checked, weights: NDArray[np.float64]) -> float:
    """Return the mean P(supported) of a summary's statements, its rating."""
    return float(_each_supported(summary, weights).mean())


def least_supported(summary: Checked, weights: NDArray[np.float64]) -> float:
    """Return the minimum P(supported) of a summary's statements, for the binary verdict."""
    return float(_each_supported(summary, weights).min())


def _each_supported(summary: Checked, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    rows = np.array([_best(part, weights) for part in summary.statements])
    return logistic(rows @ weights[:-1] + weights[-1])


def _best(part: Features, weights: NDArray[np.float64]) -> Features:
    row: Features = part[int((part @ weights[:-1]).argmax())]
    return row
