"""Input of the encoder: token ids of examples, in batches of similar lengths, mixed by task."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from fairjudge.scorers._trained_network import PAIR, READING, SAME
from fairjudge.scorers.trained_models import tensors
from training.data import Example

MAX_TOKENS = 192
TASKS = {"support": PAIR, "points": PAIR, "coverage": PAIR, "reading": READING, "same": SAME}
ROWS, PADDED = 64, 6144
"""Maximum examples per batch, and maximum tokens including padding."""
_CHUNK = 16
"""Batches that are sorted by length together."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """An example as token ids; `span` is the first and the last token of the answer in the row."""

    example: Example
    ids: list[int]
    second: int
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one pool, padded: ids, types and mask (n, length), labels (n,), spans (n, 2)."""

    examples: list[Example]
    ids: Tensor
    types: Tensor
    mask: Tensor
    labels: Tensor
    spans: Tensor

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device."""
        names = ("ids", "types", "mask", "labels", "spans")
        return replace(self, **{name: getattr(self, name).to(device) for name in names})

    def outside(self) -> Tensor:
        """Return whether each token is not of the second text, (n, length)."""
        return (self.types % 2 == 0) | (self.mask == 0)


def encode(examples: Sequence[Example], tokenizer: Any) -> list[Encoded]:
    """Return token ids ``[CLS] first [SEP] second [SEP]``, with the second text truncated."""
    encodings = tokenizer(
        [(example.read_first, example.second) for example in examples],
        truncation="only_second",
        max_length=MAX_TOKENS,
        return_offsets_mapping=True,
        return_token_type_ids=True,
        verbose=False,
    )
    rows = []
    for example, ids, offsets, types in zip(
        examples,
        encodings["input_ids"],
        encodings["offset_mapping"],
        encodings["token_type_ids"],
        strict=True,
    ):
        second = types.index(1)
        start, end = example.span
        inside = [
            place
            for place in range(second, len(ids) - 1)
            if offsets[place][0] < end and offsets[place][1] > start
        ]
        if example.task == "reading" and example.label and not inside:
            continue  # the answer was cut off
        span = (inside[0], inside[-1]) if inside else (0, 0)
        rows.append(Encoded(example, ids, second, span))
    return rows


def collate(rows: Sequence[Encoded]) -> Batch:
    """Pad rows of one task to the longest."""
    task = TASKS[rows[0].example.task]
    ids, types, mask = tensors([row.ids for row in rows], [row.second for row in rows], task)
    labels = torch.tensor([row.example.label for row in rows])
    spans = torch.tensor([row.span for row in rows])
    return Batch([row.example for row in rows], ids, types, mask, labels, spans)


@dataclass
class Pool:
    """Examples of one task, in epochs of shuffled batches of similar lengths.

    Its ``share`` is that of all tokens. Each epoch draws at most ``cap`` examples per source and
    label. A checkpoint contains ``epoch``, ``place`` (of the batch) and ``tokens``.
    """

    name: str
    share: float
    examples: list[Encoded]
    cap: int
    seed: int
    epoch: int = 0
    place: int = 0
    tokens: int = 0
    _plan: tuple[int, list[list[int]]] = field(default=(-1, []), repr=False)

    def next(self) -> Batch:
        """Return the next batch; start a new epoch after the last one."""
        if self._plan[0] != self.epoch:
            self._plan = (self.epoch, self._batches(self.epoch))
        rows = self._plan[1][self.place]
        self.place += 1
        if self.place == len(self._plan[1]):
            self.epoch, self.place = self.epoch + 1, 0
        batch = collate([self.examples[row] for row in rows])
        self.tokens += int(batch.mask.sum())
        return batch

    def _batches(self, epoch: int) -> list[list[int]]:
        draw = random.Random(f"{self.name} {self.seed} {epoch}")
        cells: dict[tuple[str, int], list[int]] = defaultdict(list)
        for place, row in enumerate(self.examples):
            cells[row.example.source, row.example.label].append(place)
        order = [
            place
            for cell in cells.values()
            for place in draw.sample(cell, k=min(self.cap, len(cell)))
        ]
        draw.shuffle(order)
        rows = []
        for start in range(0, len(order), ROWS * _CHUNK):
            chunk = order[start : start + ROWS * _CHUNK]
            rows += group_by_length(chunk, [len(self.examples[i].ids) for i in chunk])
        draw.shuffle(rows)
        return rows


def group_by_length(rows: Sequence[int], lengths: Sequence[int]) -> list[list[int]]:
    """Cut rows, ordered by their length, into batches within `ROWS` and `PADDED`."""
    batches: list[list[int]] = []
    for length, row in sorted(zip(lengths, rows, strict=True)):
        if not batches or len(batches[-1]) == ROWS or (len(batches[-1]) + 1) * length > PADDED:
            batches.append([])
        batches[-1].append(row)
    return batches


def max_behind(pools: Sequence[Pool]) -> Pool:
    """Return the pool with the fewest tokens relative to its share."""
    return min(pools, key=lambda pool: pool.tokens / pool.share)
