"""A training run: one encoder with four heads, resumable from checkpoints."""

from __future__ import annotations

import json
import os
import platform
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

from fairjudge.records.folder import write_atomically
from fairjudge.scorers._trained_network import Heads, dequantise
from fairjudge.scorers.embedding import packaged_model_folder
from fairjudge.scorers.trained_models import WEIGHTS
from training import data
from training.batches import Batch, Encoded, Pool, encode, max_behind
from training.data import UNSUPPORTED, Split
from training.distillation import UNLABELLED, distilled_loss, unlabelled
from training.key_points import key_points
from training.measures import encoded, summary_of
from training.networks import BASES, LARGE, SMALL, new_network, trainable
from training.planted import planted

SHARES = {
    "support": 0.22,
    "planted": 0.16,
    "coverage": 0.16,
    "reading": 0.24,
    "same": 0.07,
    "key points": 0.15,
}
UNLABELLED_SHARE = 0.3
"""Share of unlabelled pairs if there is a teacher; the other pools get the rest."""
CAPS = {
    "support": 3500,
    "planted": 6000,
    "coverage": 6000,
    "reading": 40000,
    "same": 10000,
    "key points": 200,
    "unlabelled": 20000,
}
CURVE = 400
"""Examples per task in the learning curve, from the calibration documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Hyperparameters.

    The learning rate rises over the first ``warm`` of all ``steps`` and falls to 0 over the last
    share ``decay``; ``rate`` and ``head_rate`` are its peaks for encoder and heads. ``average`` is
    the decay of the exponential moving average of the weights, which is released. ``covered`` is
    the weight of the coverage loss on pairs labelled for support only. ``base`` is the published
    encoder at step 0; ``teacher`` identifies the weights for distillation.
    """

    base: str = SMALL
    steps: int = 2600
    warm: int = 150
    decay: float = 0.35
    rate: float = 1.5e-4
    head_rate: float = 7e-4
    teacher: str | None = None
    weight_decay: float = 0.01
    average: float = 0.995
    covered: float = 0.2
    seed: int = 20261122

    def factor(self, step: int) -> float:
        """Return the learning rate at a step, relative to its peak."""
        remaining = (self.steps - step) / max(1.0, self.decay * self.steps)
        return max(0.0, min(1.0, (step + 1) / self.warm, remaining))


SETTINGS = {
    SMALL: Settings(steps=6000),
    LARGE: Settings(base=LARGE, steps=3500, warm=200, decay=0.5, rate=4e-4),
}
"""Settings by base; the larger one trains only low-rank updates, at a higher rate."""


def shipped_weights(folder: Path) -> dict[str, Tensor]:
    """Return the released weights in a folder, dequantised, without their calibration."""
    small = load_file(str(folder / WEIGHTS))
    return dequantise({n: value for n, value in small.items() if not n.startswith("calibration.")})


