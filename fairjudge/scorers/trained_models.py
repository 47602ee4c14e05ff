"""Small models of our own: support, coverage, reading and same answer, trained by `training/`.

One encoder begun from the packaged all-MiniLM-L6-v2, whose word embeddings it reads from there; the
rest ships in `trained/`. torch is imported when they are loaded, never when this module is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairjudge.ports import Reading
from fairjudge.scorers import large_package
from fairjudge.scorers._pretrained import encodable, require_libraries
from fairjudge.scorers._recent import RecentResults
from fairjudge.scorers._unit_features import UnitFeatures
from fairjudge.scorers.embedding import (
    BATCH_TOKENS,
    PACKAGE_SHA256,
    check_sha256,
    packaged_model_folder,
)
from fairjudge.scorers.trained_record import FOLDER, trained_record

WEIGHTS = "weights.safetensors"

MAX_TOKENS = 192
"""Tokens of a pair, special ones included, that are read; what is longer is cut at the end."""
FIRST_TOKENS = 96
"""Tokens of a statement, unit, or question that are read."""
MAX_LACKING = 3
"""Names and numbers that sources lack, from which on more of them say nothing new."""
SPAN_TOKENS = 40
"""Tokens of the longest answer."""
_TASKS = {"pair": 0, "reading": 1, "same": 2}


@dataclass(frozen=True, slots=True)
class Row:
    """``[CLS] first [SEP] second [SEP]``; `second` is the place of the second's first token."""

    ids: tuple[int, ...]
    second: int
    spans: tuple[tuple[int, int], ...]


def rows_of(pairs: Sequence[tuple[str, str]], tokenizer: Any) -> list[Row]:
    """Return what the encoder reads of (first, second); both are cut at their end."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    if not texts:
        return []  # the tokenizer does not take none
    by_text = dict(zip(texts, tokens_of(texts, tokenizer), strict=True))
    begin, separate = tokenizer.cls_token_id, tokenizer.sep_token_id
    rows = []
    for first, second in pairs:
        before = by_text[first][0][:FIRST_TOKENS]
        room = MAX_TOKENS - len(before) - 3
        ids, spans = by_text[second]
        rows.append(
            Row(
                ids=(begin, *before, separate, *ids[:room], separate),
                second=len(before) + 2,
                spans=tuple(spans[:room]),
            )
        )
    return rows


def tokens_of(
    texts: Sequence[str], tokenizer: Any
) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """Return each text's token ids, and where each stands in the `encodable` text."""
    encoded = tokenizer(
        [encodable(text) for text in texts],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        verbose=False,
    )
    return list(zip(encoded["input_ids"], encoded["offset_mapping"], strict=True))


@cache
def load_trained_models(*, folder: Path = FOLDER) -> TrainedModels:
    """Load the models that ship with the package, once a process; on CUDA where there is one.

    `folder` is `FOLDER` or `LARGE_FOLDER`. Weights that are missing, or are not those of the
    record, raise `ConfigurationError`.
    """
    require_libraries("the trained models")
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer

    check_sha256(folder / WEIGHTS, trained_record(folder)["sha256"])
    small = load_file(str(folder / WEIGHTS))
    calibration = {
        name.removeprefix("calibration."): small.pop(name).double().numpy()
        for name in list(small)
        if name.startswith("calibration.")
    }
    network = _large_network(small) if is_large(folder) else _small_network(small)
    return TrainedModels(
        network=network.to("cuda" if torch.cuda.is_available() else "cpu").eval(),
        tokenizer=AutoTokenizer.from_pretrained(
            str(packaged_model_folder()), local_files_only=True
        ),
        calibration=calibration,
        identity=trained_identity(folder),
    )


def _small_network(small: dict[str, Any]) -> Any:
    """Return all-MiniLM-L6-v2 with these weights, its word embeddings those of its package."""
    from safetensors.torch import load_file

    from fairjudge.scorers._trained_network import FROZEN, TrainedNetwork, restored

    path = packaged_model_folder() / "model.safetensors"
    check_sha256(path, PACKAGE_SHA256)
    words = load_file(str(path))["embeddings.word_embeddings.weight"]
    network = TrainedNetwork(words.shape[0])
    network.load_state_dict({**restored(small), FROZEN: words})
    return network


def _large_network(small: dict[str, Any]) -> Any:
    """Return all-mpnet-base-v2 with these updates of its published weights."""
    from safetensors.torch import load

    from fairjudge.scorers._large_network import LargeNetwork
    from fairjudge.scorers._trained_network import restored

    network = LargeNetwork()
    network.load_published(load(large_package.published_weights()))
    network.load_state_dict(restored(small), strict=False)
    network.merge()
    return network


