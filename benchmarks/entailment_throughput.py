"""Pairs per second of the entailment scorer and of a straightforward baseline, in one run.

    python benchmarks/entailment_throughput.py [FOLDER] [--size large|small] [--documents N]
        [--summaries N]

Every sentence of a summary is paired with every chunk of its document, as in the faithfulness
judge. FOLDER contains SummEval (default: FAIRJUDGE_SHARED_DATA, or ../shared/data, with /summeval).
The model has roberta-large's shape (`large`, the default on a GPU) or a small one (`small`, the
default on a CPU), random weights, and a vocabulary learned from these articles. Its verdicts are
meaningless, but its computation is that of a real model.

The baseline forms batches of 128 pairs in input order, tokenizes each pair, pads to the longest,
computes in float32 and copies results back one by one. The share of the matrix rate counts the
multiplications for actual tokens, without padding, relative to a large matrix product in the
scorer's dtype, measured in the same run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _data import DATA
from _running import finish
from numpy.typing import NDArray
from tokenizers import ByteLevelBPETokenizer
from tokenizers.processors import TemplateProcessing
from transformers import (
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from fairjudge.datasets import read_clusters, read_summaries
from fairjudge.scorers.entailment import TransformersEntailment, load_entailment
from fairjudge.text.chunks import chunks
from fairjudge.text.sentences import sentence_texts

Pairs = list[tuple[str, str]]
SHAPES: dict[str, dict[str, int]] = {
    "large": {
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    },
    "small": {
        "hidden_size": 128,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 512,
    },
}
WINDOW = 512
ROLES = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "cls_token": "<s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
VOCABULARY = 20_000
FIXED_BATCH = 128
DECIDED = 30.0
"""Makes the logits of random weights differ by a few units, as a trained model's do."""


def data_folder() -> Path:
    """Return the default folder of SummEval."""
    return Path(os.environ.get("FAIRJUDGE_SHARED_DATA") or DATA) / "summeval"


def read_pairs(folder: Path, *, n_documents: int, n_summaries: int) -> tuple[Pairs, list[str]]:
    """Return (chunk, sentence) pairs of the first documents and summaries, and the articles."""
    clusters = read_clusters(folder / "clusters.jsonl").records[:n_documents]
    summaries = read_summaries(folder / "summaries.jsonl").records
    pairs: Pairs = []
    for cluster in clusters:
        premises = [
            chunk
            for article in cluster.articles
            for chunk in chunks(sentence_texts(article.content))
        ]
        own = [summary for summary in summaries if summary.eid == cluster.eid][:n_summaries]
        sentences = [text for summary in own for text in sentence_texts(summary.text)]
        pairs += [(premise, sentence) for sentence in sentences for premise in premises]
    texts = [article.content for cluster in clusters for article in cluster.articles]
    return list(dict.fromkeys(pairs)), texts


def save_model(folder: Path, texts: list[str], shape: dict[str, int]) -> None:
    """Write a tokenizer learned from `texts`, and a classifier of random weights."""
    learned = ByteLevelBPETokenizer()
    learned.train_from_iterator(
        texts, vocab_size=VOCABULARY, special_tokens=SPECIAL, show_progress=False
    )
    learned.save_model(str(folder))
    backend = learned._tokenizer  # noqa: SLF001  # the one way to its post-processor
    backend.post_processor = TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=backend,
        **ROLES,
        model_max_length=WINDOW,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=max(VOCABULARY, learned.get_vocab_size()),
        max_position_embeddings=WINDOW + 2,
        type_vocab_size=1,
        id2label={0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"},
        pad_token_id=1,
        **shape,
    )
    model = RobertaForSequenceClassification(config)
    with torch.no_grad():  # else all probabilities are near 1/3, and rounding does not matter
        model.classifier.out_proj.weight.mul_(DECIDED)
    model.save_pretrained(folder)


def straightforward(model: Any, tokenizer: Any, pairs: Pairs) -> NDArray[np.float32]:
    """Return the result of `TransformersEntailment.classify`, without its optimisations."""
    results = []
    for start in range(0, len(pairs), FIXED_BATCH):
        batch = pairs[start : start + FIXED_BATCH]
        inputs = tokenizer(
            [premise for premise, _ in batch],
            [hypothesis for _, hypothesis in batch],
            truncation="only_first",
            max_length=WINDOW,
            padding=True,
            return_tensors="pt",
        ).to(model.device)
        with torch.no_grad():
            results.append(model(**inputs).logits.softmax(dim=-1).cpu().numpy())
    rows: NDArray[np.float32] = np.concatenate(results)[:, [2, 1, 0]]
    return rows


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return seconds and result, including all of the device's work."""
    wait()
    start = time.perf_counter()
    result = work()
    wait()
    return time.perf_counter() - start, result


def wait() -> None:
    """Wait until the device is idle."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def matrix_rate(device: Any, dtype: torch.dtype) -> float:
    """Return multiplications and additions per second of a large matrix product."""
    n = 8192 if device.type == "cuda" else 1024
    a, b = (torch.randn(n, n, device=device, dtype=dtype) for _ in range(2))
    n_times = 50 if device.type == "cuda" else 10
    for _ in range(3):
        a @ b
    seconds, _ = timed(lambda: [a @ b for _ in range(n_times)])
    return 2 * n**3 * n_times / seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Numbers of tokens and of operations that some pairs require."""

    n_tokens: int
    operations: float