def tokenizer() -> Any:
    """Return the packaged model's tokenizer, which both networks use."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(packaged_model_folder()), local_files_only=True)


def examples(split: Split, words: Any, *, folder: Path) -> dict[str, list[Encoded]]:
    """Return encoded examples of a split, by pool."""
    sets = {
        "support": data.support(split, folder=folder),
        "planted": planted(split, folder=folder),
        "coverage": [
            *data.coverage(split, folder=folder),
            *data.planted_coverage(split, folder=folder),
            *data.merged_coverage(split, folder=folder),
        ],
        "reading": data.reading(split, folder=folder),
        "same": data.same(split, folder=folder),
        "key points": key_points(split, folder=folder),
    }
    if split == "train":
        sets["unlabelled"] = unlabelled(folder=folder)
    return {name: encode(list(rows), words) for name, rows in sets.items()}


def curve_examples(words: Any, *, folder: Path) -> dict[str, list[Encoded]]:
    """Return the examples for the learning curve, by pool."""
    calibration = examples("calibrate", words, folder=folder)
    return {name: _spread(rows, CURVE) for name, rows in calibration.items()}


def loss_of(
    network: Heads, batch: Batch, *, covered: float, teacher: Heads | None = None
) -> Tensor:
    """Return the mean loss of a batch of one task, including the distillation loss."""
    hidden, pooled = encoded(network, batch)
    loss = torch.zeros((), device=pooled.device)
    if batch.examples[0].label != UNLABELLED:
        loss = labelled_loss(network, batch, hidden, pooled, covered=covered)
    if teacher is not None:
        with torch.no_grad():
            teacher_vectors = encoded(teacher, batch)
        loss = loss + distilled_loss(network, teacher, batch, (hidden, pooled), teacher_vectors)
    return loss


def labelled_loss(
    network: Heads, batch: Batch, hidden: Tensor, pooled: Tensor, *, covered: float
) -> Tensor:
    """Return the mean loss of a batch with respect to its labels."""
    task, labels = batch.examples[0].task, batch.labels
    if task in {"support", "points"}:
        logs = functional.log_softmax(network.support(pooled), dim=-1)
        # Unsupported: the source does not distinguish neutral from contradicted.
        log_not_supported = torch.logsumexp(logs[:, 1:], dim=-1)
        log_p = logs.gather(1, labels.clamp(max=2)[:, None])[:, 0]
        loss = -torch.where(labels == UNSUPPORTED, log_not_supported, log_p).mean()
        coverage_logits = network.coverage(pooled)[:, 0]
        # Points were annotated for coverage; for other statements support approximates it.
        weight = 1.0 if task == "points" else covered
        return loss + weight * _binary(coverage_logits, labels == data.SUPPORTED)
    if task == "coverage":
        return _binary(network.coverage(pooled)[:, 0], labels)
    if task == "same":
        return _binary(network.same(pooled)[:, 0], labels)
    has_answer = labels.bool()
    loss = _binary(network.answered(pooled)[:, 0], has_answer)
    if has_answer.any():
        logits = network.span(hidden[has_answer])
        logits = logits.masked_fill(batch.outside()[has_answer][:, :, None], -1e4)
        for end in (0, 1):
            loss = loss + functional.cross_entropy(logits[:, :, end], batch.spans[has_answer, end])
    return loss


def _binary(logits: Tensor, labels: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, labels.float())


class Run:
    """A run in a folder: `checkpoint.pt`, `curve.jsonl`, `record.json`.

    A rerun on the same folder resumes from the checkpoint, and the weights equal those of an
    uninterrupted run (each step has its own seed). ``teacher`` is a trained network to distil.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        *,
        source: Path,
        teacher: Heads | None = None,
        device: str = "cpu",
    ) -> None:
        self.folder, self.settings, self.source = folder, settings, source
        self.step, self.seconds = 0, 0.0
        self.device, self.teacher = torch.device(device), teacher
        self.network = new_network(settings.base, seed=settings.seed)
        self.network.to(self.device)
        self.learnt = trainable(self.network)
        parts: dict[bool, list[Tensor]] = {False: [], True: []}
        for name, weight in self.learnt.items():
            is_head = "." not in name.removesuffix(".weight").removesuffix(".bias")
            parts[is_head].append(weight)
        self.optimizer = torch.optim.AdamW(
            [
                {"params": parts[False], "peak": settings.rate},
                {"params": parts[True], "peak": settings.head_rate},
            ],
            lr=settings.rate,
            weight_decay=settings.weight_decay,
            betas=(0.9, 0.98),
            fused=True,
        )
        self.mean = {name: value.detach().clone() for name, value in self.learnt.items()}
        words = tokenizer()
        encoded_examples = examples("train", words, folder=source)
        if teacher is None:
            encoded_examples.pop("unlabelled", None)
        self.shares = shares_of(encoded_examples)
        self.pools = [
            Pool(name, self.shares[name], rows, CAPS[name], settings.seed)
            for name, rows in encoded_examples.items()
        ]
        self.curve_pools = curve_examples(words, folder=source)
        self._stop = False

    @property
    def checkpoint(self) -> Path:
        """The path of the checkpoint."""
        return self.folder / "checkpoint.pt"

    def restore(self) -> bool:
        """Load the checkpoint; return whether there is one."""
        if not self.checkpoint.exists():
            return False
        state = torch.load(self.checkpoint, weights_only=True, map_location=self.device)
        self.network.load_state_dict(state["network"], strict=False)
        self.optimizer.load_state_dict(state["optimizer"])
        self.mean, self.step, self.seconds = state["mean"], state["step"], state["seconds"]
        for pool in self.pools:
            pool.epoch, pool.place, pool.tokens = state["pools"][pool.name]
        return True

    def save(self) -> None:
        """Write the checkpoint atomically, and the record."""
        state = {
            "network": {name: value.detach() for name, value in self.learnt.items()},
            "optimizer": self.optimizer.state_dict(),
            "mean": self.mean,
            "step": self.step,
            "seconds": self.seconds,
            "pools": {p.name: (p.epoch, p.place, p.tokens) for p in self.pools},
        }
        partial = self.checkpoint.with_suffix(".partial")
        with partial.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.checkpoint)
        record = {
            "settings": asdict(self.settings),
            "shares": self.shares,
            "caps": CAPS,
            "step": self.step,
            "seconds": round(self.seconds),
            "tokens": {pool.name: pool.tokens for pool in self.pools},
            "examples": {pool.name: len(pool.examples) for pool in self.pools},
            "data_sha256": data.hashes(folder=self.source),
            "base_sha256": BASES[self.settings.base].sha256,
            "versions": {"python": platform.python_version(), "torch": torch.__version__},
            "machine": machine(self.device),
        }
        write_atomically(self.folder / "record.json", json.dumps(record, indent=2))

    def advance(self) -> float:
        """Run one training step and return its loss."""
        torch.manual_seed(self.settings.seed * 100_000 + self.step)
        pool = max_behind(self.pools)
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * self.settings.factor(self.step)
        loss = loss_of(
            self.network,
            pool.next().to(self.device),
            covered=self.settings.covered,
            teacher=self.teacher,
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(self.learnt.values()), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        keep = min(self.settings.average, self.step / (self.step + 10))
        values = [value.detach() for value in self.learnt.values()]
        torch._foreach_lerp_(list(self.mean.values()), values, 1 - keep)
        return float(loss.detach())

    def curve(self) -> dict[str, float]:
        """Return a row of the learning curve: the averaged weights on calibration documents."""
        network = with_weights(self.mean, base=self.settings.base)
        return summary_of(network.to(self.device), self.curve_pools)

    def go_on(self, *, minutes: float | None, every: int = 250, say: Callable[[str], None]) -> bool:
        """Train until the last step, an interrupt, or `minutes`; return whether it is complete."""
        for kind in (signal.SIGINT, signal.SIGTERM):
            signal.signal(kind, self._ask_to_stop)
        self.folder.mkdir(parents=True, exist_ok=True)
        began, previous_seconds = time.monotonic(), self.seconds
        recent: list[float] = []
        self.network.train()
        while self.step < self.settings.steps and not self._stop:
            recent.append(self.advance())
            self.seconds = previous_seconds + time.monotonic() - began
            is_complete = self.step == self.settings.steps
            if self.step % 25 == 0:
                tokens = sum(pool.tokens for pool in self.pools)
                say(
                    f"step {self.step}/{self.settings.steps} loss {fmean(recent[-25:]):.3f} "
                    f"{tokens / 1e6:.2f}M tokens {tokens / self.seconds:.0f}/s"
                )
            if self.step % 50 == 0 and not is_complete:
                self.save()
            if self.step % every == 0 or is_complete:
                row = {"step": self.step, "seconds": round(self.seconds), **self.curve()}
                with (self.folder / "curve.jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                say(" ".join(f"{name} {value:g}" for name, value in row.items()))
            if minutes is not None and time.monotonic() - began > 60 * minutes:
                break
        self.save()
        return self.step >= self.settings.steps

    def _ask_to_stop(self, *_: object) -> None:
        self._stop = True


def shares_of(pools: dict[str, list[Encoded]]) -> dict[str, float]:
    """Return each pool's share of the tokens, which sum to 1."""
    labelled_share = 1.0 - UNLABELLED_SHARE * ("unlabelled" in pools)
    return {
        name: UNLABELLED_SHARE if name == "unlabelled" else labelled_share * SHARES[name]
        for name in pools
    }


def with_weights(weights: dict[str, Tensor], *, base: str = SMALL) -> Heads:
    """Return a network for evaluation, with these weights instead of the published ones."""
    network = new_network(base, seed=0)
    network.load_state_dict(weights, strict=False)
    network.eval()
    return network


def weights_of(folder: Path) -> dict[str, Tensor]:
    """Return the averaged weights of a run's checkpoint."""
    state = torch.load(folder / "checkpoint.pt", weights_only=True, map_location="cpu")
    weights: dict[str, Tensor] = state["mean"]
    return weights


def machine(device: torch.device) -> str:
    """Describe the processor, without the host name."""
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "")
    bfloat = "with" if any("avx512_bf16" in line for line in lines) else "without"
    return f"{model or platform.machine()}, {os.cpu_count()} cores, {bfloat} avx512_bf16"


def _spread(rows: list[Encoded], limit: int) -> list[Encoded]:
    """Return at most `limit` evenly spaced rows."""
    step = max(1, len(rows) // limit)
    return rows[::step][:limit]
