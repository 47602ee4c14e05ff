"""Export of a checkpoint for release: weights in 8 bits, calibration, record."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

from fairjudge.scorers._trained_network import Heads, dequantise, quantise
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import WEIGHTS, TrainedModels
from fairjudge.scorers.trained_record import RECORD
from training import data
from training.coverage_fit import fit_covered, labelled_insights, labelled_units
from training.data import CALIBRATE, Example, pairs_of, spread
from training.fits import fit_logistic, fit_support
from training.measures import summary_of
from training.networks import SMALL, is_trained
from training.planted import planted
from training.run import curve_examples, shipped_weights, tokenizer, weights_of, with_weights
from training.statements import changed, checked, drawn, elsewhere, fit_supported

DEVELOPMENT = ("Q2", "Q3", "Q5", "Q6")
"""NAnCo's questions for fits and thresholds; the others are only for evaluation."""
_NO_CALIBRATION = {"answered": np.array([1.0, 0.0])}
"""The uncalibrated head, for `answered_fit`; the other fits use only logits and features."""


def fitted(
    network: Heads, *, source: Path, only: Sequence[str] = ()
) -> dict[str, NDArray[np.float64]]:
    """Calibrate the heads on the calibration groups and documents.

    Runs all `FITS`, or `only` some. A head is calibrated on at most `CALIBRATE` examples, coverage
    on all.
    """
    models = TrainedModels(
        network=network,
        tokenizer=tokenizer(),
        calibration=_NO_CALIBRATION,
        identity="uncalibrated",
    )
    return {name: FITS[name](models, source) for name in only or FITS}


def export(
    runs: Sequence[Path], target: Path, *, source: Path, device: str = "cpu"
) -> dict[str, Any]:
    """Write weights and record of runs' checkpoints to `target`; return the record.

    The weights of several runs from one base are averaged, which is often better than each run
    (Wortsman et al., arXiv 2203.05482).
    """
    records = [json.loads((run / "record.json").read_text(encoding="utf-8")) for run in runs]
    base = records[0]["settings"]["base"]
    mean = mean_of([weights_of(run) for run in runs])
    small = quantise({name: value for name, value in mean.items() if is_trained(name)})
    network = with_weights(dequantise(small), base=base).to(device)
    fits = fitted(network, source=source)
    in_8_bits = summary_of(network, curve_examples(tokenizer(), folder=source))
    target.mkdir(parents=True, exist_ok=True)
    record = {
        "sha256": _write_weights(small, fits, target),
        "calibration": _rounded(fits),
        "calibrated_on": CALIBRATE,
        "run": records[0],
        "other_runs": records[1:],
        "curve": [row for run in runs for row in data.read_curve(run)],
        "in_8_bits": in_8_bits,
        "kept_out": test_documents(source=source),
        "measured_only": sorted(data.MEASURED_ONLY),
    }
    write_record(target, record)
    return record


