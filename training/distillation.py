"""Distillation of a larger network into a smaller one (Hinton et al., arXiv 1503.02531).

In addition to the labelled pairs there are unlabelled ones that resemble the models' use: units
with single sentences of summaries, arguments with the key points of their topic, pairs of sentences
of one article.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from fairjudge.scorers._trained_network import Heads
from training.batches import Batch
from training.data import (
    DATA,
    PASSAGE_WORDS,
    Example,
    coverage,
    qamr,
    rows,
    split_of,
    support,
    text_of,
)
from training.key_points import topic_rows

UNLABELLED = -1
_MAX_PAIRS = 20_000
_SENTENCE = re.compile(r"(?<=[.!?]) +")


def unlabelled(*, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield pairs without a label, from the documents and topics of the training split."""
    draw = random.Random(f"unlabelled {seed}")
    for source, pairs in (
        ("units", _units(folder)),
        ("key points", _arguments(folder)),
        ("premises", _premises(folder)),
        ("news", _neighbours(folder, draw)),
    ):
        distinct = sorted(set(pairs))
        for first, second in draw.sample(distinct, k=min(_MAX_PAIRS, len(distinct))):
            yield Example("support", first, second, UNLABELLED, f"unlabelled {source}", source)


def _units(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield units paired with each sentence of the summaries in which they were annotated."""
    for example in coverage("train", folder=folder):
        for sentence in _SENTENCE.split(example.second):
            if len(sentence.split()) > 3:
                yield example.first, sentence


def _arguments(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield all key points of a topic paired with all its arguments."""
    topics = defaultdict(list)
    for row in topic_rows("train", folder=folder):
        topics[row["topic"]].append(row)
    for arguments in topics.values():
        points = sorted({row["key_point"] for row in arguments})
        for row in arguments:
            yield from ((point, row["argument"]) for point in points)


def _premises(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield statements paired with another text of the same group."""
    groups = defaultdict(list)
    for example in support("train", folder=folder):
        groups[example.group].append(example)
    for examples in groups.values():
        for example, other in itertools.pairwise(examples):
            if example.second != other.second:
                yield example.first, other.second
            elif example.first != other.first:
                yield example.first, other.first


def _neighbours(folder: Path, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Yield sentences of a news document paired with one or two other sentences of it."""
    documents = defaultdict(list)
    for row in qamr("train", folder=folder):
        documents[row["document"]].append(text_of(row))
    for row in rows("entailment", folder=folder):
        group = f"{row['source']}:{row['group']}"
        if row["source"].startswith("defacto") and split_of(group) == "train":
            documents[f"defacto {row['group']}"] += _SENTENCE.split(row["premise"].strip())
    for texts in documents.values():
        sentences = [text for text in dict.fromkeys(texts) if 5 < len(text.split()) < 60]
        for sentence in sentences:
            others = [text for text in sentences if text != sentence]
            for other in draw.sample(others, k=min(3, len(others))):
                yield sentence, other
            if len(others) > 1:
                passage = " ".join(draw.sample(others, k=2))
                if len(passage.split()) <= PASSAGE_WORDS:
                    yield sentence, passage


def distilled_loss(
    network: Heads,
    teacher: Heads,
    batch: Batch,
    network_vectors: tuple[Tensor, Tensor],
    teacher_vectors: tuple[Tensor, Tensor],
) -> Tensor:
    """Return the mean cross-entropy with the teacher's probabilities, over all heads of the task.

    The vectors are (token vectors, pooled vectors) of network and teacher. Pairs train both support
    and coverage, whatever their label is.
    """
    (hidden, pooled), (teacher_hidden, teacher_pooled) = network_vectors, teacher_vectors
    task = batch.examples[0].task
    if task == "same":
        return _binary(network.same(pooled), teacher.same(teacher_pooled))
    if task == "reading":
        loss = _binary(network.answered(pooled), teacher.answered(teacher_pooled))
        outside = batch.outside()[:, :, None]
        spans = network.span(hidden).masked_fill(outside, -1e4)
        teacher_spans = teacher.span(teacher_hidden).masked_fill(outside, -1e4)
        answered = batch.labels.bool()
        if answered.any():
            loss = loss + 2 * _classes(spans[answered], teacher_spans[answered], dim=1)
        return loss
    return _classes(network.support(pooled), teacher.support(teacher_pooled), dim=1) + _binary(
        network.coverage(pooled), teacher.coverage(teacher_pooled)
    )


def _binary(logits: Tensor, teacher_logits: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, torch.sigmoid(teacher_logits))


def _classes(logits: Tensor, teacher_logits: Tensor, *, dim: int) -> Tensor:
    logs = functional.log_softmax(logits, dim=dim)
    return -(functional.softmax(teacher_logits, dim=dim) * logs).sum(dim=dim).mean()