def count_work(tokenizer: Any, pairs: Pairs, shape: dict[str, int]) -> Work:
    """Count tokens, and the operations of all matrix products over them (2 per multiplication)."""
    lengths = [
        len(ids)
        for start in range(0, len(pairs), 4096)
        for ids in tokenizer(
            [premise for premise, _ in pairs[start : start + 4096]],
            [hypothesis for _, hypothesis in pairs[start : start + 4096]],
        )["input_ids"]
    ]
    hidden, inner, layers = (
        shape[name] for name in ("hidden_size", "intermediate_size", "num_hidden_layers")
    )
    a_token = 2 * (4 * hidden**2 + 2 * hidden * inner)
    operations = sum(layers * (n * a_token + 4 * n * n * hidden) for n in lengths)
    return Work(n_tokens=sum(lengths), operations=float(operations))


def main() -> None:
    """Measure, print and store the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path, default=data_folder())
    on_gpu = torch.cuda.is_available()
    parser.add_argument("--size", choices=list(SHAPES), default="large" if on_gpu else "small")
    parser.add_argument("--documents", type=int, default=40 if on_gpu else 6)
    parser.add_argument("--summaries", type=int, default=16 if on_gpu else 4)
    options = parser.parse_args()
    pairs, texts = read_pairs(
        options.folder, n_documents=options.documents, n_summaries=options.summaries
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_model(folder, texts, SHAPES[options.size])
        scorer = load_entailment(str(folder))
        report = measure(scorer, folder, pairs, options.size)
    title = f"Entailment scorer, {report['size']} model, {report['type']}, {report['device']}"
    finish("entailment_throughput", report, title=title, rows=rows_of(report))


def measure(
    scorer: TransformersEntailment, folder: Path, pairs: Pairs, size: str
) -> dict[str, Any]:
    """Time the scorer and the baseline on the same pairs."""
    pretrained = scorer._pretrained  # noqa: SLF001  # the same weights and device for both
    baseline = RobertaForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    baseline = baseline.to(pretrained.model.device).eval()
    first_pairs = pairs[: 2 * FIXED_BATCH]
    scorer.classify(first_pairs)
    straightforward(baseline, pretrained.tokenizer, first_pairs)
    rate = matrix_rate(pretrained.model.device, pretrained.model.dtype)
    baseline_seconds, baseline_values = timed(
        lambda: straightforward(baseline, pretrained.tokenizer, pairs)
    )
    scorer_seconds, scorer_values = timed(lambda: scorer.classify(pairs))
    single_values = np.concatenate([scorer.classify([pair]) for pair in first_pairs[:32]])
    work = count_work(pretrained.tokenizer, pairs, SHAPES[size])
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    return {
        "on_gpu": torch.cuda.is_available(),
        "device": f"{name}, {torch.get_num_threads()} threads, torch {torch.__version__}",
        "size": size,
        "type": str(pretrained.model.dtype).removeprefix("torch."),
        "n_pairs": len(pairs),
        "tokens_a_pair": work.n_tokens / len(pairs),
        "straightforward_pairs_a_second": len(pairs) / baseline_seconds,
        "scorer_pairs_a_second": len(pairs) / scorer_seconds,
        "times_as_fast": baseline_seconds / scorer_seconds,
        "matrix_rate_teraflops": rate / 1e12,
        "share_of_matrix_rate": work.operations / scorer_seconds / rate,
        "straightforward_share": work.operations / baseline_seconds / rate,
        "largest_difference": float(np.abs(scorer_values - baseline_values).max()),
        "largest_difference_alone": float(
            np.abs(scorer_values[: len(single_values)] - single_values).max()
        ),
    }


def rows_of(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the measurements with the targets for the large model on a GPU."""
    goals = ("8", "50") if report["on_gpu"] and report["size"] == "large" else ("", "")
    return [
        ("pairs", f"{report['n_pairs']:,}", ""),
        ("mean tokens per pair", f"{report['tokens_a_pair']:.0f}", ""),
        (
            f"fixed batches of {FIXED_BATCH}, float32: pairs per second",
            f"{report['straightforward_pairs_a_second']:,.1f}",
            "",
        ),
        ("our scorer: pairs per second", f"{report['scorer_pairs_a_second']:,.1f}", ""),
        ("speed-up", f"{report['times_as_fast']:.2f}", goals[0]),
        (
            "share of the device's matrix rate, %",
            f"{100 * report['share_of_matrix_rate']:.1f}",
            goals[1],
        ),
        ("the same for fixed batches, %", f"{100 * report['straightforward_share']:.1f}", ""),
        (
            "largest difference in probability from fixed batches",
            f"{report['largest_difference']:.1e}",
            "",
        ),
        (
            "largest difference in probability from a pair scored alone",
            f"{report['largest_difference_alone']:.1e}",
            "",
        ),
    ]


if __name__ == "__main__":
    main()