def is_large(folder: Path) -> bool:
    """Return whether a folder has weights of the larger network."""
    settings = trained_record(folder)["run"]["settings"]
    return bool(settings.get("base") == large_package.BASE)


def trained_identity(folder: Path = FOLDER) -> str:
    """Return what names the weights that ship, without loading them."""
    name = "fairjudge-mpnet" if is_large(folder) else "fairjudge-minilm"
    return f"{name}:{trained_record(folder)['sha256'][:12]}"


_Head = Callable[..., Any]


class TrainedModels:
    """The trained models; a `fairjudge.ports.TrainedModels`.

    A pair of more than 192 tokens, or a statement, unit or question of more than 96, is cut at the
    end: split long passages into windows. A pair's numbers do not depend on the other pairs (below
    5e-3). Products run in bfloat16 where the processor has instructions for it, else in float32;
    probabilities differ by less than 0.03 between the two. Lone surrogates are read as ``?``.

    ``calibration`` has the weights of the fits that turn what heads say into probabilities, by
    head; ``identity`` names all weights in signatures.
    """

    def __init__(
        self,
        *,
        network: Any,
        tokenizer: Any,
        calibration: dict[str, NDArray[np.float64]],
        identity: str,
    ) -> None:
        self._network, self._tokenizer, self._calibration = network, tokenizer, calibration
        self.identity = identity
        words = network.word_embeddings.detach().float().cpu().numpy()
        self._features = UnitFeatures(words, tokenizer)
        self._recent = RecentResults()

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return where each token of each text stands, as characters of the `encodable` text."""
        return [spans for _, spans in tokens_of(texts, self._tokenizer)]

    def support(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 3): P(supported, neutral, contradicted) of (passage, statement)."""
        from scipy.special import softmax

        factor, *constants = self._calibration["support"]
        scores = self.pair_logits(pairs)[:, :3] * factor + np.array(constants)
        return np.asarray(softmax(scores, axis=1), dtype=np.float64)

    def supported(
        self, pairs: Sequence[tuple[str, str]], lacking: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return shape (n,): P(supported) of (passage, statement), in view of all the sources.

        `lacking` counts the names and numbers of each statement that the sources have nowhere.
        """
        return self._probability("supported", self.supported_features(pairs, lacking))

    @property
    def supported_weights(self) -> NDArray[np.float64]:
        """Shape (4,): what P(supported) weighs its features by, and the constant."""
        return self._calibration["supported"]

    def supported_features(
        self, pairs: Sequence[tuple[str, str]], lacking: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return shape (n, 3), what the fit of P(supported) weighs: both heads, what is lacking."""
        logits = self.pair_logits(pairs)
        against = np.logaddexp(logits[:, 1], logits[:, 2])
        penalties = -np.minimum(np.asarray(lacking, dtype=np.float64), MAX_LACKING)
        return np.column_stack((logits[:, 0] - against, logits[:, 3], penalties))

    def covered(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n,): P(covered) of (passage of a summary, unit)."""
        return self._probability("covered", self.covered_features(pairs))

    def covered_features(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 6), what the fit of P(covered) weighs: both heads, shared words."""
        logits = self.pair_logits(pairs)
        against = np.logaddexp(logits[:, 1], logits[:, 2])
        texts = [(encodable(passage), encodable(unit)) for passage, unit in pairs]
        return np.column_stack((logits[:, 3], logits[:, 0] - against, self._features.of(texts)))

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Return the best answer of each (question, sentence with context).

        A passage without a token answers nothing: (0, 0, 0).
        """
        rows = rows_of(pairs, self._tokenizer)
        answers = self._run(rows, "reading", _answers)
        sure = self._probability("answered", answers[:, :1])
        readings = []
        for row, p, (first, last) in zip(rows, sure, answers[:, 1:].astype(int), strict=True):
            if row.spans:
                start, end = row.spans[first - row.second][0], row.spans[last - row.second][1]
                readings.append(Reading(float(p), start, end))
            else:
                readings.append(Reading(0.0, 0, 0))
        return readings

    def same_answer(self, triples: Sequence[tuple[str, str, str]]) -> NDArray[np.float64]:
        """Return shape (n,): P(same) of (question, answer, answer); their order does not matter.

        Calibrated for as many answers that are the same as such that are not.
        """
        return self._probability("same", self.same_features(triples))

    def same_features(self, triples: Sequence[tuple[str, str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 4), what the fit of P(same) weighs, each the mean over both orders.

        The head's own logit; and, of the answers without the question, those of coverage and of
        support, and how near their nearest words are.
        """
        forward = list(triples)
        back = [(question, two, first) for question, first, two in triples]
        texts = [(f"{question} {first}", two) for question, first, two in forward + back]
        head = self._run(rows_of(texts, self._tokenizer), "same", _same)
        covered = self.covered_features([(first, two) for _, first, two in forward + back])
        features = np.column_stack((head, covered[:, [0, 1, -1]]))
        mean: NDArray[np.float64] = features.reshape(2, len(triples), 4).mean(axis=0)
        return mean

    def pair_logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 4): the support head's three classes, then the coverage head."""
        queries = [(statement, passage) for passage, statement in pairs]
        return self._run(rows_of(queries, self._tokenizer), "pair", _support_and_coverage)

    def _probability(self, fit: str, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the logistic `fit`, a weight a feature and then a constant, says."""
        weights = self._calibration[fit]
        return logistic(features @ weights[:-1] + weights[-1])

    def _run(self, rows: list[Row], task: str, head: _Head) -> NDArray[np.float64]:
        """Return what `head`, that of `task`, makes of each row, shape (n, k)."""
        return self._recent.get((task, rows), lambda: self._run_anew(rows, task, head))

    def _run_anew(self, rows: list[Row], task: str, head: _Head) -> NDArray[np.float64]:
        """Return what `_run` returns, without recent results; equal rows are read once."""
        import torch

        columns = {"pair": 4, "reading": 3, "same": 1}[task]
        distinct = {row: place for place, row in enumerate(dict.fromkeys(rows))}
        scores = np.zeros((len(distinct), columns))
        ordered = sorted(distinct, key=lambda row: len(row.ids))
        device = self._network.word_embeddings.device
        start = 0
        while start < len(ordered):
            stop = start + 1
            while stop < len(ordered) and (
                (stop - start + 1) * len(ordered[stop].ids) <= BATCH_TOKENS
            ):
                stop += 1
            batch = ordered[start:stop]
            padded = tensors(
                [row.ids for row in batch], [row.second for row in batch], _TASKS[task]
            )
            ids, types, mask = (part.to(device) for part in padded)
            with torch.inference_mode():
                with torch.autocast(device.type, torch.bfloat16, enabled=has_bfloat16(device)):
                    hidden, pooled = self._network.encode(ids, types, mask)
                hidden, pooled = hidden.float(), pooled.float()
                values = head(self._network, hidden, pooled, (types % 2 == 0) | (mask == 0))
            scores[[distinct[row] for row in batch]] = values.double().cpu().numpy()
            start = stop
        return scores[[distinct[row] for row in rows]]


def has_bfloat16(device: Any) -> bool:
    """Whether products in bfloat16 are quicker: half the time on a CPU with instructions for it."""
    import torch

    if device.type != "cpu":
        return bool(device.type == "cuda" and torch.cuda.is_bf16_supported())
    supports_bf16 = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(supports_bf16 and supports_bf16())


def tensors(
    rows: Sequence[Sequence[int]], seconds: Sequence[int], task: int
) -> tuple[Any, Any, Any]:
    """Return ids, types and mask of shape (n, longest row); `seconds` are as in `Row.second`."""
    import torch

    width = max(map(len, rows))
    lengths = torch.tensor([len(row) for row in rows])
    places = torch.arange(width)[None, :]
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    types = 2 * task + (places >= torch.tensor(seconds)[:, None]).long()
    return ids, types, (places < lengths[:, None]).long()


def _support_and_coverage(network: Any, _: Any, pooled: Any, __: Any) -> Any:
    import torch

    return torch.cat((network.support(pooled), network.coverage(pooled)), dim=1)


def _same(network: Any, _: Any, pooled: Any, __: Any) -> Any:
    return network.same(pooled)


def _answers(network: Any, hidden: Any, pooled: Any, outside: Any) -> Any:
    import torch

    # The separator behind the second text is no part of an answer.
    last = (~outside).long().cumsum(dim=1).argmax(dim=1, keepdim=True)
    spans = best_spans(network.span(hidden), outside.scatter(1, last, value=True))
    return torch.cat((network.answered(pooled), spans.to(pooled.dtype)), dim=1)


def best_spans(logits: Any, outside: Any) -> Any:
    """Return first and last token (n, 2) of the likeliest span of at most `SPAN_TOKENS`."""
    import torch

    scores = logits.masked_fill(outside[:, :, None], -1e4)
    totals = scores[:, :, None, 0] + scores[:, None, :, 1]
    length = totals.shape[1]
    allowed = torch.ones(length, length, dtype=torch.bool, device=totals.device)
    allowed = allowed.triu().tril(SPAN_TOKENS - 1)
    best = totals.masked_fill(~allowed, -1e9).flatten(1).argmax(dim=1)
    return torch.stack((best // length, best % length), dim=1)


def logistic(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-scores)) without overflow."""
    probabilities: NDArray[np.float64] = 0.5 * (1 + np.tanh(scores / 2))
    return probabilities