def mean_of(weights: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of several runs' weights, by name."""
    return {
        name: torch.stack([w[name].float() for w in weights]).mean(dim=0) for name in weights[0]
    }


def recalibrate(target: Path, *, source: Path, only: Sequence[str] = ()) -> dict[str, Any]:
    """Calibrate the released weights again, with all or `only` some of `FITS`."""
    small = load_file(target / WEIGHTS)
    record: dict[str, Any] = json.loads((target / RECORD).read_text(encoding="utf-8"))
    base = record["run"]["settings"].get("base", SMALL)
    fits = fitted(with_weights(shipped_weights(target), base=base), source=source, only=only)
    record["sha256"] = _write_weights(small, fits, target)
    record["calibration"] |= _rounded(fits)
    write_record(target, record)
    return record


def write_record(folder: Path, record: dict[str, Any]) -> None:
    """Write the record of the released weights."""
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _write_weights(
    small: dict[str, Tensor], fits: dict[str, NDArray[np.float64]], target: Path
) -> str:
    """Write the released weights and return their SHA-256."""
    small |= {f"calibration.{name}": torch.tensor(fit) for name, fit in fits.items()}
    save_file({name: value.contiguous() for name, value in small.items()}, target / WEIGHTS)
    (target / WEIGHTS).chmod(0o644)
    return hashlib.sha256((target / WEIGHTS).read_bytes()).hexdigest()


def _rounded(fits: dict[str, NDArray[np.float64]]) -> dict[str, list[float]]:
    return {name: [round(float(x), 4) for x in fit] for name, fit in fits.items()}


def test_documents(*, source: Path) -> dict[str, list[str]]:
    """Return the test documents of the coverage data, by data set."""
    groups: dict[str, set[str]] = {}
    for example in data.coverage("test", folder=source):
        groups.setdefault(example.source, set()).add(example.group)
    return {name: sorted(documents) for name, documents in groups.items()}


def support_fit(models: TrainedModels, source: Path) -> NDArray[np.float64]:
    """Fit the support head's three classes."""
    examples = [
        *spread(list(data.support("calibrate", folder=source)), CALIBRATE),
        *spread(list(planted("calibrate", folder=source)), CALIBRATE // 2),
    ]
    return fit_support(models.pair_logits(pairs_of(examples)), labels_of(examples))


def covered_fit(models: TrainedModels, source: Path) -> NDArray[np.float64]:
    """Fit P(covered), on all calibration labels."""
    units = labelled_units(models, source=source)
    return fit_covered([*units, *labelled_insights(models, load_embedder(), source=source)])


def answered_fit(models: TrainedModels, source: Path) -> NDArray[np.float64]:
    """Fit P(a sentence answers a question) on the logit of `read`'s probability."""
    questions = spread(list(data.reading("calibrate", folder=source)), CALIBRATE)
    readings = models.read([(example.first, example.second) for example in questions])
    p = np.clip([reading.answered for reading in readings], 1e-9, 1 - 1e-9)
    return fit_logistic(np.log(p / (1 - p))[:, None], labels_of(questions), penalty=1e-3)


def supported_fit(models: TrainedModels, source: Path) -> NDArray[np.float64]:
    """Fit P(supported) by whole documents, on the calibration documents."""
    examples = drawn("calibrate", folder=source)
    rows = checked(models, load_embedder(), [*examples, *elsewhere(examples)])
    planted_rows = spread(list(planted("calibrate", folder=source)), CALIBRATE // 2)
    return fit_supported([*rows, *changed(models, planted_rows)])


def labels_of(examples: Sequence[Example]) -> NDArray[np.int64]:
    """Return the labels of the examples."""
    return np.array([example.label for example in examples])


def nanco_triples(
    qids: Sequence[str], *, source: Path
) -> dict[str, tuple[list[tuple[str, str, str]], NDArray[np.int64]]]:
    """Return (question, answer, answer) of every pair of answers, and their human labels."""
    triples_by_question = {}
    for entry in json.loads((source / data.FILES["nanco"]).read_text(encoding="utf-8")):
        answers = entry["answers"]
        if answers[0]["qid"] in qids:
            pairs = list(itertools.combinations(answers, 2))
            triples_by_question[answers[0]["qid"]] = (
                [(entry["question"], a["Answer"], b["Answer"]) for a, b in pairs],
                np.array([int(a["cluster_global"] == b["cluster_global"]) for a, b in pairs]),
            )
    return triples_by_question


def triples_of(examples: Sequence[Example]) -> list[tuple[str, str, str]]:
    """Return (question, answer, answer) triples, the models' input."""
    return [(example.question, example.first, example.second) for example in examples]


def same_fit(models: TrainedModels, source: Path) -> NDArray[np.float64]:
    """Fit P(same) on NAnCo's development questions and QAMR's calibration documents, half each.

    Within each question, and within QAMR, same and different have equal weight.
    """
    examples = [e for e in data.same("calibrate", folder=source) if e.source != "entailment"]
    examples = spread(examples, CALIBRATE)
    parts = [*nanco_triples(DEVELOPMENT, source=source).values()]
    parts.append((triples_of(examples), labels_of(examples)))
    shares = [*[1.0] * (len(parts) - 1), float(len(parts) - 1)]
    weights = [
        share * np.where(same == 1, 0.5 / same.sum(), 0.5 / (len(same) - same.sum()))
        for share, (_, same) in zip(shares, parts, strict=True)
    ]
    every = np.concatenate(weights)
    return fit_logistic(
        np.concatenate([models.same_features(triples) for triples, _ in parts]),
        np.concatenate([same for _, same in parts]),
        penalty=5.0,
        weights=every / every.mean(),
    )


FITS: dict[str, Callable[[TrainedModels, Path], NDArray[np.float64]]] = {
    "support": support_fit,
    "supported": supported_fit,
    "covered": covered_fit,
    "answered": answered_fit,
    "same": same_fit,
}
