"""What a larger network says of pairs, learnt by a smaller one (Hinton et al., arXiv 1503.02531).

Beside the labelled pairs there are others, like those that the models are used on: units beside
single sentences of summaries, arguments beside the key points of their topic, sentences of one
article.
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
    """Yield pairs of training documents and topics that have no label."""
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
    """Yield units beside each sentence of the summaries that people judged them by."""
    for example in coverage("train", folder=folder):
        for sentence in _SENTENCE.split(example.second):
            if len(sentence.split()) > 3:
                yield example.first, sentence


def _arguments(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield all key points of a topic beside all its arguments."""
    topics = defaultdict(list)
    for row in topic_rows("train", folder=folder):
        topics[row["topic"]].append(row)
    for arguments in topics.values():
        points = sorted({row["key_point"] for row in arguments})
        for row in arguments:
            yield from ((point, row["argument"]) for point in points)


def _premises(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield statements beside another passage that pairs of their own group have."""
    groups = defaultdict(list)
    for example in support("train", folder=folder):
        groups[example.group].append(example)
    for several in groups.values():
        for one, other in itertools.pairwise(several):
            if one.second != other.second:
                yield one.first, other.second
            elif one.first != other.first:
                yield one.first, other.first


def _neighbours(folder: Path, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Yield sentences of a news document beside other sentences of it, and beside two of them."""
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
    own: tuple[Tensor, Tensor],
    known: tuple[Tensor, Tensor],
) -> Tensor:
    """Return the mean divergence from the teacher's probabilities, of all heads of the task.

    `own` and `known` are token vectors and pooled ones of the two. Each pair is read for support
    and for coverage, whichever its labels are of.
    """
    (hidden, pooled), (teacher_hidden, teacher_pooled) = own, known
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


def _binary(logits: Tensor, known: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, torch.sigmoid(known))


def _classes(logits: Tensor, known: Tensor, *, dim: int) -> Tensor:
    logs = functional.log_softmax(logits, dim=dim)
    return -(functional.softmax(known, dim=dim) * logs).sum(dim=dim).mean()
