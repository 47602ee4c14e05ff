"""FairJudge's small models of support, coverage, reading and same answer, trained by `training/`.

They share one encoder, initialised from the packaged all-MiniLM-L6-v2, whose word embeddings are
loaded from its package; all other weights are in `trained/`. torch is imported when the models are
loaded, not when this module is imported.
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
"""Maximum number of tokens of a pair, including special tokens; the end is truncated."""
FIRST_TOKENS = 96
"""Maximum number of tokens of a statement, unit, or question."""
MAX_MISSING = 3
"""Maximum number of names and numbers missing in the sources that is used as a feature."""
SPAN_TOKENS = 40
"""Maximum number of tokens of an answer."""
_TASKS = {"pair": 0, "reading": 1, "same": 2}


@dataclass(frozen=True, slots=True)
class Row:
    """``[CLS] first [SEP] second [SEP]``; `second` is the index of the first token of second."""

    ids: tuple[int, ...]
    second: int
    spans: tuple[tuple[int, int], ...]


def rows_of(pairs: Sequence[tuple[str, str]], tokenizer: Any) -> list[Row]:
    """Return the encoder's inputs for pairs (first, second); both are truncated at the end."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    if not texts:
        return []  # the tokenizer does not accept an empty list
    by_text = dict(zip(texts, tokens_of(texts, tokenizer), strict=True))
    begin, separate = tokenizer.cls_token_id, tokenizer.sep_token_id
    rows = []
    for first, second in pairs:
        first_ids = by_text[first][0][:FIRST_TOKENS]
        max_second_tokens = MAX_TOKENS - len(first_ids) - 3
        ids, spans = by_text[second]
        rows.append(
            Row(
                ids=(begin, *first_ids, separate, *ids[:max_second_tokens], separate),
                second=len(first_ids) + 2,
                spans=tuple(spans[:max_second_tokens]),
            )
        )
    return rows


def tokens_of(
    texts: Sequence[str], tokenizer: Any
) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """Return each text's token ids, and their character spans in the `encodable` text."""
    encoding = tokenizer(
        [encodable(text) for text in texts],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        verbose=False,
    )
    return list(zip(encoding["input_ids"], encoding["offset_mapping"], strict=True))


@cache
def load_trained_models(*, folder: Path = FOLDER) -> TrainedModels:
    """Load the packaged models, once per process; on CUDA if available.

    `folder` is `FOLDER` or `LARGE_FOLDER`. Raises `ConfigurationError` if the weights are missing
    or differ from the record.
    """
    require_libraries("the trained models")
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer

    check_sha256(folder / WEIGHTS, trained_record(folder)["sha256"])
    weights = load_file(str(folder / WEIGHTS))
    calibration = {
        name.removeprefix("calibration."): weights.pop(name).double().numpy()
        for name in list(weights)
        if name.startswith("calibration.")
    }
    network = _large_network(weights) if is_large(folder) else _small_network(weights)
    return TrainedModels(
        network=network.to("cuda" if torch.cuda.is_available() else "cpu").eval(),
        tokenizer=AutoTokenizer.from_pretrained(
            str(packaged_model_folder()), local_files_only=True
        ),
        calibration=calibration,
        identity=trained_identity(folder),
    )


def _small_network(weights: dict[str, Any]) -> Any:
    """Return all-MiniLM-L6-v2 with these weights, and with the word embeddings of its package."""
    from safetensors.torch import load_file

    from fairjudge.scorers._trained_network import FROZEN, TrainedNetwork, dequantise

    path = packaged_model_folder() / "model.safetensors"
    check_sha256(path, PACKAGE_SHA256)
    words = load_file(str(path))["embeddings.word_embeddings.weight"]
    network = TrainedNetwork(words.shape[0])
    network.load_state_dict({**dequantise(weights), FROZEN: words})
    return network


def _large_network(weights: dict[str, Any]) -> Any:
    """Return all-mpnet-base-v2 with these updates applied to its published weights."""
    from safetensors.torch import load

    from fairjudge.scorers._large_network import LargeNetwork
    from fairjudge.scorers._trained_network import dequantise

    network = LargeNetwork()
    network.load_published_weights(load(large_package.published_weights()))
    network.load_state_dict(dequantise(weights), strict=False)
    network.merge()
    return network


