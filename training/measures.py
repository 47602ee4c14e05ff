"""Predictions of the heads on examples, and the metrics of the curve and of the model card."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from torch import Tensor

from fairjudge.scorers._trained_network import Heads
from fairjudge.scorers.trained_models import best_spans, has_bfloat16
from training.batches import Batch, Encoded, collate, group_by_length
from training.data import SUPPORTED, UNSUPPORTED


def encoded(network: Heads, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return token vectors and pooled vectors of a batch, in float32."""
    device = batch.ids.device
    with torch.autocast(device.type, torch.bfloat16, enabled=has_bfloat16(device)):
        hidden, pooled = network.encode(batch.ids, batch.types, batch.mask)
    return hidden.float(), pooled.float()


def logits_of(network: Heads, examples: Sequence[Encoded]) -> NDArray[np.float64]:
    """Return the outputs of the task's heads.

    Support and coverage: (n, 4), three classes and covered. Same: (n, 1). Reading: (n, 3),
    answered, then first and last token of the best span.
    """
    rows: list[NDArray[np.float64]] = [np.zeros(0)] * len(examples)
    lengths = [len(row.ids) for row in examples]
    device = network.word_embeddings.device
    for places in group_by_length(range(len(examples)), lengths):
        batch = collate([examples[place] for place in places]).to(device)
        with torch.inference_mode():
            hidden, pooled = encoded(network, batch)
            task = batch.examples[0].task
            if task == "reading":
                spans = best_spans(network.span(hidden), batch.outside())
                values = torch.cat((network.answered(pooled), spans.float()), dim=1)
            elif task == "same":
                values = network.same(pooled)
            else:
                values = torch.cat((network.support(pooled), network.coverage(pooled)), dim=1)
        for place, value in zip(places, values.double().cpu().numpy(), strict=True):
            rows[place] = value
    return np.stack(rows)


def three_classes(logits: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each prediction is right; unsupported matches any class but supported."""
    predicted_classes = logits[:, :3].argmax(axis=1)
    right: NDArray[np.bool_] = np.where(
        labels == UNSUPPORTED, predicted_classes != SUPPORTED, predicted_classes == labels
    )
    return right


def span_f1(example: Encoded, first: int, last: int) -> float:
    """Return the token F1 of a span against the human span."""
    start, end = example.span
    common = min(last, end) - max(first, start) + 1
    if common <= 0:
        return 0.0
    return 2 * common / (last - first + 1 + end - start + 1)


def summary_of(network: Heads, pools: dict[str, list[Encoded]]) -> dict[str, float]:
    """Return one or two metrics per pool, for the learning curve."""
    metrics: dict[str, float] = {}
    for name, rows in pools.items():
        logits = logits_of(network, rows)
        labels = np.array([row.example.label for row in rows])
        if name in {"support", "planted"}:
            metrics[name] = float(three_classes(logits, labels).mean())
        elif name == "reading":
            metrics["none"] = float(((logits[:, 0] > 0) == (labels == 1)).mean())
            answered = [i for i, label in enumerate(labels) if label]
            spans = logits[:, 1:].astype(int)
            metrics["span_f1"] = float(np.mean([span_f1(rows[i], *spans[i]) for i in answered]))
        elif name == "key points":
            metrics[name] = float(roc_auc_score(labels == SUPPORTED, logits[:, -1]))
        else:
            metrics[name] = float(roc_auc_score(labels, logits[:, -1]))
    return {name: round(value, 4) for name, value in metrics.items()}
