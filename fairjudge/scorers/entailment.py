"""Entailment probabilities from any sequence classifier trained for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairjudge.errors import ConfigurationError, InputError
from fairjudge.scorers._pretrained import (
    BATCH_TOKENS,
    PretrainedModel,
    batches,
    encodable,
    load_pretrained,
    windows,
)

_F = TypeVar("_F", bound=np.floating[Any])
_WIDTH_STEP = 8
"""Matrix units of GPUs work on blocks of this many rows."""
_STEPS_PER_DOUBLING = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PairShape:
    """The special tokens that a tokenizer adds to a pair of texts, and its token types.

    ``types`` are the token types of prefix, first text, separator, second text and suffix; None if
    the model has no token types. ``fill`` is the padding token.
    """

    prefix: tuple[int, ...]
    separator: tuple[int, ...]
    suffix: tuple[int, ...]
    types: tuple[int, ...] | None
    fill: int

    @classmethod
    def from_tokenizer(cls, tokenizer: Any) -> Self:
        """Derive the shape from the encoding of a pair, or raise `ConfigurationError`."""
        encode = tokenizer.backend_tokenizer.encode
        first = encode("a", add_special_tokens=False).ids
        second = encode("b", add_special_tokens=False).ids
        encoding = encode("a", "b")
        ids, marks = list(encoding.ids), list(encoding.type_ids)
        start = _find(first, ids, 0)
        middle = _find(second, ids, start + len(first))
        end = middle + len(second)
        has_types = "token_type_ids" in tokenizer.model_input_names
        positions = (0, start, start + len(first), middle, end)
        last = len(ids) - 1
        return cls(
            prefix=tuple(ids[:start]),
            separator=tuple(ids[start + len(first) : middle]),
            suffix=tuple(ids[end:]),
            types=tuple(marks[min(position, last)] for position in positions)
            if has_types
            else None,
            fill=int(tokenizer.pad_token_id or 0),
        )

    @property
    def n_special(self) -> int:
        """The number of special tokens."""
        return len(self.prefix) + len(self.separator) + len(self.suffix)

    def inputs(
        self,
        pairs: Sequence[tuple[Sequence[int], Sequence[int]]],
        *,
        device: Any,
        width: int,
    ) -> dict[str, Any]:
        """Return the model's arguments for `pairs`, padded on the right to `width`, on `device`.

        Without padding no mask is passed: attention kernels without a mask are the fastest, and
        models check a mask first, which synchronises with the GPU.
        """
        lengths = np.array([len(a) + len(b) + self.n_special for a, b in pairs])
        on_gpu = device.type == "cuda"
        ids = np.full((len(pairs), width), self.fill, dtype=np.int64)
        marks = None if self.types is None else np.zeros((len(pairs), width), dtype=np.int64)
        for row, (first, second) in enumerate(pairs):
            parts = (self.prefix, first, self.separator, second, self.suffix)
            ids[row, : lengths[row]] = [token for part in parts for token in part]
            if marks is not None and self.types is not None:
                sizes = [len(part) for part in parts]
                marks[row, : lengths[row]] = np.repeat(self.types, sizes)
        arrays = {"input_ids": ids}
        if marks is not None:
            arrays["token_type_ids"] = marks
        if lengths.min() < width:
            arrays["attention_mask"] = (np.arange(width) < lengths[:, None]).astype(np.int64)
        return {name: _to_device(array, device, on_gpu=on_gpu) for name, array in arrays.items()}


def buckets(lengths: Sequence[int], *, budget: int, limit: int) -> Iterator[tuple[list[int], int]]:
    """Yield indices and their padded width, in groups of at most `budget` tokens with padding.

    The width, and whether there is padding, depend only on a row's length, so that the result of a
    row does not depend on other rows. Half precision makes the difference visible: in bfloat16 a
    row padded to the width of its batch changed by 0.014 in P(entail), with 12 layers of random
    weights on a CPU. The maximum width is `limit`, the model's window.
    """
    groups: dict[tuple[int, bool], list[int]] = {}
    for index, length in enumerate(lengths):
        width = min(limit, bucket_width(length))
        groups.setdefault((width, length == width), []).append(index)
    for (width, _), rows in sorted(groups.items(), reverse=True):
        size = max(1, budget // width)
        for start in range(0, len(rows), size):
            yield rows[start : start + size], width


def bucket_width(length: int) -> int:
    """Return the smallest of the widths 8, 16 ... 64, 80 ... 128, 160 ... >= `length`."""
    doublings = max(0, (length - 1).bit_length() - 6)
    step = _WIDTH_STEP if doublings == 0 else 64 * 2 ** (doublings - 1) // _STEPS_PER_DOUBLING
    return -(-length // step) * step


def _to_device(array: NDArray[np.int64], device: Any, *, on_gpu: bool) -> Any:
    import torch

    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if on_gpu else tensor


def _find(part: list[int], tokens: list[int], start: int) -> int:
    for position in range(start, len(tokens) - len(part) + 1):
        if part and tokens[position : position + len(part)] == part:
            return position
    raise ConfigurationError("this tokenizer does not separate the tokens of the texts of a pair")


_Window: TypeAlias = tuple[list[int], list[int]]
"""The tokens of a premise's window and of a hypothesis's piece, without special tokens."""

_METHOD = "entailment-v1"
_NAMES: Mapping[str, tuple[str, ...]] = {
    "entailment": ("entailment", "entail", "entails", "supports", "supported"),
    "neutral": ("neutral", "not enough info", "not_enough_info", "nei"),
    "contradiction": ("contradiction", "contradict", "contradicts", "refutes", "refuted"),
}
_NEGATIVE_NAMES = ("not_entailment", "not entailment", "non-entailment")
_OVERLAP = 32


def load_entailment(model: str) -> TransformersEntailment:
    """Load an entailment model by hub id or folder, such as ``"roberta-large-mnli"``.

    Raises the errors of `load_pretrained`, and `ConfigurationError` if the labels are unknown.
    """
    pretrained = load_pretrained(
        model, auto_class="AutoModelForSequenceClassification", method=_METHOD
    )
    return TransformersEntailment(pretrained)


class TransformersEntailment:
    """An `fairjudge.ports.EntailmentModel` over a transformers classifier.

    Each distinct pair is scored once. A premise longer than the model's window is split into
    overlapping windows, of which the one with the largest P(entail) is used. A hypothesis longer
    than half the window is also split, and its piece with the smallest P(entail) is used. Nothing
    is dropped. A pair's row does not depend on other pairs (up to rounding, below 1e-3).
    """

    def __init__(self, pretrained: PretrainedModel) -> None:
        self._pretrained = pretrained
        self._shape = PairShape.from_tokenizer(pretrained.tokenizer)
        self._columns = label_columns(pretrained.model.config.id2label)
        self.fingerprint = pretrained.fingerprint

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return shape (n, 3): P(entail), P(neutral), P(contradict) for (premise, hypothesis).

        Raises `InputError` for a hypothesis without a token.
        """
        distinct = {pair: index for index, pair in enumerate(dict.fromkeys(pairs))}
        rows = self._classify_distinct(list(distinct))
        result: NDArray[np.float32] = rows[[distinct[pair] for pair in pairs]]
        return result

    def _classify_distinct(self, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:
        if not pairs:
            return np.zeros((0, 3), dtype=np.float32)
        pieces = self._pieces(list(dict.fromkeys(hypothesis for _, hypothesis in pairs)))
        queries = [
            (encodable(premise), piece, index)
            for index, (premise, hypothesis) in enumerate(pairs)
            for piece in pieces[hypothesis]
        ]
        pair_windows, owners = self._windows([(premise, piece) for premise, piece, _ in queries])
        rows = self._score(pair_windows)
        # For each piece of a hypothesis, use the premise window with the largest P(entail) ...
        best_windows = first_rows(rows, owners, by=-rows[:, 0])
        # ... and for each hypothesis, the piece with the smallest.
        return first_rows(best_windows, [index for _, _, index in queries], by=best_windows[:, 0])

    def _pieces(self, hypotheses: list[str]) -> dict[str, list[str]]:
        """Split hypotheses that are longer than half of the window."""
        texts = [encodable(text) for text in hypotheses]
        spans = self._pretrained.tokenizer(
            texts, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )["offset_mapping"]
        limit = max(1, self._max_pair_tokens() // 2)
        pieces = {}
        for hypothesis, text, offsets in zip(hypotheses, texts, spans, strict=True):
            if not offsets:
                raise InputError(f"hypothesis {hypothesis!r} has no token in the vocabulary")
            pieces[hypothesis] = [
                text[offsets[start][0] : offsets[min(start + limit, len(offsets)) - 1][1]]
                for start in range(0, len(offsets), limit)
            ]
        return pieces

    def _max_pair_tokens(self) -> int:
        return self._pretrained.window - self._shape.n_special

    def _windows(self, pairs: list[tuple[str, str]]) -> tuple[list[_Window], list[int]]:
        """Return the windows of all pairs, and the index of each window's pair.

        Each text is tokenized once, even if it is in several pairs.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        token_ids = self._pretrained.tokenizer(
            texts, add_special_tokens=False, return_attention_mask=False, verbose=False
        )["input_ids"]
        tokens = dict(zip(texts, token_ids, strict=True))
        pair_windows: list[_Window] = []
        owners: list[int] = []
        max_tokens = self._max_pair_tokens()
        overlap = min(_OVERLAP, max_tokens // 8)
        for index, (premise, piece) in enumerate(pairs):
            second = tokens[piece]
            for first in windows(tokens[premise], max_tokens - len(second), overlap=overlap):
                pair_windows.append((first, second))
                owners.append(index)
        return pair_windows, owners

    def _score(self, rows: list[_Window]) -> NDArray[np.float32]:
        """Return shape (n, 3), as `classify`.

        Results are read back after the last batch is submitted, so that the next batch is prepared
        while the GPU computes.
        """
        import torch

        model, indices, logits = self._pretrained.model, [], []
        n_special = self._shape.n_special
        with torch.inference_mode():
            for batch, width in self._batches([len(a) + len(b) + n_special for a, b in rows]):
                inputs = self._shape.inputs(
                    [rows[i] for i in batch], device=model.device, width=width
                )
                logits.append(model(**inputs).logits)
                indices += batch
            probabilities = torch.cat(logits).float().softmax(dim=-1).cpu().numpy()
        results = np.empty((len(rows), 3), dtype=np.float32)
        results[indices] = self._reorder_columns(probabilities)
        return results

    def _batches(self, lengths: list[int]) -> Iterator[tuple[list[int], int]]:
        """Yield indices and a width, such that other rows change a row by less than 1e-3."""
        import torch

        if self._pretrained.model.dtype != torch.float32:
            yield from buckets(lengths, budget=BATCH_TOKENS, limit=self._pretrained.window)
            return
        for batch in batches(lengths):
            yield batch, lengths[batch[0]]

    def _reorder_columns(self, probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
        result = np.zeros((len(probabilities), 3), dtype=np.float32)
        for index, column in enumerate(self._columns):
            if column is not None:
                result[:, index] = probabilities[:, column]
        return result


def first_rows(rows: NDArray[_F], owners: Sequence[int], *, by: NDArray[_F]) -> NDArray[_F]:
    """Return each owner's first row in the order of `by`, owners ascending."""
    order = np.lexsort((by, np.asarray(owners)))
    _, starts = np.unique(np.asarray(owners)[order], return_index=True)
    first: NDArray[_F] = rows[order[starts]]
    return first


def label_columns(names: Mapping[int, str]) -> tuple[int, int, int | None]:
    """Return the columns of entailment, neutral and contradiction from the config's label names.

    The last is None for a model with two labels. Raises `ConfigurationError` for unknown labels.
    """
    by_name = {str(name).strip().casefold(): int(column) for column, name in names.items()}
    columns = {
        kind: next((by_name[name] for name in spellings if name in by_name), None)
        for kind, spellings in _NAMES.items()
    }
    entailment = columns["entailment"]
    neutral = next(
        (by_name[name] for name in _NEGATIVE_NAMES if name in by_name), columns["neutral"]
    )
    if entailment is None or neutral is None or len(names) > 3:
        raise ConfigurationError(
            f"cannot identify entailment in the model's labels {list(names.values())!r}"
        )
    return entailment, neutral, columns["contradiction"]