def is_large(folder: Path) -> bool:
    """Return whether a folder contains weights of the larger network."""
    settings = trained_record(folder)["run"]["settings"]
    return bool(settings.get("base") == large_package.BASE)


def trained_identity(folder: Path = FOLDER) -> str:
    """Return the name and digest of the packaged weights, without loading them."""
    name = "fairjudge-mpnet" if is_large(folder) else "fairjudge-minilm"
    return f"{name}:{trained_record(folder)['sha256'][:12]}"


_Head = Callable[..., Any]


class TrainedModels:
    """The trained models; a `fairjudge.ports.TrainedModels`.

    A pair of more than 192 tokens, or a statement, unit or question of more than 96, is truncated
    at the end: split long passages into windows. A pair's results do not depend on other pairs (up
    to 5e-3). Matrix products use bfloat16 if the processor supports it, else float32; probabilities
    differ by less than 0.03 between the two. Lone surrogates are read as ``?``.

    ``calibration`` are the weights, by head, of the fits that map the outputs of heads to
    probabilities; ``identity`` identifies all weights in signatures.
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
        """Return the span of each token of each text, in characters of the `encodable` text."""
        return [spans for _, spans in tokens_of(texts, self._tokenizer)]

    def support(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 3): P(supported, neutral, contradicted) of (passage, statement)."""
        from scipy.special import softmax

        factor, *constants = self._calibration["support"]
        scores = self.pair_logits(pairs)[:, :3] * factor + np.array(constants)
        return np.asarray(softmax(scores, axis=1), dtype=np.float64)

    def support_probabilities(
        self, pairs: Sequence[tuple[str, str]], n_missing: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return shape (n,): P(supported) of (passage, statement), in view of all the sources.

        `n_missing` are the numbers of names and numbers of each statement that no source contains.
        """
        return self._probability("supported", self.supported_features(pairs, n_missing))

    @property
    def supported_weights(self) -> NDArray[np.float64]:
        """Shape (4,): the weights of the features in the fit of P(supported), and the constant."""
        return self._calibration["supported"]

    def supported_features(
        self, pairs: Sequence[tuple[str, str]], n_missing: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return shape (n, 3), the features of P(supported): both heads, and minus `n_missing`."""
        logits = self.pair_logits(pairs)
        against = np.logaddexp(logits[:, 1], logits[:, 2])
        penalties = -np.minimum(np.asarray(n_missing, dtype=np.float64), MAX_MISSING)
        return np.column_stack((logits[:, 0] - against, logits[:, 3], penalties))

    def coverage_probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n,): P(covered) of (passage of a summary, unit)."""
        return self._probability("covered", self.covered_features(pairs))

    def covered_features(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 6), the features of P(covered): both heads, and common words."""
        logits = self.pair_logits(pairs)
        against = np.logaddexp(logits[:, 1], logits[:, 2])
        texts = [(encodable(passage), encodable(unit)) for passage, unit in pairs]
        lexical = self._features.compute(texts)
        return np.column_stack((logits[:, 3], logits[:, 0] - against, lexical))

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Return the best answer of each (question, sentence with context).

        For a passage without a token, the result is (0, 0, 0).
        """
        rows = rows_of(pairs, self._tokenizer)
        answers = self._run(rows, "reading", _answer_spans)
        probabilities = self._probability("answered", answers[:, :1])
        readings = []
        for row, p, (first, last) in zip(
            rows, probabilities, answers[:, 1:].astype(int), strict=True
        ):
            if row.spans:
                start, end = row.spans[first - row.second][0], row.spans[last - row.second][1]
                readings.append(Reading(float(p), start, end))
            else:
                readings.append(Reading(0.0, 0, 0))
        return readings

    def same_answer(self, triples: Sequence[tuple[str, str, str]]) -> NDArray[np.float64]:
        """Return shape (n,): P(same) of (question, answer, answer), symmetric in the answers.

        Calibrated for equal numbers of equivalent and different answers.
        """
        return self._probability("same", self.same_features(triples))

    def same_features(self, triples: Sequence[tuple[str, str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 4), the features of P(same), each the mean over both orders.

        The head's logit; and for the answers without the question, the logits of coverage and
        support, and the similarity of the closest words.
        """
        forward = list(triples)
        reversed_triples = [(question, second, first) for question, first, second in triples]
        texts = [
            (f"{question} {first}", second)
            for question, first, second in forward + reversed_triples
        ]
        head = self._run(rows_of(texts, self._tokenizer), "same", _same_answer_logits)
        coverage_features = self.covered_features(
            [(first, second) for _, first, second in forward + reversed_triples]
        )
        features = np.column_stack((head, coverage_features[:, [0, 1, -1]]))
        mean: NDArray[np.float64] = features.reshape(2, len(triples), 4).mean(axis=0)
        return mean

    def pair_logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 4): the support head's three classes, then the coverage head."""
        queries = [(statement, passage) for passage, statement in pairs]
        return self._run(rows_of(queries, self._tokenizer), "pair", _pair_logits)

    def _probability(self, fit: str, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the logistic `fit`: a weight per feature, and a constant."""
        weights = self._calibration[fit]
        return logistic(features @ weights[:-1] + weights[-1])

    def _run(self, rows: list[Row], task: str, head: _Head) -> NDArray[np.float64]:
        """Return the output of `head` (of `task`) for each row, shape (n, k)."""
        return self._recent.get((task, rows), lambda: self._compute(rows, task, head))

    def _compute(self, rows: list[Row], task: str, head: _Head) -> NDArray[np.float64]:
        """Return the output of `_run` without its cache; equal rows are computed once."""
        import torch

        columns = {"pair": 4, "reading": 3, "same": 1}[task]
        distinct = {row: index for index, row in enumerate(dict.fromkeys(rows))}
        scores = np.zeros((len(distinct), columns))
        sorted_rows = sorted(distinct, key=lambda row: len(row.ids))
        device = self._network.word_embeddings.device
        start = 0
        while start < len(sorted_rows):
            stop = start + 1
            while stop < len(sorted_rows) and (
                (stop - start + 1) * len(sorted_rows[stop].ids) <= BATCH_TOKENS
            ):
                stop += 1
            batch = sorted_rows[start:stop]
            batch_tensors = tensors(
                [row.ids for row in batch], [row.second for row in batch], _TASKS[task]
            )
            ids, types, mask = (part.to(device) for part in batch_tensors)
            with torch.inference_mode():
                with torch.autocast(device.type, torch.bfloat16, enabled=has_bfloat16(device)):
                    hidden, vectors = self._network.encode(ids, types, mask)
                hidden, vectors = hidden.float(), vectors.float()
                values = head(self._network, hidden, vectors, (types % 2 == 0) | (mask == 0))
            scores[[distinct[row] for row in batch]] = values.double().cpu().numpy()
            start = stop
        return scores[[distinct[row] for row in rows]]


def has_bfloat16(device: Any) -> bool:
    """Return whether bfloat16 is faster; CPUs with instructions for it need half the time."""
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
    positions = torch.arange(width)[None, :]
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    types = 2 * task + (positions >= torch.tensor(seconds)[:, None]).long()
    return ids, types, (positions < lengths[:, None]).long()


def _pair_logits(network: Any, _: Any, vectors: Any, __: Any) -> Any:
    import torch

    return torch.cat((network.support(vectors), network.coverage(vectors)), dim=1)


def _same_answer_logits(network: Any, _: Any, vectors: Any, __: Any) -> Any:
    return network.same(vectors)


def _answer_spans(network: Any, hidden: Any, vectors: Any, outside: Any) -> Any:
    import torch

    # The separator after the second text is not part of an answer.
    last = (~outside).long().cumsum(dim=1).argmax(dim=1, keepdim=True)
    spans = best_spans(network.span(hidden), outside.scatter(1, last, value=True))
    return torch.cat((network.answered(vectors), spans.to(vectors.dtype)), dim=1)


def best_spans(logits: Any, outside: Any) -> Any:
    """Return first and last token (n, 2) of the most likely span of at most `SPAN_TOKENS`."""
    import torch

    scores = logits.masked_fill(outside[:, :, None], -1e4)
    totals = scores[:, :, None, 0] + scores[:, None, :, 1]
    length = totals.shape[1]
    is_allowed = torch.ones(length, length, dtype=torch.bool, device=totals.device)
    is_allowed = is_allowed.triu().tril(SPAN_TOKENS - 1)
    best = totals.masked_fill(~is_allowed, -1e9).flatten(1).argmax(dim=1)
    return torch.stack((best // length, best % length), dim=1)


def logistic(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-scores)) without overflow."""
    probabilities: NDArray[np.float64] = 0.5 * (1 + np.tanh(scores / 2))
    return probabilities
